import type {
  CallCount,
  CallFilter,
  CallPage,
  FailurePage,
  ListCallsQuery,
  ListSessionsQuery,
  PeriodQuery,
  SessionPage,
  Stats,
  StatsQuery,
  ToolStatsPage,
} from '#contracts';
import type { LogSource } from '#history';
import { CallIndex, Numbers, SessionList } from '#projection';
import type { RedisConnection } from '#redis';

/** Questions over many calls of a tenant: from the history database where there is one, else from the projection in Redis. */
export interface CallQueries {
  page(tenantId: string, query: ListCallsQuery): Promise<CallPage>;
  count(tenantId: string, filter: CallFilter): Promise<CallCount>;
  sessions(tenantId: string, query: ListSessionsQuery): Promise<SessionPage>;
  stats(tenantId: string, query: StatsQuery): Promise<Stats>;
  tools(tenantId: string, query: PeriodQuery): Promise<ToolStatsPage>;
  failures(tenantId: string, query: PeriodQuery): Promise<FailurePage>;
  close(): Promise<void>;
}

export function redisQueries(redis: RedisConnection, log: LogSource, partitions: number): CallQueries {
  const calls = new CallIndex(redis, log, partitions);
  const sessions = new SessionList(redis, log, partitions);
  const numbers = new Numbers(redis, log, partitions);
  return {
    page: (tenantId, query) => calls.page(tenantId, query),
    count: (tenantId, filter) => calls.count(tenantId, filter),
    sessions: (tenantId, query) => sessions.page(tenantId, query),
    stats: (tenantId, query) => numbers.stats(tenantId, query),
    tools: (tenantId, query) => numbers.tools(tenantId, query),
    failures: (tenantId, query) => numbers.failures(tenantId, query),
    close: () => Promise.resolve(),
  };
}
