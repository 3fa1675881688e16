import { z } from 'zod';
import { ScheduleId } from '../values/names.js';
import { CallError, Call } from '../calls/call.js';
import { SubmitCallBody } from './calls.api.js';
import { BODY, KEY, type Route } from './route.api.js';

export const SCHEDULE_LIMITS = { perTenant: 200, everyMs: 365 * 24 * 3_600_000, leastMs: 1_000, shownRuns: 5 } as const;

const timing = {
  cron: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'When it is due, as a cron expression of 5 fields, or 6 with seconds first: within ten years. Absent with `everyMs` or `at`.',
    ),
  everyMs: z
    .number()
    .int()
    .min(SCHEDULE_LIMITS.leastMs)
    .max(SCHEDULE_LIMITS.everyMs)
    .optional()
    .describe('Milliseconds between two due times, counted from its creation. Absent with `cron` or `at`.'),
  at: z.iso.datetime({ offset: true }).optional().describe('The only due time: RFC 3339. Absent with `cron` or `everyMs`.'),
};
const overlap = z.enum(['skip', 'queue', 'cancel']);
const missed = z.enum(['run', 'skip']);
const Name = z.string().min(1).max(128);

export const ScheduledCall = SubmitCallBody.omit({ dialect: true, parentCallId: true, toolCallId: true }).meta({
  id: 'ScheduledCall',
  description: 'The call that each run submits.',
});

/** Body of `POST /v1/schedules`. */
export const CreateScheduleBody = z
  .strictObject({
    name: Name.optional().describe('For people.'),
    ...timing,
    timeZone: z
      .string()
      .min(1)
      .max(64)
      .default('UTC')
      .describe(
        'The time zone of `cron`, such as `Europe/Berlin`. When its clocks change, a time that is left out comes once, later by what is left out, and a time that comes twice counts once, the first; with `*` for hours every hour counts.',
      ),
    overlap: overlap
      .default('skip')
      .describe(
        'When the call of the run before has not ended: `skip` leaves this run out, `queue` runs it after that end (one waits, others are left out), `cancel` cancels the call before.',
      ),
    missed: missed
      .default('run')
      .describe('After a time in which no gateway could run it: `run` catches up with one run, `skip` waits for the next due time.'),
    call: ScheduledCall.describe('The call that each run submits.'),
  })
  .meta({
    id: 'CreateSchedule',
    description: 'A call that is submitted again and again, or once later. Exactly one of `cron`, `everyMs` and `at` is needed.',
    examples: [{ cron: '0 7 * * 1-5', timeZone: 'Europe/Berlin', call: { tool: 'shell', arguments: { command: 'make report' } } }],
  });
export type CreateScheduleBody = z.output<typeof CreateScheduleBody>;

/** Body of `POST /v1/schedules:preview`. */
export const PreviewScheduleBody = CreateScheduleBody.pick({ cron: true, everyMs: true, at: true, timeZone: true }).meta({
  id: 'PreviewSchedule',
  description: 'When a schedule would be due. Exactly one of `cron`, `everyMs` and `at` is needed.',
  examples: [{ cron: '0 7 * * 1-5', timeZone: 'Europe/Berlin' }],
});
export type PreviewScheduleBody = z.output<typeof PreviewScheduleBody>;

export const SchedulePreview = z
  .object({ nextRuns: z.array(z.string()).describe('The next due times if it were made now, at most 5: RFC 3339, UTC.') })
  .meta({ id: 'SchedulePreview', description: 'When a schedule would be due.' });
export type SchedulePreview = z.output<typeof SchedulePreview>;

export const ScheduleRun = z
  .object({
    dueAt: z.string().describe('The due time: RFC 3339, UTC.'),
    at: z.string().describe('When a gateway took it: RFC 3339, UTC.'),
    callId: z.string().optional().describe('The call of the run; with `skipped` the one before, which had not ended. Absent without one.'),
    skipped: z.enum(['overlap', 'missed']).optional().describe('Why no call was made. Absent where one was.'),
    error: CallError.pick({ code: true, message: true })
      .extend({ code: z.string().describe('The error code.') })
      .optional()
      .describe('Why the call was refused. Absent where it was not.'),
  })
  .meta({ id: 'ScheduleRun', description: 'What became of one due time.' });
export type ScheduleRun = z.output<typeof ScheduleRun>;

