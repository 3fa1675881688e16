import { z } from 'zod';
import { Call } from '../calls/call.js';
import { LIMITS } from '../api/calls.api.js';
import { anyOf, QUERY_LIMITS, QueryNumber } from '../api/call-list.api.js';
import { CallEvent, EventType, LogEvent } from '../events/envelope.js';
import { EventFilter, Gap } from './stream.js';

/** `GET /v1/calls/:id/events`. */
export const ListEventsQuery = z.strictObject({
  cursor: z
    .string()
    .max(QUERY_LIMITS.cursorChars)
    .optional()
    .describe('`nextCursor` of the page before, or the id of an event: the page begins after it.'),
  limit: QueryNumber.int().min(1).max(LIMITS.eventsPage).default(LIMITS.eventsPage),
});
export type ListEventsQuery = z.output<typeof ListEventsQuery>;

/** A page of a call's events, oldest first. With `nextCursor` there may be more, also after a short or empty page. */
export const CallEventPage = z.object({ events: z.array(CallEvent), nextCursor: z.string().optional() }).meta({ id: 'CallEventPage' });

/** `GET /v1/events`: the filter of a `subscribe` frame as a query. */
export const StreamEventsQuery = EventFilter.extend({ types: anyOf(EventType, 'call.start,call.end').optional() });

/** The data of a message `resync`: events after the cursor cannot be had, and `snapshot` is how the calls are now. */
export const Resync = z.object({ reason: z.string(), snapshot: z.array(Call), cursor: z.string() }).meta({ id: 'Resync' });
export type Resync = z.output<typeof Resync>;

/** The data of one server-sent message of a call, and of everything. */
export const CallStreamItem = z.union([CallEvent, Gap, Resync]);
export const StreamItem = z.union([LogEvent, Gap, Resync]);
