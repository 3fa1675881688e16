import { z } from 'zod';

/** Id `<pp>-<ULID>`: the partition (two or three digits) and a ULID (Crockford base 32). The id alone is enough for routing. */
export const CallId = z
  .string()
  .regex(/^\d{2,3}-[0-9A-HJKMNP-TV-Z]{26}$/, 'expected a call id such as 07-01JZ8C5W3Q4X9R7T2M6K8N0P1V')
  .meta({ id: 'CallId', description: 'The partition (two or three digits) and a ULID (Crockford base 32).' });

const SHORT_ID_CHARS = 8;

/** End of a call id, for people: 40 random bits, enough to identify one of a million calls. */
export function shortCallId(callId: string): string {
  return callId.slice(-SHORT_ID_CHARS);
}

/** Label of a session, agent or tenant. Safe in a file name and in a Redis key; `.` and `..` are rejected. */
export const Label = z
  .string()
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ @ -')
  .meta({
    id: 'Label',
    description: 'The name of a session, agent or tenant: 1 to 128 of the characters A-Z a-z 0-9 . _ @ -, but neither `.` nor `..`.',
  });

/** Wire name of a tool for models. */
export const ToolName = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/, 'expected a letter, then at most 63 letters, digits, _ or -')
  .meta({ id: 'ToolName', description: 'A letter, then at most 63 letters, digits, `_` or `-`.' });

/** W3C Trace Context `traceparent`, version 00. */
export const Traceparent = z
  .string()
  .regex(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/, 'expected a W3C traceparent, version 00');

export const ScheduleId = z
  .string()
  .regex(/^sch-[0-9a-f-]{36}$/, 'expected the id of a schedule, such as the answer of POST /v1/schedules has')
  .meta({ description: 'The id of a schedule.', examples: ['sch-6f1c2f0e-6a0a-4f6e-9a53-1f3c6c1f7a10'] });
