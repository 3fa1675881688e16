import { z } from 'zod';
import { Call } from '../calls/call.js';
import { LIMITS } from '../values/limits.js';
import { anyOf, QUERY_LIMITS, QueryNumber } from './call-list.api.js';
import { CallEvent, EventType, LogEvent } from '../events/envelope.js';
import { EventFilter, Gap } from '../events/event-filter.js';

/** Query of `GET /v1/calls/:id/events`. */
export const ListEventsQuery = z.strictObject({
  cursor: z
    .string()
    .max(QUERY_LIMITS.cursorChars)
    .optional()
    .describe('`nextCursor` of the page before, or the id of an event: the page begins after it.'),
  limit: QueryNumber.int().min(1).max(LIMITS.eventsPage).default(LIMITS.eventsPage).describe('Most events of the page: 1 to 1,000.'),
});
export type ListEventsQuery = z.output<typeof ListEventsQuery>;

export const CallEventPage = z
  .object({
    events: z.array(CallEvent).describe('Oldest first.'),
    nextCursor: z
      .string()
      .optional()
      .describe('The `cursor` of the next page, which may be empty. Absent when there is nothing more to read.'),
  })
  .meta({ id: 'CallEventPage', description: 'A page of the events of a call, oldest first.' });

/** Query of `GET /v1/events`: the filter of a `subscribe` frame. */
export const StreamEventsQuery = EventFilter.extend({
  types: anyOf(EventType, 'call.start,call.end')
    .optional()
    .describe('Types of events, with commas between them. Those beside calls come only where they are named.'),
});

export const Resync = z
  .object({
    reason: z.string().describe('Why events after the cursor cannot be had.'),
    snapshot: z.array(Call).describe('The calls as they are now, instead of the events.'),
    cursor: z.string().describe('The place from which events follow.'),
  })
  .meta({ id: 'Resync', description: 'Events after the cursor cannot be had.' });
export type Resync = z.output<typeof Resync>;

/** Data of one server-sent message: of a call, and of all events. */
export const CallStreamItem = z.union([CallEvent, Gap, Resync]);
export const StreamItem = z.union([LogEvent, Gap, Resync]);
