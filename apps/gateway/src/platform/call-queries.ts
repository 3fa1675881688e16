import {
  ProblemError,
  type ActPage,
  type CallCount,
  type CallFacets,
  type CallFilter,
  type CallPage,
  type FailurePage,
  type ListActsQuery,
  type ListCallsQuery,
  type ListSessionsQuery,
  type PeriodQuery,
  type SessionPage,
  type Stats,
  type StatsQuery,
  type ToolStatsPage,
  type UsagePage,
  type UsageQuery,
} from '#contracts';

/** Queries over many calls of a tenant, answered from the history database. `disconnect`: aborts when the client disconnects. */
export interface CallQueries {
  page(tenantId: string, query: ListCallsQuery, disconnect?: AbortSignal): Promise<CallPage>;
  count(tenantId: string, filter: CallFilter, disconnect?: AbortSignal): Promise<CallCount>;
  facets(tenantId: string, filter: CallFilter, disconnect?: AbortSignal): Promise<CallFacets>;
  sessions(tenantId: string, query: ListSessionsQuery, disconnect?: AbortSignal): Promise<SessionPage>;
  stats(tenantId: string, query: StatsQuery, disconnect?: AbortSignal): Promise<Stats>;
  tools(tenantId: string, query: PeriodQuery, disconnect?: AbortSignal): Promise<ToolStatsPage>;
  failures(tenantId: string, query: PeriodQuery, disconnect?: AbortSignal): Promise<FailurePage>;
  usage(tenantId: string, query: UsageQuery, disconnect?: AbortSignal): Promise<UsagePage>;
  acts(tenantId: string, query: ListActsQuery, disconnect?: AbortSignal): Promise<ActPage>;
}

const NO_DATABASE =
  'This gateway has no history database: set DATABASE_URL for gateways and start a projector (npm run projector), see deploy/README.md. Calls, single calls and approvals work without it.';

/** Queries without a database: each is answered 503 `history_unavailable`. */
export function noQueries(): CallQueries {
  const refuse = () => Promise.reject(new ProblemError('history_unavailable', NO_DATABASE));
  return {
    page: refuse,
    count: refuse,
    facets: refuse,
    sessions: refuse,
    stats: refuse,
    tools: refuse,
    failures: refuse,
    usage: refuse,
    acts: refuse,
  };
}
