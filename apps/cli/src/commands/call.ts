import { readFileSync } from 'node:fs';
import { ToolyardError, type Submission } from '#client';
import { coerceArguments, readArguments, type CallArguments } from '../call-arguments.js';
import type { CommandContext } from '../command-context.js';
import { followCall } from '../follow-call.js';
import { parseDuration } from '../terminal/time-text.js';
import { UsageError } from '../usage-error.js';

export interface SubmitFlags {
  readonly session?: string;
  readonly agent?: string;
  readonly priority?: 'high' | 'normal' | 'low';
  readonly timeout?: string;
  readonly label?: readonly string[];
  readonly toolCallId?: string;
}

export interface CallFlags extends SubmitFlags {
  readonly idempotencyKey?: string;
  /** `--no-wait` */
  readonly wait: boolean;
}

/** Submits a call, shows it until its end, and exits with its outcome. */
export async function call(context: CommandContext, tool: string, words: readonly string[], flags: CallFlags): Promise<number> {
  const submission = await submissionOf(context, tool, words, flags);
  const { id } = await context.client.calls.submit(submission, { idempotencyKey: flags.idempotencyKey });
  return submitted(context, id, flags.wait);
}

/** Runs an ended call again, with other arguments if given. */
export async function replay(
  context: CommandContext,
  callId: string,
  words: readonly string[],
  flags: { readonly wait: boolean },
): Promise<number> {
  const written = words.length === 0 ? undefined : readArguments(words, readStdin);
  const fitted = written && (await coerced(context, (await context.client.calls.get(callId)).tool, written));
  const { id } = await context.client.calls.replay(callId, fitted === undefined ? {} : { arguments: fitted });
  return submitted(context, id, flags.wait);
}

/** The submission that the command line describes. */
export async function submissionOf(
  context: CommandContext,
  tool: string,
  words: readonly string[],
  flags: SubmitFlags,
): Promise<Submission> {
  const { session, agent, priority, timeout, label = [], toolCallId } = flags;
  return {
    tool,
    arguments: await coerced(context, tool, readArguments(words, readStdin)),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(priority === undefined ? {} : { priority }),
    ...(timeout === undefined ? {} : { timeouts: { runMs: parseDuration(timeout) } }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    labels: Object.fromEntries(label.map(labelOf)),
  };
}

async function submitted(context: CommandContext, callId: string, wait: boolean): Promise<number> {
  if (wait) return followCall(context, callId);
  if (context.json) context.terminal.json(await context.client.calls.get(callId));
  else context.terminal.line(callId);
  return 0;
}

/** Reads the schema only if a value is `loose`. A key without the scope `read` sends texts. */
async function coerced({ client }: CommandContext, tool: string, written: ReturnType<typeof readArguments>): Promise<CallArguments> {
  if (written.loose.length === 0) return written.values;
  const tools = await client.tools.list({ q: tool.slice(0, 256) }).catch((error: unknown) => {
    if (error instanceof ToolyardError && error.code === 'forbidden') return [];
    throw error;
  });
  return coerceArguments(
    written,
    tools.find(({ name, aliases }) => name === tool || aliases.includes(tool)),
  );
}

function readStdin(): string {
  return readFileSync(0, 'utf8');
}

function labelOf(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`--label: expected name=value, got ${JSON.stringify(text)}`);
  return [name, value];
}
