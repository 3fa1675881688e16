import { Pool, Priority, type ApprovalDecidedData, type InputGivenData, type RetryData, type SubmittedData } from '#contracts';
import { statusOf } from '../call/call-snapshot.js';
import { upcastSubmitted } from '../call/upcasters.js';
import { parseTrustedJson } from '../call/trusted-json.js';
import { parseSuspension, resumeReason } from '../call/suspension-text.js';
import type { Applied, Claimed, ClaimedSubmission, Rejection, ResumedFrom, WokenCall } from '../event-log.port.js';
import { parseMeta } from '../call/call-meta.js';
import { isList } from './transition-script.js';
import type { TransitionAnswer } from './transition-pipeline.js';

/** The key of an accept is held by another call. */
export interface KeyHeld {
  readonly code: 'IDEM' | 'IDEM_MISMATCH';
  readonly callId: string;
}

/** `extra` is what follows the sequence number of an OK: the tool, or that a cancel was requested. `woken`: a call that may run now. */
export type ParsedAnswer = (Applied | Rejection | KeyHeld) & { readonly extra?: string; readonly woken?: WokenCall };

/** Reads what transition.lua answers. Throws when it answers ERROR: a fault, not a refusal. */
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

/** The same for a claim, which is granted with all that a worker needs. */
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

/** The words of a suspension, the text of the event that suspended the call, and that of its input, if it has one. */
function resumedFrom(words: string, suspended: string, given: string): ResumedFrom {
  const { state } = parseTrustedJson<{ data: Pick<RetryData, 'state'> }>(`{${suspended}}`).data;
  const input = given === '' ? undefined : parseTrustedJson<{ data: InputGivenData }>(`{${given}}`).data;
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

/** `decided`: the text of `call.approval_decided` when the arguments were edited, else empty. */
function effectiveSubmission(submitted: SubmittedData, decided: string): ClaimedSubmission {
  if (decided === '') return submitted;
  const { edited } = parseTrustedJson<{ data: ApprovalDecidedData }>(`{${decided}}`).data;
  if (edited === undefined) throw new Error('transition.lua granted a claim of an edited call whose approval holds no edit.');
  const { arguments: _args, argumentsRef: _ref, argumentsRedacted: _redacted, files: _files, ...others } = submitted;
  const { changes: _changes, moreChanges: _more, ...now } = edited;
  return { ...others, ...now, argumentsEdited: true };
}

/** Narrows to what a transition other than accept may be answered. */
export function asRejection(answer: Applied | Rejection | KeyHeld): Rejection {
  if (isApplied(answer) || 'callId' in answer) throw new Error(`transition.lua answered ${answer.code} where it cannot.`);
  return answer;
}

/** Was the transition applied, now or before? */
export function isApplied<T extends { readonly code: string }>(answer: T): answer is Extract<T, { readonly code: 'OK' | 'REPLAY' }> {
  return answer.code === 'OK' || answer.code === 'REPLAY';
}
