import type { SubmittedData } from '#contracts';
import { decodeHead, statusOf, type CallState } from '../call/call-head.js';
import { upcastSubmitted } from '../call/upcasters.js';
import type { Applied, Claimed, Refusal } from '../event-log.port.js';
import type { TransitionAnswer } from './transition-lane.js';

/** The key of an accept is held by another call. */
export interface KeyHeld {
  readonly code: 'IDEM' | 'IDEM_MISMATCH';
  readonly callId: string;
}

/** `note` is what follows the sequence number of an OK: the tool, or that a cancel was requested. */
export type ParsedAnswer = (Applied | Refusal | KeyHeld) & { readonly note?: string };

/** Reads the one-line answers of transition.lua. Throws when the script answers ERROR: a fault, not a refusal. */
export function parseAnswer({ now, answer }: TransitionAnswer): ParsedAnswer {
  if (typeof answer !== 'string') throw new Error('transition.lua gave an answer of another kind than expected.');
  const [code, first = '', second, ...rest] = answer.split(' ');
  switch (code) {
    case 'OK':
      return { code, version: Number(first), seq: Number(second), time: now, ...(rest.length > 0 ? { note: rest.join(' ') } : {}) };
    case 'REPLAY':
      return { code, version: Number(first), seq: Number(second), time: Number(rest[0]) };
    case 'IDEM':
    case 'IDEM_MISMATCH':
      return { code, callId: first };
    case 'CONFLICT':
      return { code, version: Number(first) };
    case 'FENCED':
      return { code, fence: Number(first) };
    case 'NOT_DUE':
      return { code, retryInMs: Number(first) };
    case 'BAD_TRANSITION':
      return { code, status: statusOf(first) };
    case 'ENDED':
    case 'NOT_FOUND':
      return { code };
    default:
      throw new Error(`transition.lua failed: ${answer}`);
  }
}

/** The same for a claim, which is granted with the head and the stored text of the submission. */
export function parseClaim(callId: string, reply: TransitionAnswer): Claimed | Refusal {
  if (!Array.isArray(reply.answer)) return refusal(parseAnswer(reply));
  const [code, headText, submittedText]: unknown[] = reply.answer;
  const head = decodeHead(callId, String(headText));
  return claimed(code === 'REPLAY' ? 'REPLAY' : 'OK', head, upcastSubmitted(String(submittedText)), reply.now);
}

function claimed(code: 'OK' | 'REPLAY', head: CallState, submitted: SubmittedData, now: number): Claimed {
  return {
    code,
    ...head.lastWrite,
    attempt: head.attempt,
    fence: head.fence,
    meta: head.meta,
    submitted,
    submittedAt: head.submittedAt,
    firstStartedAt: head.firstStartedAt,
    failures: head.failures,
    runMs: Math.max(0, head.deadline - now),
  };
}

/** Narrows to what a transition other than accept may be answered. */
export function refusal(answer: Applied | Refusal | KeyHeld): Refusal {
  if (isApplied(answer) || 'callId' in answer) throw new Error(`transition.lua answered ${answer.code} where it cannot.`);
  return answer;
}

/** Was the transition applied, now or before? */
export function isApplied<T extends { readonly code: string }>(answer: T): answer is Extract<T, { readonly code: 'OK' | 'REPLAY' }> {
  return answer.code === 'OK' || answer.code === 'REPLAY';
}
