import type { CallSummary } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { callSubjects } from '../../terminal/call-subjects.js';
import { oneLine } from '../../terminal/safe-text.js';
import { shownIds } from '../../terminal/shown-ids.js';
import { listing, table } from '../../terminal/table.js';
import { ago, clock, duration } from '../../terminal/time-text.js';
import { filterOf } from '../call-filter.js';
import { aboutOf, paintLine, stateOf } from './call-lines.js';

export interface SessionFlags {
  readonly limit: number;
  readonly since?: string;
}

/** Sessions that had calls; with a name its calls as a tree, oldest first. */
export async function session(context: CommandContext, name: string | undefined, flags: SessionFlags): Promise<number> {
  return name === undefined ? listSessions(context, flags) : showSession(context, name, flags);
}

async function listSessions({ client, terminal, json }: CommandContext, { limit, since }: SessionFlags): Promise<number> {
  const from = Date.parse(filterOf({ since }, Date.now()).since ?? '') || 0;
  const rows: string[][] = [];
  let seen = 0;
  for (let cursor: string | undefined, first = true; (first || cursor !== undefined) && seen < limit; first = false) {
    const page = await client.sessions.list({ limit: Math.min(200, limit), cursor });
    cursor = page.nextCursor;
    for (const one of page.sessions.slice(0, limit - seen)) {
      // The latest active come first.
      if (Date.parse(one.lastAt) < from) return print(rows, terminal, json);
      seen += 1;
      if (json) terminal.json(one);
      const { sessionId, agentId = '', calls, running, failed, lastAt } = one;
      const open = running === 0 ? '' : `${running} open`;
      rows.push([
        sessionId,
        agentId,
        `${calls} ${calls === 1 ? 'call' : 'calls'}`,
        open,
        failed === 0 ? '' : `${failed} failed`,
        ago(Date.now() - Date.parse(lastAt)),
      ]);
    }
  }
  return print(rows, terminal, json);
}

function print(rows: readonly string[][], terminal: CommandContext['terminal'], json: boolean): number {
  if (json) return 0;
  if (rows.length === 0) terminal.note('No sessions match.');
  for (const line of table(rows, terminal.width)) terminal.line(line);
  return 0;
}

async function showSession(context: CommandContext, name: string, { limit, since }: SessionFlags): Promise<number> {
  const { client, terminal, json } = context;
  const found: CallSummary[] = [];
  for await (const call of client.calls.all({ ...filterOf({ session: name, since }, Date.now()), limit: Math.min(200, limit) })) {
    found.push(call);
    if (found.length >= limit) break;
  }
  const ordered = asTree(found.toReversed());
  if (json) {
    for (const { call } of ordered) terminal.json(call);
    return 0;
  }
  const { posture } = await client.sessions.get(name);
  terminal.note(`${name}: ${posture.autonomy}, ${posture.permissionMode}`, 'dim');
  if (found.length === 0) terminal.note('No calls match.');
  if (found.length === limit) terminal.note(`Only the latest ${limit}: --limit shows more.`, 'dim');
  const subjects = await callSubjects(context);
  const rows = ordered.map(({ call, depth }) => [
    shownIds(terminal)(call.id),
    stateOf(call),
    clock(call.submittedAt),
    call.runMs === undefined ? '' : duration(call.runMs),
    `${depth === 0 ? '' : `${'  '.repeat(depth - 1)}└ `}${call.tool}`,
    oneLine(aboutOf(call, subjects), terminal.width),
  ]);
  for (const line of listing(rows, terminal.width)) terminal.line(paintLine(line, terminal));
  return 0;
}

interface TreeCall {
  readonly call: CallSummary;
  readonly depth: number;
}

/** Each call before the calls that it made. A call whose parent is not listed is on top. */
export function asTree(calls: readonly CallSummary[]): TreeCall[] {
  const ids = new Set(calls.map(({ id }) => id));
  const children = new Map<string, CallSummary[]>();
  for (const call of calls) {
    const parent = call.parentCallId;
    if (parent !== undefined && ids.has(parent)) children.set(parent, [...(children.get(parent) ?? []), call]);
  }
  const below = (call: CallSummary, depth: number): TreeCall[] => [
    { call, depth },
    ...(children.get(call.id) ?? []).flatMap((child) => below(child, depth + 1)),
  ];
  return calls.filter(({ parentCallId }) => parentCallId === undefined || !ids.has(parentCallId)).flatMap((call) => below(call, 0));
}
