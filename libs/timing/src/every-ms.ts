import { exhaustMap, Observable, type Subscription } from 'rxjs';

/** Repeated work, until `unsubscribe` is called. */
export type Ticker = Pick<Subscription, 'unsubscribe'>;

/**
 * Runs `work` every `ms` milliseconds until it is unsubscribed. Skips ticks while `work` still runs. Passes a failure to
 * `onFailure`; the next tick runs `work` again. The timer does not keep the process running.
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
