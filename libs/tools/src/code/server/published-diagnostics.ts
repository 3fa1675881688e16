import { setTimeout as sleep } from 'node:timers/promises';

/** Of files of which the last report is kept. */
const MOST_FILES = 500;

interface Report {
  readonly version: number | undefined;
  readonly items: unknown;
}

/** What a server reports by itself about files. It reports when it likes: what is wanted has to be waited for. */
export class PublishedDiagnostics {
  private readonly reports = new Map<string, Report>();
  private readonly listeners = new Set<(uri: string) => void>();

  /** A server that reports in several steps (syntax first, then types) is quiet for so long when it is done. */
  constructor(private readonly quietMs: number) {}

  /** Called with the parameters of the notification as they came. */
  accept(params: unknown): void {
    if (typeof params !== 'object' || params === null || !('uri' in params) || typeof params.uri !== 'string') return;
    const version = 'version' in params && typeof params.version === 'number' ? params.version : undefined;
    this.reports.delete(params.uri);
    this.reports.set(params.uri, { version, items: 'diagnostics' in params ? params.diagnostics : [] });
    const [oldest] = this.reports.keys();
    if (oldest !== undefined && this.reports.size > MOST_FILES) this.reports.delete(oldest);
    for (const listener of this.listeners) listener(params.uri);
  }

  /** From now on only a report that comes after this counts. */
  forget(uri: string): void {
    this.reports.delete(uri);
  }

  /**
   * The report about this version, when the server is done with it; undefined when there is none within the time.
   * @throws the reason of the signal
   */
  async settled(uri: string, version: number, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<unknown> {
    const limit = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const isThere = this.current(uri, version) !== undefined;
      const changed = await this.next(uri, isThere ? this.quietMs : timeoutMs, AbortSignal.any([signal, limit]));
      signal.throwIfAborted();
      if (!changed && (isThere || limit.aborted)) return this.current(uri, version)?.items;
    }
  }

  private current(uri: string, version: number): Report | undefined {
    const report = this.reports.get(uri);
    return report?.version === undefined || report.version === version ? report : undefined;
  }

  /** Whether the server reported about the file within the time. */
  private async next(uri: string, withinMs: number, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    let changed = false;
    const listener = (about: string): void => {
      changed ||= about === uri;
      if (changed) over.abort();
    };
    this.listeners.add(listener);
    await sleep(withinMs, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => undefined);
    this.listeners.delete(listener);
    return changed;
  }
}
