import { LRUCache } from 'lru-cache';

const SILENT_MS = 30_000;
const MESSAGES = 100;

/** Facts of a log line. `repeats`: how often the error came since its last line. */
interface RepeatedError {
  readonly err: Error;
  readonly repeats?: number;
}

/** Limits errors that repeat many times a second, as while Redis refuses writes: at most one line a message in 30 s, with their number. */
export function limitRepeatedErrors(log: (facts: RepeatedError) => void): (error: Error) => void {
  const logged = new LRUCache<string, { at: number; repeats: number }>({ max: MESSAGES });
  return (err) => {
    const last = logged.get(err.message);
    const now = performance.now();
    if (last !== undefined && now - last.at < SILENT_MS) {
      last.repeats += 1;
      return;
    }
    logged.set(err.message, { at: now, repeats: 0 });
    log(last === undefined || last.repeats === 0 ? { err } : { err, repeats: last.repeats });
  };
}
