import type { Call, CallEvent } from '#contracts';
import { foldCall, upcastEvent, type StoredEvent } from '#event-log';

/**
 * Builds the ended call from the events that a watch saw, which saves reading it. Undefined when they are not all of it:
 * the watch gave up, began too late, or a value lives beside the log.
 */
export function watchedCall(seen: readonly StoredEvent[] | undefined): Call | undefined {
  if (seen?.[0]?.type !== 'call.submitted') return undefined;
  const events = seen.map(({ json }) => upcastEvent(json));
  return events.some(hasReference) ? undefined : foldCall(events);
}

function hasReference({ data }: CallEvent): boolean {
  return 'argumentsRef' in data || 'resultRef' in data || ('edited' in data && data.edited?.argumentsRef !== undefined);
}
