import type { ApprovalSort, Call } from '#contracts';
import { decideAtTerminal } from '../../approvals/decide-at-terminal.js';
import { questionLines } from '../../approvals/question.js';
import type { CommandContext } from '../../command-context.js';
import { EXIT } from '../../exit-code.js';
import { hasPerson } from '../../terminal/ask.js';
import { callSubjects } from '../../terminal/call-subjects.js';
import { oneLine } from '../../terminal/safe-text.js';

export interface ApprovalsFlags {
  readonly session?: string;
  readonly risk?: string;
  /** Sent only on request, since gateways of earlier releases refuse it. */
  readonly sort?: ApprovalSort;
  readonly limit: number;
  /** Only prints them. */
  readonly list?: boolean;
}

/** Calls that wait for a person: asks about each on a terminal, and lists them in a pipe. */
export async function approvals(context: CommandContext, { limit, list, ...which }: ApprovalsFlags): Promise<number> {
  const { terminal, json } = context;
  const asks = !json && list !== true && terminal.isRead && hasPerson();
  const subjects = await callSubjects(context);
  let seen = 0;
  for await (const call of waiting(context, which)) {
    if (seen === limit) break;
    seen += 1;
    if (json) terminal.json(call);
    else {
      if (seen > 1) terminal.line();
      for (const line of questionLines(call, subjects, context)) terminal.line(line);
      if (!asks) for (const line of trustLines(call)) terminal.line(terminal.colour('dim', line));
    }
    if (asks && (await decideAtTerminal(context, call, subjects, { style: 'list' })) === 'quit') break;
  }
  if (seen === 0 && !json) terminal.note('No calls wait for a person.');
  return context.interrupts.happened ? EXIT.interrupted : EXIT.completed;
}

async function* waiting(
  { client }: CommandContext,
  { session, risk, sort }: Pick<ApprovalsFlags, 'session' | 'risk' | 'sort'>,
): AsyncGenerator<Call, void, undefined> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const query = { ...(sort && { sort }), ...(risk !== undefined && { risk }), ...(cursor !== undefined && { cursor }) };
    const page = await client.approvals.list(query);
    cursor = page.nextCursor;
    yield* page.calls.filter(({ sessionId }) => session === undefined || sessionId === session);
  }
}

/** Lines with the ids for `approve --always args --trust`, and the scope of each trust. */
function trustLines({ approval }: Call): string[] {
  return (approval?.trustOptions ?? []).map(
    ({ id, label, display }) => `    --always args --trust ${oneLine(id, 40)}: ${oneLine(`${label} ${display}`, 200)}`,
  );
}
