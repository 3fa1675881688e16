import { z } from 'zod';
import { CallId, Label } from '../values/names.js';
import { EventType } from './envelope.js';

/** Most types in a filter, more than exist. */
const MOST_TYPES = 64;

/**
 * Filter of a subscriber: events that match every given field. An empty filter means the calls of the whole tenant; events
 * beside calls come only if `types` names them.
 */
export const EventFilter = z
  .strictObject({
    callId: CallId.optional().describe('Events of this call.'),
    sessionId: Label.optional().describe('Events of this session and its calls.'),
    agentId: Label.optional().describe('Events of calls of this agent.'),
    tool: z.string().max(256).optional().describe('Events of calls of this tool.'),
    types: z
      .array(EventType)
      .min(1)
      .max(MOST_TYPES)
      .optional()
      .describe('Only these types, 1 to 64. Not said: all types of calls, and none of those beside calls.'),
  })
  .meta({ id: 'EventFilter', description: 'Which events: all that match every field that is given.' });
export type EventFilter = z.output<typeof EventFilter>;

export const Gap = z
  .object({
    callId: z.string().describe('The call whose events are missing.'),
    fromSeq: z.number().int().describe('Sequence number of the first missing event in its partition.'),
    toSeq: z.number().int().describe('Sequence number of the last missing event in its partition.'),
    dropped: z.number().int().describe('Number of missing events.'),
  })
  .meta({ id: 'Gap', description: 'Updates, progress and hook runs that a slow reader did not get. Other events are never in a gap.' });
export type Gap = z.output<typeof Gap>;
