import { ROUTES, type FailurePage, type QueryInputOf, type Stats, type ToolStatsPage, type UsagePage } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Numbers over many calls. */
export class StatsApi {
  constructor(private readonly http: HttpTransport) {}

  /** Numbers over time, and of running and waiting calls. */
  overview(query: QueryInputOf<typeof ROUTES.getStats> = {}, options: RequestOptions = {}): Promise<Stats> {
    return this.http.request(ROUTES.getStats, { query, ...options });
  }

  tools(query: QueryInputOf<typeof ROUTES.getToolStats> = {}, options: RequestOptions = {}): Promise<ToolStatsPage> {
    return this.http.request(ROUTES.getToolStats, { query, ...options });
  }

  /** Usage of agents, by hour or day. */
  usage(query: QueryInputOf<typeof ROUTES.getUsage> = {}, options: RequestOptions = {}): Promise<UsagePage> {
    return this.http.request(ROUTES.getUsage, { query, ...options });
  }

  /** Failures, grouped by similarity. */
  failures(query: QueryInputOf<typeof ROUTES.listFailures> = {}, options: RequestOptions = {}): Promise<FailurePage> {
    return this.http.request(ROUTES.listFailures, { query, ...options });
  }
}
