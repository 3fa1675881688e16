import type { CallRow } from '../calls/call-row.js';
import { groupBy } from '../components/group-by.js';

/** An agent at work in a session: its open calls, else its last one. */
export interface AgentWork {
  readonly key: string;
  readonly agentId: string | undefined;
  readonly sessionId: string | undefined;
  /** Schedule of these calls, if they have neither agent nor session. */
  readonly scheduleId: string | undefined;
  /** Calls that have not ended: those that a person must decide first, oldest first, then running ones, then the others, newest first. */
  readonly open: readonly CallRow[];
  readonly last: CallRow;
}

/** How long an agent without an open call is shown. */
export const IDLE_MS = 10 * 60_000;

const ORDER = { waiting_approval: 0, waiting_input: 1, running: 2, queued: 3, ended: 4 } as const;

/**
 * Entries for each agent and session, and for each schedule without them. Order: oldest waiting decision, then busy ones, then the
 * latest. `rows` are newest first.
 */
export function workOf(rows: readonly CallRow[], now: number): AgentWork[] {
  const groups = groupBy(rows, (row) => JSON.stringify([row.agentId, row.sessionId, scheduleOf(row)]));
  return [...groups]
    .flatMap(([key, calls]): AgentWork[] => {
      const [last] = calls;
      if (last === undefined) return [];
      const open = calls.filter(({ status }) => status !== 'ended').sort(byUrgency);
      if (open.length === 0 && now - (last.endedAt ?? last.submittedAt) > IDLE_MS) return [];
      return [{ key, agentId: last.agentId, sessionId: last.sessionId, scheduleId: scheduleOf(last), open, last }];
    })
    .sort((a, b) => rank(a) - rank(b) || oldestQuestion(a) - oldestQuestion(b) || b.last.submittedAt - a.last.submittedAt);
}

function scheduleOf({ agentId, sessionId, scheduleId }: CallRow): string | undefined {
  return agentId === undefined && sessionId === undefined ? scheduleId : undefined;
}

/** Questions keep their places while others come: the oldest first. */
function byUrgency(a: CallRow, b: CallRow): number {
  return ORDER[a.status] - ORDER[b.status] || (isAsked(a) ? a.submittedAt - b.submittedAt || (a.id < b.id ? -1 : 1) : 0);
}

function oldestQuestion({ open: [first] }: AgentWork): number {
  return first !== undefined && isAsked(first) ? first.submittedAt : 0;
}

function isAsked({ status }: CallRow): boolean {
  return status === 'waiting_approval';
}

function rank({ open: [first] }: AgentWork): number {
  return first === undefined ? ORDER.ended : ORDER[first.status];
}
