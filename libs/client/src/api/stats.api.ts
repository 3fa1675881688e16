import { FailurePage, Stats, ToolStatsPage, type PeriodQuery, type StatsQuery } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Numbers over many calls. */
export class StatsApi {
  constructor(private readonly http: HttpTransport) {}

  /** Over time, and what runs and waits now. */
  overview(query: StatsQuery = {}, options: RequestOptions = {}): Promise<Stats> {
    return this.http.json({ method: 'GET', path: '/v1/stats', query, repeatable: true, ...options }, Stats);
  }

  tools(query: PeriodQuery = {}, options: RequestOptions = {}): Promise<ToolStatsPage> {
    return this.http.json({ method: 'GET', path: '/v1/stats/tools', query, repeatable: true, ...options }, ToolStatsPage);
  }

  /** Failures, those that look alike together. */
  failures(query: PeriodQuery = {}, options: RequestOptions = {}): Promise<FailurePage> {
    return this.http.json({ method: 'GET', path: '/v1/failures', query, repeatable: true, ...options }, FailurePage);
  }
}
