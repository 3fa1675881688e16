import { z } from 'zod';
import { CALL_EVENT_DATA, CALL_EVENT_TYPES, type CallEventType } from './call.events.js';
import { NOTICE_DATA, NOTICE_TYPES, type NoticeType } from './system.events.js';

/** CloudEvents 1.0, structured JSON mode (https://github.com/cloudevents/spec). `id` is `<epoch>.<partition>.<seq>`. */
export const EnvelopeFields = z.object({
  specversion: z.literal('1.0').describe('The version of CloudEvents.'),
  id: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/)
    .describe('`<epoch>.<partition>.<seq>`: unique, and rising within a partition.'),
  source: z.string().describe('The process that wrote the event: `/gateway/<name>`, `/worker/<id>` or `/reconciler/<id>`.'),
  type: z.enum(CALL_EVENT_TYPES).describe('What happened.'),
  subject: z.string().describe('The id of the call.'),
  time: z.string().describe('When the event was stored: RFC 3339, UTC, by the clock of Redis.'),
  datacontenttype: z.literal('application/json').describe('The media type of `data`.'),
  dataschema: z
    .string()
    .describe('`urn:tool-events:<type>:<major>`; the major version rises only by a change that old readers cannot take.'),
  traceparent: z.string().optional().describe('The trace that the call belongs to (W3C Trace Context). Absent without one.'),
  tenantid: z.string().describe('The owner of the call.'),
  agentid: z.string().optional().describe('The agent that made the call. Absent without one.'),
  sessionid: z.string().optional().describe('The session that the call belongs to. Absent without one.'),
  parentcallid: z.string().optional().describe('The call that made this one. Absent without a parent.'),
  tool: z.string().describe('The tool of the call.'),
  callver: z.number().int().describe('Version of the call after this event: 1, 2, 3 and so on, without a gap.'),
  attempt: z.number().int().describe('Number of the attempt; 0 before the first Start.'),
  fence: z.number().int().describe('The fence of the attempt that wrote the event; 0 when no worker wrote it.'),
  actor: z.string().describe('Who caused it: `apikey:<keyId>`, `worker:<id>`, `system:reconciler` or `system:gateway`.'),
  actorname: z
    .string()
    .optional()
    .describe('The person who caused it, such as `Ada Example <ada@example.com>`. Absent unless a person has signed in.'),
  erased: z
    .literal(true)
    .optional()
    .describe('The content of the call was erased: `data` has what says who called which tool when, and how it ended. Absent otherwise.'),
});

/** Event of a call, for agents, dashboards and auditors. */
export const CallEvent = z
  .discriminatedUnion('type', [
    variant('call.submitted'),
    variant('call.approval_requested'),
    variant('call.approval_decided'),
    variant('call.start'),
    variant('call.update'),
    variant('call.progress'),
    variant('call.hook'),
    variant('call.turn'),
    variant('call.retry'),
    variant('call.input_requested'),
    variant('call.input_given'),
    variant('call.cancel_requested'),
    variant('call.end'),
  ])
  .meta({ id: 'CallEvent', description: 'An event of a call: a CloudEvent 1.0.' });
export type CallEvent = z.output<typeof CallEvent>;
export type CallEventOf<T extends CallEventType> = Extract<CallEvent, { type: T }>;

/** Event types that a filter can name. */
export const EventType = z.enum([...CALL_EVENT_TYPES, ...NOTICE_TYPES]).meta({ id: 'EventType', description: 'What happened.' });
export type EventType = z.output<typeof EventType>;

/** Envelope of events beside calls. `subject` is `session/<id>`, `worker/<id>` or `source/<name>`; workers belong to no tenant. */
export const NoticeFields = EnvelopeFields.omit({
  tool: true,
  callver: true,
  attempt: true,
  fence: true,
  agentid: true,
  parentcallid: true,
  erased: true,
}).extend({
  type: z.enum(NOTICE_TYPES).describe('What happened.'),
  tenantid: z.string().optional().describe('The owner of the session or source. Absent for workers and sources that serve all tenants.'),
});

export const Notice = z
  .discriminatedUnion('type', [
    notice('session.put'),
    notice('session.deleted'),
    notice('session.steered'),
    notice('session.data'),
    notice('session.message'),
    notice('session.cancelled'),
    notice('worker.started'),
    notice('worker.draining'),
    notice('worker.gone'),
    notice('source.loading'),
    notice('source.ready'),
    notice('source.failed'),
    notice('source.changed'),
    notice('source.exited'),
  ])
  .meta({ id: 'Notice', description: 'An event of a session, a worker or a source: a CloudEvent 1.0.' });
export type Notice = z.output<typeof Notice>;

/** Item of an event stream. */
export const LogEvent = z
  .union([CallEvent, Notice])
  .meta({ id: 'LogEvent', description: 'An event of a call, a session, a worker or a source: a CloudEvent 1.0.' });
export type LogEvent = z.output<typeof LogEvent>;

function notice<T extends NoticeType>(type: T) {
  return NoticeFields.extend({ type: z.literal(type), data: NOTICE_DATA[type] }).meta({
    id: eventSchemaName(type),
    description: NOTICE_DATA[type].description,
  });
}

function variant<T extends CallEventType>(type: T) {
  return EnvelopeFields.extend({ type: z.literal(type), data: CALL_EVENT_DATA[type] }).meta({
    id: eventSchemaName(type),
    description: CALL_EVENT_DATA[type].description,
  });
}

/** Schema name of an event type: `call.approval_requested` → `CallApprovalRequestedEvent`. */
export function eventSchemaName(type: EventType): string {
  return `${type.replace(/(^|[._])([a-z])/g, (_match, _separator, letter: string) => letter.toUpperCase())}Event`;
}

/** Value of `dataschema` for an event type; the last part is the major version, raised only by a change that old readers cannot read. */
export function dataSchemaOf(type: EventType | `admin.${string}`): string {
  return `urn:tool-events:${type}:1`;
}
