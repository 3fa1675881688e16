import { z } from 'zod';
import { ProblemError, SESSION_DATA, SESSION_DATA_BYTES } from '#contracts';

/** Calls whose change is remembered: one that is handled again changes nothing. */
const REMEMBERED_CALLS = 64;

/** What the agents of a session keep in it, as it is stored. */
export const SessionData = z.object({ ...SESSION_DATA, changedBy: z.array(z.string()).default([]) });
export type SessionData = z.output<typeof SessionData>;
export type SessionContent = Omit<SessionData, 'changedBy'>;

export const NO_DATA: SessionData = { changedBy: [] };

/** The text to store after a change by a call. @throws ProblemError `quota_exceeded` when it is too much. Pure. */
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
