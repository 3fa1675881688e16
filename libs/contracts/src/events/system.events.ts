import { z } from 'zod';
import { keysOf } from '../keys-of.js';
import { Pool } from '../tools/tool.js';

/** The changed parts of a session; `GET /v1/sessions/:id` returns its current state. */
export const SessionPart = z.enum(['posture', 'tools', 'allowedTools', 'grants', 'strategy', 'hooks']);
export type SessionPart = z.output<typeof SessionPart>;

/**
 * What happens beside calls, for who watches sessions and workers. They come only to who names their types: a reader of
 * calls gets none. Those of a session belong to its tenant; workers serve all tenants, and every key that may read gets their events.
 */
export const NOTICE_DATA = {
  /** It was set up, or something was granted to it. */
  'session.put': z.object({ changed: z.array(SessionPart) }),
  'session.deleted': z.object({}),
  /** A person said something to it; `waiting` messages are not taken yet. */
  'session.steered': z.object({ messageId: z.string(), waiting: z.number().int() }),
  /** So many calls and batches were stopped. */
  'session.cancelled': z.object({ calls: z.number().int(), batches: z.number().int() }),
  /** Also of one that was taken for lost and is heard of again. */
  'worker.started': z.object({ pools: z.array(z.object({ pool: Pool, slots: z.number().int() })) }),
  /** It takes no more calls; so many run. */
  'worker.draining': z.object({ running: z.number().int() }),
  /** `lost`: it has not been heard of for 10 s. */
  'worker.gone': z.object({ how: z.enum(['stopped', 'lost']) }),
} as const;

export type NoticeType = keyof typeof NOTICE_DATA;
export const NOTICE_TYPES = keysOf(NOTICE_DATA);
export type NoticeData<T extends NoticeType> = z.output<(typeof NOTICE_DATA)[T]>;
export type SessionNoticeType = Extract<NoticeType, `session.${string}`>;
export type WorkerNoticeType = Extract<NoticeType, `worker.${string}`>;
