import type { Call, CallEvent } from '#contracts';
import { foldCall, upcastEvent, type StoredEvent } from '#event-log';

/**
 * Builds the ended call from watched events, which saves reading it. Undefined if events are missing: the watch gave up, began
 * too late, or a value is stored beside the log.
 */
export function watchedCall(seen: readonly StoredEvent[] | undefined): Call | undefined {
  if (seen?.[0]?.type !== 'call.submitted') return undefined;
  const events = seen.map(({ json }) => upcastEvent(json));
  return events.some(hasReference) ? undefined : foldCall(events);
}

function hasReference({ data }: CallEvent): boolean {
  return 'argumentsRef' in data || 'resultRef' in data || ('edited' in data && data.edited?.argumentsRef !== undefined);
}
