import { Observable } from 'rxjs';
import type { CallEvent, EventFilter } from '#contracts';
import type { WatchItem, WatchOptions } from '../stream/watch.js';
import type { ToolyardClient } from '../toolyard-client.js';

type Options = Omit<WatchOptions, 'signal'>;

/** Items of `client.watch` as an Observable. Each subscription is a separate watch; unsubscribing ends it. */
export function events$(client: Pick<ToolyardClient, 'watch'>, filter: EventFilter = {}, options: Options = {}): Observable<WatchItem> {
  return fromIterable((signal) => client.watch(filter, { ...options, signal }));
}

/** Events of `client.calls.stream` as an Observable that completes after the End. Unsubscribing ends the stream; the call continues. */
export function stream$(client: Pick<ToolyardClient, 'calls'>, callId: string, options: Options = {}): Observable<CallEvent> {
  return fromIterable((signal) => client.calls.stream(callId, { ...options, signal }));
}

/** Observable that ends its iterable at once. `from` of RxJS ends it only with its next item. */
function fromIterable<T>(open: (signal: AbortSignal) => AsyncIterable<T>): Observable<T> {
  return new Observable((subscriber) => {
    const closing = new AbortController();
    const read = async () => {
      for await (const item of open(closing.signal)) subscriber.next(item);
    };
    read().then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error), // after unsubscribing it is ignored
    );
    return () => closing.abort();
  });
}
