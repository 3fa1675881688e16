import { Pool, Priority, type ApprovalDecidedData, type InputGivenData, type RetryData, type SubmittedData } from '#contracts';
import { statusOf } from '../call/call-snapshot.js';
import { upcastSubmitted } from '../call/upcasters.js';
import { parseTrustedJson } from '../call/trusted-json.js';
import { parseSuspension, resumeReason } from '../call/suspension-text.js';
import type { Applied, Claimed, ClaimedSubmission, Rejection, ResumedFrom, WokenCall } from '../event-log.port.js';
import { parseMeta } from '../call/call-meta.js';
import { isList } from './transition-script.js';
import type { TransitionAnswer } from './transition-pipeline.js';

/** Answer to an accept whose idempotency key another call holds. */
export interface KeyHeld {
  readonly code: 'IDEM' | 'IDEM_MISMATCH';
  readonly callId: string;
}

/** `extra` follows the sequence number of an OK: the tool, or a flag that a cancel was requested. `woken`: a call that may run now. */
export type ParsedAnswer = (Applied | Rejection | KeyHeld) & { readonly extra?: string; readonly woken?: WokenCall };

/** Parses an answer of transition.lua. Throws on ERROR: a fault, not a rejection. */
export function parseAnswer({ now, answer }: TransitionAnswer): ParsedAnswer {
  if (isList(answer)) {
    const [version, seq, note, woken] = answer;
    return {
      code: 'OK',
      version: Number(version),
      seq: Number(seq),
      time: now,
      ...(typeof note === 'string' || typeof note === 'number' ? { extra: `${note}` } : {}),
      ...(typeof woken === 'string' ? { woken: wokenCall(woken) } : {}),
    };
  }
  const [code, first = '', second, third] = String(answer).split(' ');
  switch (code) {
    case 'REPLAY':
      return { code, version: Number(first), seq: Number(second), time: Number(third) };
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
      throw new Error(`transition.lua failed: ${String(answer)}`);
  }
}

/** Parses the answer to a claim, which contains everything that a worker needs. */
export function parseClaim(reply: TransitionAnswer): Claimed | Rejection {
  if (!isList(reply.answer)) return asRejection(parseAnswer(reply));
  const facts = reply.answer;
  const [
    version = 0,
    seq = 0,
    time = 0,
    replayed,
    attempt = 0,
    fence = 0,
    submittedAt = 0,
    firstStartedAt = 0,
    failures = 0,
    deadline = 0,
  ] = facts.slice(0, 10).map(Number);
  return {
    code: replayed === 1 ? 'REPLAY' : 'OK',
    version,
    seq,
    time,
    attempt,
    fence,
    submittedAt,
    firstStartedAt,
    failures,
    meta: parseMeta(String(facts[10])),
    submitted: effectiveSubmission(upcastSubmitted(String(facts[11])), String(facts[13])),
    updates: String(facts[12]),
    runMs: Math.max(0, deadline - reply.now),
    ...(facts.length > 14 ? { resumed: resumedFrom(String(facts[14]), String(facts[15]), String(facts[16])) } : {}),
  };
}

/** Combines the words of a suspension with the texts of the event that suspended the call and of its input, if any. */
function resumedFrom(words: string, suspended: string, inputText: string): ResumedFrom {
  const { state } = parseTrustedJson<{ data: Pick<RetryData, 'state'> }>(`{${suspended}}`).data;
  const input = inputText === '' ? undefined : parseTrustedJson<{ data: InputGivenData }>(`{${inputText}}`).data;
  return {
    reason: resumeReason(parseSuspension(words).kind),
    ...(state === undefined ? {} : { state }),
    ...(input === undefined ? {} : { input }),
  };
}

function wokenCall(words: string): WokenCall {
  const [callId = '', attempt, queue = '', priority, pool, tenantId = ''] = words.split(' ');
  return { callId, attempt: Number(attempt), queue, priority: Priority.parse(priority), pool: Pool.parse(pool), tenantId };
}

/** `decided`: text of `call.approval_decided` if the arguments were edited, else empty. */
function effectiveSubmission(submitted: SubmittedData, decided: string): ClaimedSubmission {
  if (decided === '') return submitted;
  const { edited } = parseTrustedJson<{ data: ApprovalDecidedData }>(`{${decided}}`).data;
  if (edited === undefined) throw new Error('transition.lua granted a claim of an edited call whose approval holds no edit.');
  const { arguments: _args, argumentsRef: _ref, argumentsRedacted: _redacted, files: _files, ...others } = submitted;
  const { changes: _changes, moreChanges: _more, ...now } = edited;
  return { ...others, ...now, argumentsEdited: true };
}

/** Narrows to the answers of transitions other than accept. */
export function asRejection(answer: Applied | Rejection | KeyHeld): Rejection {
  if (isApplied(answer) || 'callId' in answer)
    throw new Error(`transition.lua answered ${answer.code}, which is no answer to this transition.`);
  return answer;
}

/** True if the transition was applied, now or before. */
export function isApplied<T extends { readonly code: string }>(answer: T): answer is Extract<T, { readonly code: 'OK' | 'REPLAY' }> {
  return answer.code === 'OK' || answer.code === 'REPLAY';
}
