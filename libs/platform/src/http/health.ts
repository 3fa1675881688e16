import { ProblemError } from '#contracts';
import { mayScrape, type Metrics } from '#observability';

/** What health and metrics of a process are answered from. */
export interface HealthSources<Facts extends object> {
  /** Why it is not ready; undefined when it is. */
  readonly notReadyReason: () => Promise<string | undefined>;
  /** What `/readyz` says besides. */
  readonly facts: () => Facts;
  readonly metrics: Pick<Metrics, 'contentType' | 'scrape'>;
  /** Not set: the metrics need no key. */
  readonly metricsKey?: string | undefined;
}

/** The answers of `/livez`, `/readyz` and `/metrics`, for probes and scrapers: nothing here says anything about a tenant. */
export class Health<Facts extends object> {
  constructor(private readonly sources: HealthSources<Facts>) {}

  /** Checks nothing: an answer shows that the event loop runs, and an outage of Redis must not get processes killed. */
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** @throws ProblemError `overloaded` with the reason while it is not ready */
  async ready(): Promise<{ status: 'ok' } & Facts> {
    const reason = await this.sources.notReadyReason();
    if (reason !== undefined) throw new ProblemError('overloaded', reason, { retryAfterMs: 1000 });
    return { status: 'ok', ...this.sources.facts() };
  }

  /** @throws ProblemError `unauthenticated` without the METRICS_KEY, if one is set */
  async scrape(authorization: string | undefined): Promise<{ readonly type: string; readonly text: string }> {
    const { metrics, metricsKey } = this.sources;
    if (!mayScrape(metricsKey, authorization))
      throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <METRICS_KEY>');
    return { type: metrics.contentType, text: await metrics.scrape() };
  }
}
