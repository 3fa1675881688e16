import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { HistoryUnavailable, migrateHistory, NewerHistory, openHistoryDatabase } from '#history';

/** Timeout that allows for an index of one week of calls. */
const STATEMENT_TIMEOUT_MS = 60_000;
const AGAIN_MS = 2_000;

const OLDER = 'The tables of the history database are missing or of an earlier release';

/**
 * Upgrades the tables of the history while the gateway serves calls, which need no database. A failed try is logged and
 * repeated until one succeeds. Several processes may upgrade concurrently. Tables of a newer release have everything that this
 * one reads.
 */
export class HistoryUpgrade {
  private readonly closing = new AbortController();
  private running: Promise<void> | undefined;
  private failure: unknown;

  constructor(
    private readonly url: string,
    private readonly log: Logger,
  ) {
    this.begin();
  }

  /** Reason of a query's failure, if its tables caused it; undefined for any other failure of the database. */
  reasonFor(error: HistoryUnavailable): string | undefined {
    const { running, failure } = this;
    const isWaiting = running !== undefined && error.code !== undefined;
    if (!error.hasOlderTables && !isWaiting) return undefined;
    this.begin();
    if (failure === undefined) return `${OLDER}. This gateway brings them up to date now: ask again.`;
    return failure instanceof HistoryUnavailable && failure.isForbidden
      ? `${OLDER}. The user of DATABASE_URL may not change that: it needs CREATE on the database, and must own the tables.`
      : `${OLDER}. This gateway could not bring them up to date and tries again; its log says why.`;
  }

  /** Waits for the running statement. Idempotent. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private begin(): void {
    if (this.closing.signal.aborted) return;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    const onError = () => {}; // The statement that needs the connection rejects.
    const db = openHistoryDatabase({
      url: this.url,
      name: 'toolyard-gateway-upgrade',
      connections: 1,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      onError,
    });
    while (!signal.aborted) {
      this.failure = await migrateHistory(db).catch((error: unknown) => this.failed(error));
      if (this.failure === undefined) break;
      await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    await db.destroy();
  }

  /** Undefined for an error that is no failure. Logs each reason once, not with each try. */
  private failed(error: unknown): unknown {
    if (error instanceof NewerHistory) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    const known = this.failure instanceof Error && this.failure.message === reason;
    if (!known)
      this.log.warn({ reason }, 'the tables of the history database could not be brought up to date; it is tried again: lists may fail');
    return error;
  }
}
