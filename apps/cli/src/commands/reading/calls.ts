import type { CallSort, CallSummary } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { callSubjects } from '../../terminal/call-subjects.js';
import { oneLine } from '../../terminal/safe-text.js';
import { shownIds } from '../../terminal/shown-ids.js';
import { listing } from '../../terminal/table.js';
import { ago, duration } from '../../terminal/time-text.js';
import { filterOf, type FilterFlags } from '../call-filter.js';
import { aboutOf, paintLine, stateOf } from './call-lines.js';

export interface CallsFlags extends FilterFlags {
  /** Sent only on request, since gateways of earlier releases refuse it. */
  readonly sort?: CallSort;
  readonly limit: number;
}

/** Calls, newest first or by risk. */
export async function calls(context: CommandContext, flags: CallsFlags): Promise<number> {
  const { client, terminal, json } = context;
  const found: CallSummary[] = [];
  for await (const call of client.calls.all({ ...filterOf(flags, Date.now()), sort: flags.sort, limit: Math.min(200, flags.limit) })) {
    found.push(call);
    if (found.length >= flags.limit) break;
  }
  if (json) {
    for (const call of found) terminal.json(call);
    return 0;
  }
  if (found.length === 0) terminal.note('No calls match.');
  const subjects = await callSubjects(context);
  const rows = found.map((call) => [
    shownIds(terminal)(call.id),
    stateOf(call),
    call.tool,
    ...(flags.session === undefined && terminal.width >= WHO_WIDTH ? [whoOf(call, terminal)] : []),
    call.runMs === undefined ? '' : duration(call.runMs),
    ago(Date.now() - Date.parse(call.submittedAt)),
    aboutOf(call, subjects),
  ]);
  for (const line of listing(rows, terminal.width)) terminal.line(paintLine(line, terminal));
  return 0;
}

/** Narrower terminals have no room for it: the subject of the call has priority. */
const WHO_WIDTH = 100;
const WHO_CHARS = 16;

/** Session and agent, as far as there is room for them. */
function whoOf({ sessionId = '', agentId = '' }: CallSummary, terminal: CommandContext['terminal']): string {
  const both = [agentId, sessionId].filter((name) => name !== '').join('/');
  return oneLine(both, terminal.width < 120 ? WHO_CHARS : 2 * WHO_CHARS);
}
