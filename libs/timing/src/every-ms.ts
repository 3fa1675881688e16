import { exhaustMap, Observable, type Subscription } from 'rxjs';

/** Work that is repeated until `unsubscribe` is called. */
export type Ticker = Pick<Subscription, 'unsubscribe'>;

/**
 * Runs `work` every `ms` milliseconds until it is unsubscribed. A tick that comes while `work` still runs is skipped. A failure is
 * given to `onFailure`, and the next tick runs `work` again. The timer keeps no process running.
 */
export function everyMs(ms: number, work: () => unknown, onFailure: (error: unknown) => void = () => {}): Ticker {
  const attempt = async () => {
    try {
      await work();
    } catch (error) {
      onFailure(error);
    }
  };
  return ticks(ms).pipe(exhaustMap(attempt)).subscribe();
}

function ticks(ms: number): Observable<void> {
  return new Observable((subscriber) => {
    const timer = setInterval(() => subscriber.next(), ms).unref();
    return () => clearInterval(timer);
  });
}
