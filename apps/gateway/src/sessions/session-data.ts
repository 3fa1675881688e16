import { z } from 'zod';
import { ProblemError, SESSION_DATA, SESSION_DATA_BYTES } from '#contracts';

/** Number of remembered calls whose repeated change is ignored. */
const REMEMBERED_CALLS = 64;

/** Data that the agents of a session store in it. */
export const SessionData = z.object({ ...SESSION_DATA, changedBy: z.array(z.string()).default([]) });
export type SessionData = z.output<typeof SessionData>;
export type SessionContent = Omit<SessionData, 'changedBy'>;

export const NO_DATA: SessionData = { changedBy: [] };

/** Text to store after a change by a call. Pure. @throws ProblemError `quota_exceeded` if it is too large */
export function changedText(data: SessionData, change: Partial<SessionContent>, callId: string): string {
  const changedBy = [...data.changedBy, callId].slice(-REMEMBERED_CALLS);
  const text = JSON.stringify({ ...data, ...change, changedBy });
  const bytes = Buffer.byteLength(text);
  if (bytes <= SESSION_DATA_BYTES) return text;
  throw new ProblemError(
    'quota_exceeded',
    `Todo list, task list and settings of a session have at most ${SESSION_DATA_BYTES} bytes together, and this would make ${bytes}: remove something first`,
  );
}
