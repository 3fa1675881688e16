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

/** Queries over many calls of a tenant, answered from the history database. `gone`: disconnect signal of the client. */
export interface CallQueries {
  page(tenantId: string, query: ListCallsQuery, gone?: AbortSignal): Promise<CallPage>;
  count(tenantId: string, filter: CallFilter, gone?: AbortSignal): Promise<CallCount>;
  facets(tenantId: string, filter: CallFilter, gone?: AbortSignal): Promise<CallFacets>;
  sessions(tenantId: string, query: ListSessionsQuery, gone?: AbortSignal): Promise<SessionPage>;
  stats(tenantId: string, query: StatsQuery, gone?: AbortSignal): Promise<Stats>;
  tools(tenantId: string, query: PeriodQuery, gone?: AbortSignal): Promise<ToolStatsPage>;
  failures(tenantId: string, query: PeriodQuery, gone?: AbortSignal): Promise<FailurePage>;
  usage(tenantId: string, query: UsageQuery, gone?: AbortSignal): Promise<UsagePage>;
  acts(tenantId: string, query: ListActsQuery, gone?: AbortSignal): Promise<ActPage>;
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
