import { CallId, shortCallId } from '#contracts';
import { ToolyardError, type ToolyardClient } from '#client';
import type { CommandContext } from './command-context.js';
import { callSubjects } from './terminal/call-subjects.js';
import { table } from './terminal/table.js';
import { UsageError } from './usage-error.js';

const PART = /^[0-9A-HJKMNP-TV-Z]{4,26}$/;
const MOST = 20;

/** Fields that identify a call in a list. */
interface Named {
  readonly id: string;
  readonly tool: string;
  readonly preview: string;
}

/**
 * Id of the call that a person names by the whole id, by its end (`8N0P1VXK`) or by the beginning of that end (`8N0P`).
 *
 * @throws UsageError for an impossible id, for an unknown one, and for several calls, which it lists
 */
export async function callIdOf(context: Pick<CommandContext, 'client' | 'terminal'>, text: string): Promise<string> {
  if (CallId.safeParse(text).success) return text;
  const part = text.toUpperCase();
  if (!PART.test(part))
    throw new UsageError(
      `Expected a call id such as 07-01JZ8C5W3Q4X9R7T2M6K8N0P1V, or at least 4 of its last 8 characters, got ${JSON.stringify(text)}`,
    );
  const found = (await candidates(context.client, part)).filter(({ id }) => isNamed(id, part));
  const [only] = found;
  if (only === undefined) throw new UsageError(`No call has an id that ends in ${text}; \`toolyard calls\` lists them`);
  if (found.length === 1) return only.id;
  const subjects = await callSubjects(context);
  const rows = found.slice(0, MOST).map((call) => [call.id, call.tool, subjects.line(call.tool, call.preview)]);
  const more = found.length > MOST ? ['  …'] : [];
  const lines = [...table(rows, context.terminal.errorWidth - 2).map((line) => `  ${line}`), ...more];
  throw new UsageError(`${text} names several calls. Give more characters:\n${lines.join('\n')}`);
}

/** The ids of several calls, in order. */
export function callIdsOf(context: CommandContext, texts: readonly string[]): Promise<string[]> {
  return Promise.all(texts.map((text) => callIdOf(context, text)));
}

/** True if the id ends with `part`, or its last 8 characters begin with it. */
export function isNamed(id: string, part: string): boolean {
  return shortCallId(id).startsWith(part) || id.endsWith(part);
}

/**
 * Candidates: calls with these last characters in the index, the newest calls, and waiting ones, which a gateway without a
 * database lists too.
 */
async function candidates(client: ToolyardClient, part: string): Promise<Named[]> {
  const listed = await Promise.all([client.calls.list({ q: part.slice(-8), limit: 200 }), client.calls.list({ limit: 200 })]).catch(
    (error: unknown) => {
      if (error instanceof ToolyardError && error.code === 'unavailable') return [];
      throw error;
    },
  );
  const waiting = listed.length > 0 ? [] : (await client.approvals.list({ limit: 200 })).calls;
  const all: Named[] = [
    ...listed.flatMap(({ calls }) => calls),
    ...waiting.map(({ id, tool, arguments: args }) => ({ id, tool, preview: JSON.stringify(args) })),
  ];
  return [...new Map(all.map((call) => [call.id, call])).values()];
}
