import { setTimeout as sleep } from 'node:timers/promises';

/** Most files with a stored report. */
const MOST_FILES = 500;
/** Most faults of a report. */
const MOST_FAULTS = 200;
/** Most characters of all reports, as JSON. */
const MOST_CHARS = 4 * 1_048_576;

/** Factor of the pause after an empty first report, which may cover the syntax only. */
const EMPTY_FACTOR = 5;

/**
 * Diagnostics published by a server: at any time, in several steps (syntax first, then types), and not at all for unchanged
 * files. A pause marks the end of its work.
 */
export class PublishedDiagnostics {
  private readonly reports = new Map<string, { readonly diagnostics: readonly unknown[]; readonly chars: number }>();
  private chars = 0;
  private readonly listeners = new Set<(uri: string) => void>();

  /** `quietMs` is the pause after a report with faults. */
  constructor(private readonly quietMs: number) {}

  /** Called with the parameters of the notification as they came. */
  accept(params: unknown): void {
    if (typeof params !== 'object' || params === null || !('uri' in params) || typeof params.uri !== 'string') return;
    const all = 'diagnostics' in params && Array.isArray(params.diagnostics) ? params.diagnostics : [];
    const diagnostics = all.slice(0, MOST_FAULTS);
    const chars = params.uri.length + JSON.stringify(diagnostics).length;
    this.forget(params.uri);
    this.reports.set(params.uri, { diagnostics, chars });
    this.chars += chars;
    for (const oldest of this.reports.keys()) {
      if (this.reports.size <= MOST_FILES && this.chars <= MOST_CHARS) break;
      this.forget(oldest);
    }
    for (const listener of this.listeners) listener(params.uri);
  }

  /**
   * The last report about the file, when the server is done with it; undefined when there is none within the time.
   * @throws the reason of the signal
   */
  async settled(uri: string, { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<unknown> {
    const limit = AbortSignal.timeout(timeoutMs);
    for (let isNew = false; ; isNew = true) {
      const known = this.reports.get(uri)?.diagnostics;
      const hasFaults = isNew && known !== undefined && known.length > 0;
      const pauseMs = this.quietMs * (hasFaults ? 1 : EMPTY_FACTOR);
      const changed = await this.next(uri, known === undefined ? timeoutMs : pauseMs, AbortSignal.any([signal, limit]));
      signal.throwIfAborted();
      if (!changed) return known;
    }
  }

  /** Removes the report of a file whose text has changed. */
  forget(uri: string): void {
    this.chars -= this.reports.get(uri)?.chars ?? 0;
    this.reports.delete(uri);
  }

  /** True if the server reported about the file within the time. */
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
