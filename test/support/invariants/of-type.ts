import type { CallEvent, CallEventOf } from '#contracts';

export function ofType<T extends CallEvent['type']>(events: readonly CallEvent[], type: T): CallEventOf<T>[] {
  return events.filter((event): event is CallEventOf<T> => event.type === type);
}
