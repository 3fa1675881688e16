import { POOLS, STATS, type CallStatus, type LiveCounts, type Pool, type Stats } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';

const NONE: LiveCounts = { running: 0, queued: 0, suspended: 0, waitingApproval: 0, waitingInput: 0 };

/** Open calls of a tenant: all, and by tool, agent and pool. */
export async function liveCounts(db: HistoryDatabase, tenantId: string): Promise<Stats['now']> {
  const rows = await db
    .selectFrom('calls')
    .select(({ fn }) => ['tool', 'agent_id', 'pool', 'status', 'suspended', fn.countAll<number>().as('calls')])
    .where('tenant_id', '=', tenantId)
    .where('status', '<>', 'ended')
    .groupBy(['tool', 'agent_id', 'pool', 'status', 'suspended'])
    .execute();
  const groups = rows.map(({ tool, agent_id: agent, pool, status, suspended, calls }) => ({
    tool,
    agent,
    pool,
    counts: countsOf(status, suspended, calls),
  }));
  return {
    ...groups.reduce((sum, { counts }) => plus(sum, counts), NONE),
    byTool: largest(groups.map(({ tool, counts }) => [tool, counts])),
    byAgent: largest(groups.flatMap(({ agent, counts }) => (agent === null ? [] : [[agent, counts] as const]))),
    byPool: POOLS.map((name: Pool) => ({
      name,
      ...groups.filter(({ pool }) => pool === name).reduce((sum, { counts }) => plus(sum, counts), NONE),
    })),
  };
}

function countsOf(status: CallStatus, suspended: boolean, calls: number): LiveCounts {
  switch (status) {
    case 'running':
      return { ...NONE, running: calls };
    case 'queued':
      return suspended ? { ...NONE, suspended: calls } : { ...NONE, queued: calls };
    case 'waiting_approval':
      return { ...NONE, waitingApproval: calls };
    case 'waiting_input':
      return { ...NONE, waitingInput: calls };
    case 'ended':
      return NONE;
    default:
      return status satisfies never;
  }
}

/** Largest groups by name; the rest together. */
function largest(counted: readonly (readonly [name: string, counts: LiveCounts])[]): Stats['now']['byTool'] {
  const sums = new Map<string, LiveCounts>();
  for (const [name, counts] of counted) sums.set(name, plus(sums.get(name) ?? NONE, counts));
  const size = (counts: LiveCounts) => counts.running + counts.queued + counts.suspended + counts.waitingApproval + counts.waitingInput;
  const sorted = [...sums].map(([name, counts]) => ({ name, ...counts })).sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
  const rest = sorted.slice(STATS.top);
  return { top: sorted.slice(0, STATS.top), ...(rest.length === 0 ? {} : { other: rest.reduce<LiveCounts>(plus, NONE) }) };
}

function plus(a: LiveCounts, b: LiveCounts): LiveCounts {
  return {
    running: a.running + b.running,
    queued: a.queued + b.queued,
    suspended: a.suspended + b.suspended,
    waitingApproval: a.waitingApproval + b.waitingApproval,
    waitingInput: a.waitingInput + b.waitingInput,
  };
}
