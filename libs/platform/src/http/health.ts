import { ProblemError } from '#contracts';
import { mayScrape, type Metrics } from '#observability';

/** Sources of health and metrics of a process. */
export interface HealthSources<Facts extends object> {
  /** Reason why the process is not ready; undefined if it is. */
  readonly notReadyReason: () => Promise<string | undefined>;
  /** Extra fields of the `/readyz` body. */
  readonly facts: () => Facts;
  readonly metrics: Pick<Metrics, 'contentType' | 'scrape'>;
  /** Key for the metrics; undefined: none required. */
  readonly metricsKey?: string | undefined;
}

/** Answers of `/livez`, `/readyz` and `/metrics`, for probes and scrapers, without data of tenants. */
export class Health<Facts extends object> {
  constructor(private readonly sources: HealthSources<Facts>) {}

  /** Answers without checks, which shows that the event loop runs: an outage of Redis must not get processes killed. */
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** @throws ProblemError `overloaded` with the reason while the process is not ready */
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
