import { z } from 'zod';
import { CALL_EVENT_DATA, CALL_EVENT_TYPES, type CallEventType } from './call.events.js';
import { NOTICE_DATA, NOTICE_TYPES, type NoticeType } from './system.events.js';

/** CloudEvents 1.0, structured JSON mode (https://github.com/cloudevents/spec). `id` is `<epoch>.<partition>.<seq>`. */
export const EnvelopeFields = z.object({
  specversion: z.literal('1.0'),
  id: z.string().regex(/^\d+\.\d+\.\d+$/),
  source: z.string(),
  type: z.enum(CALL_EVENT_TYPES),
  subject: z.string(),
  time: z.string(),
  datacontenttype: z.literal('application/json'),
  dataschema: z.string(),
  traceparent: z.string().optional(),
  tenantid: z.string(),
  agentid: z.string().optional(),
  sessionid: z.string().optional(),
  tool: z.string(),
  callver: z.number().int(),
  attempt: z.number().int(),
  fence: z.number().int(),
  actor: z.string(),
});

/** Any event of a call, as agents, dashboards and auditors read it. */
export const CallEvent = z
  .discriminatedUnion('type', [
    variant('call.submitted'),
    variant('call.approval_requested'),
    variant('call.approval_decided'),
    variant('call.start'),
    variant('call.update'),
    variant('call.progress'),
    variant('call.hook'),
    variant('call.retry'),
    variant('call.cancel_requested'),
    variant('call.end'),
  ])
  .meta({ id: 'CallEvent' });
export type CallEvent = z.output<typeof CallEvent>;
export type CallEventOf<T extends CallEventType> = Extract<CallEvent, { type: T }>;

/** What can be asked for by name. */
export const EventType = z.enum([...CALL_EVENT_TYPES, ...NOTICE_TYPES]).meta({ id: 'EventType' });
export type EventType = z.output<typeof EventType>;

/** The envelope of what happens beside calls. `subject` is `session/<id>` or `worker/<id>`; workers belong to no tenant. */
export const NoticeFields = EnvelopeFields.omit({ tool: true, callver: true, attempt: true, fence: true, agentid: true }).extend({
  type: z.enum(NOTICE_TYPES),
  tenantid: z.string().optional(),
});

export const Notice = z
  .discriminatedUnion('type', [
    notice('session.put'),
    notice('session.deleted'),
    notice('session.steered'),
    notice('session.cancelled'),
    notice('worker.started'),
    notice('worker.draining'),
    notice('worker.gone'),
  ])
  .meta({ id: 'Notice' });
export type Notice = z.output<typeof Notice>;

/** Anything that a stream of events brings. */
export const LogEvent = z.union([CallEvent, Notice]).meta({ id: 'LogEvent' });
export type LogEvent = z.output<typeof LogEvent>;

function notice<T extends NoticeType>(type: T) {
  return NoticeFields.extend({ type: z.literal(type), data: NOTICE_DATA[type] }).meta({ id: eventSchemaName(type) });
}

function variant<T extends CallEventType>(type: T) {
  return EnvelopeFields.extend({ type: z.literal(type), data: CALL_EVENT_DATA[type] }).meta({ id: eventSchemaName(type) });
}

/** `call.approval_requested` → `CallApprovalRequestedEvent`. */
export function eventSchemaName(type: EventType): string {
  return `${type.replace(/(^|[._])([a-z])/g, (_match, _separator, letter: string) => letter.toUpperCase())}Event`;
}

/** The `dataschema` of an event type; the last part is the major version, raised only by a change that old readers cannot take. */
export function dataSchemaOf(type: EventType): string {
  return `urn:tool-events:${type}:1`;
}
