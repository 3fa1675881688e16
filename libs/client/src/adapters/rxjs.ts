import { Observable } from 'rxjs';
import type { CallEvent, EventFilter } from '#contracts';
import type { WatchItem, WatchOptions } from '../stream/watch.js';
import type { ToolyardClient } from '../toolyard-client.js';

type Options = Omit<WatchOptions, 'signal'>;

/** The items of `client.watch` as an Observable. Each subscription is a watch of its own; unsubscribing ends it. */
export function events$(client: Pick<ToolyardClient, 'watch'>, filter: EventFilter = {}, options: Options = {}): Observable<WatchItem> {
  return fromIterable((signal) => client.watch(filter, { ...options, signal }));
}

/** The events of `client.calls.stream` as an Observable that completes after the End. Unsubscribing ends the stream; the call goes on. */
export function stream$(client: Pick<ToolyardClient, 'calls'>, callId: string, options: Options = {}): Observable<CallEvent> {
  return fromIterable((signal) => client.calls.stream(callId, { ...options, signal }));
}

/** `from` of RxJS ends an iterable with its next item only; this one at once. */
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
