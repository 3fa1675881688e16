import { Pool, Priority, ToolEffect, type CallStatus } from '#contracts';
import type { CallHead } from '../event-log.port.js';
import { metaText, parseMeta } from '../stream/stored-event.js';

/** Facts that the submission fixes and that later transitions need. */
export interface CallTerms {
  readonly queueMs: number;
  readonly runMs: number;
  readonly maxAttempts: number;
  readonly effect: ToolEffect;
  readonly pool: Pool;
  readonly priority: Priority;
  /** Where in the stored text of Submitted stands what Start repeats (tool, small arguments): byte offset and length. */
  readonly startSpan: readonly [offset: number, bytes: number];
  /** Digest that an approval must name; `-` when nobody is asked. */
  readonly digest: string;
}

/** The whole head: what readers see of it, and what only transitions look at. */
export interface CallState extends CallHead {
  readonly terms: CallTerms;
  /** Redis ms: no claim before it. */
  readonly notBefore: number;
  /** Redis ms at which the grace of a requested cancel is over; 0 without one. */
  readonly cancelBy: number;
  /** Score of the call in the timers; 0 when it has none. */
  readonly timer: number;
  /** Answer of the last write by the worker, given again when that write is repeated. */
  readonly lastWrite: { readonly version: number; readonly seq: number; readonly time: number };
  /** Names the claim that holds the attempt; `-` when none does. */
  readonly claimToken: string;
}

const STATUS_OF: Record<string, CallStatus> = { w: 'waiting_approval', q: 'queued', r: 'running', e: 'ended' };
const LETTER_OF: Record<CallStatus, string> = { waiting_approval: 'w', queued: 'q', running: 'r', ended: 'e' };

/** The status that a letter of the packed head stands for. Throws on a letter this version does not know. */
export function statusOf(letter: string): CallStatus {
  const status = STATUS_OF[letter];
  if (status === undefined) throw new Error(`The head of a call has status "${letter}"; expected one of w, q, r, e. Was it written by a newer version?`);
  return status;
}

/**
 * The head as Redis stores it, three lines: what changes (in the order of `HEAD` in transition.lua), the terms, and the
 * fixed facts as they stand on every event. transition.lua writes the same text byte by byte.
 */
export function encodeHead(head: CallState): string {
  const { lastWrite, terms } = head;
  const changing = [
    LETTER_OF[head.status], head.version, head.attempt, head.fence, head.wseq, head.failures,
    head.deadline, head.totalDeadline, head.leaseUntil, head.notBefore, head.cancelBy, head.timer,
    head.submittedAt, head.firstStartedAt, head.lastSeq,
    lastWrite.version, lastWrite.seq, lastWrite.time, head.claimToken, head.lifecycleSeqs.join(','),
  ].join(' ');
  return `${changing}\n${encodeTerms(terms)}\n${metaText(head.meta)}`;
}

export function encodeTerms(terms: CallTerms): string {
  return `${terms.queueMs} ${terms.runMs} ${terms.maxAttempts} ${terms.effect} ${terms.pool} ${terms.priority} ${terms.startSpan.join(' ')} ${terms.digest}`;
}

/** The inverse of `encodeHead`. */
export function decodeHead(callId: string, text: string): CallState {
  const [changing = '', terms = '', meta = ''] = text.split('\n');
  const words = changing.split(' ');
  const number = (at: number) => Number(words[at]);
  const decodedTerms = decodeTerms(terms);
  return {
    callId,
    status: statusOf(words[0] ?? ''),
    version: number(1), attempt: number(2), fence: number(3), wseq: number(4), failures: number(5),
    deadline: number(6), totalDeadline: number(7), leaseUntil: number(8), notBefore: number(9),
    cancelBy: number(10), cancelRequested: number(10) > 0, timer: number(11),
    submittedAt: number(12), firstStartedAt: number(13), lastSeq: number(14),
    lastWrite: { version: number(15), seq: number(16), time: number(17) },
    claimToken: words[18] ?? '-',
    lifecycleSeqs: (words[19] ?? '').split(',').map(Number),
    meta: parseMeta(meta),
    terms: decodedTerms,
    pool: decodedTerms.pool, priority: decodedTerms.priority, effect: decodedTerms.effect, maxAttempts: decodedTerms.maxAttempts,
  };
}

/** The inverse of `encodeTerms`. */
export function decodeTerms(text: string): CallTerms {
  const [queueMs, runMs, maxAttempts, effect = '', pool = '', priority = '', offset, bytes, digest = '-'] = text.split(' ');
  return {
    queueMs: Number(queueMs),
    runMs: Number(runMs),
    maxAttempts: Number(maxAttempts),
    effect: ToolEffect.parse(effect),
    pool: Pool.parse(pool),
    priority: Priority.parse(priority),
    startSpan: [Number(offset), Number(bytes)],
    digest,
  };
}
