import { LRUCache } from 'lru-cache';

const SILENT_MS = 30_000;
const MESSAGES = 100;

/** Facts of a log line. `repeats`: number of the errors since its last line. */
interface RepeatedError {
  readonly err: Error;
  readonly repeats?: number;
}

export interface RepeatedErrors {
  (error: Error): void;
  /** Logs once that the work succeeds again, with the number of errors; no effect without an error before. */
  over(): void;
}

/**
 * Limits errors that repeat many times a second, for example while Redis refuses writes: at most one line a message in 30 s,
 * with their number. `logOver`: called after the last one.
 */
export function limitRepeatedErrors(
  log: (facts: RepeatedError) => void,
  logOver: (facts: { readonly errors: number }) => void = () => {},
): RepeatedErrors {
  const logged = new LRUCache<string, { at: number; repeats: number }>({ max: MESSAGES });
  let errors = 0;
  const onError = (err: Error): void => {
    errors += 1;
    const last = logged.get(err.message);
    const now = performance.now();
    if (last !== undefined && now - last.at < SILENT_MS) {
      last.repeats += 1;
      return;
    }
    logged.set(err.message, { at: now, repeats: 0 });
    log(last === undefined || last.repeats === 0 ? { err } : { err, repeats: last.repeats });
  };
  const over = (): void => {
    if (errors === 0) return;
    logOver({ errors });
    errors = 0;
    logged.clear();
  };
  return Object.assign(onError, { over });
}