export const Schedule = z
  .object({
    id: ScheduleId,
    name: Name.optional().describe('For people. Absent if none was given.'),
    ...timing,
    timeZone: z.string().describe('The time zone of `cron`.'),
    overlap: overlap.describe('What happens when the call of the run before has not ended.'),
    missed: missed.describe('What happens after a time in which no gateway could run it.'),
    call: ScheduledCall.describe('The call that each run submits, without secrets.'),
    keyId: z.string().describe('The key that made it. Each run has the rights that this key has then.'),
    createdAt: z.string().describe('When it was made: RFC 3339, UTC.'),
    paused: z
      .object({ at: z.string().describe('Since when: RFC 3339, UTC.'), reason: z.string().describe('Why.') })
      .optional()
      .describe('It does not run now, and why. Absent when it runs.'),
    nextRuns: z.array(z.string()).describe('The next due times, at most 5: RFC 3339, UTC. Empty when it is paused or over.'),
    lastRun: ScheduleRun.optional().describe('The last due time. Absent before the first.'),
  })
  .meta({ id: 'Schedule', description: 'A call that is submitted at due times.' });
export type Schedule = z.output<typeof Schedule>;

const params = z.object({ id: ScheduleId });
const one = { description: 'The schedule as it is now.', schema: Schedule } as const;
const problems = [...KEY, 'resource_not_found', 'overloaded'] as const;

export const SCHEDULE_ROUTES = {
  createSchedule: {
    method: 'post',
    path: '/v1/schedules',
    tag: 'schedules',
    scope: 'submit',
    summary: 'Submit a call at due times',
    body: CreateScheduleBody,
    responses: { 201: { ...one, description: 'It runs from now on.', headers: ['Location'] } },
    problems: [...BODY, ...KEY, 'quota_exceeded', 'overloaded'],
  },
  previewSchedule: {
    method: 'post',
    path: '/v1/schedules:preview',
    idempotent: true,
    tag: 'schedules',
    scope: 'read',
    summary: 'The next due times that a schedule would have; nothing is made',
    body: PreviewScheduleBody,
    responses: { 200: { description: 'The due times.', schema: SchedulePreview } },
    problems: [...BODY, ...KEY],
  },
  listSchedules: {
    method: 'get',
    path: '/v1/schedules',
    tag: 'schedules',
    scope: 'read',
    summary: 'The schedules of the tenant',
    responses: {
      200: { description: 'All of them, oldest first.', schema: z.object({ schedules: z.array(Schedule).describe('Oldest first.') }) },
    },
    problems: [...KEY, 'overloaded'],
  },
  getSchedule: {
    method: 'get',
    path: '/v1/schedules/{id}',
    tag: 'schedules',
    scope: 'read',
    summary: 'One schedule, with its next due times',
    params,
    responses: { 200: one },
    problems,
  },
  deleteSchedule: {
    method: 'delete',
    path: '/v1/schedules/{id}',
    tag: 'schedules',
    scope: 'submit',
    summary: 'End a schedule; its calls go on',
    description: 'Only with the key that made it, or the scope `admin`.',
    params,
    responses: { 204: { description: 'Gone.' } },
    problems,
  },
  pauseSchedule: {
    method: 'post',
    path: '/v1/schedules/{id}/pause',
    idempotent: true,
    tag: 'schedules',
    scope: 'submit',
    summary: 'Let a schedule make no more calls until it is resumed',
    description: 'Only with the key that made it, or the scope `admin`.',
    params,
    responses: { 200: one },
    problems,
  },
  resumeSchedule: {
    method: 'post',
    path: '/v1/schedules/{id}/resume',
    idempotent: true,
    tag: 'schedules',
    scope: 'submit',
    summary: 'Let a paused schedule go on; what was due meanwhile is left out',
    description: 'Only with the key that made it, or the scope `admin`.',
    params,
    responses: { 200: one },
    problems,
  },
  runSchedule: {
    method: 'post',
    path: '/v1/schedules/{id}/run',
    tag: 'schedules',
    scope: 'submit',
    summary: 'Submit the call of a schedule now, whatever is due',
    description: 'With the rights of the key that made the schedule. Only with that key, or the scope `admin`.',
    params,
    responses: { 202: { description: 'Accepted and durable.', schema: Call, headers: ['Location'] } },
    problems: [
      ...problems,
      'policy_denied',
      'invalid_arguments',
      'unavailable',
      'rate_limited',
      'hook_rejected',
      'not_found',
      'conflict',
      'cancelled',
    ],
  },
} as const satisfies Record<string, Route>;
