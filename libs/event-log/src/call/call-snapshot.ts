import { Pool, Priority, ToolEffect, type CallStatus } from '#contracts';
import type { CallSnapshot } from '../event-log.port.js';
import { metaText, parseMeta } from './call-meta.js';

/** Facts that the submission fixes and that later transitions need. */
export interface CallOptions {
  readonly queueMs: number;
  readonly runMs: number;
  readonly maxAttempts: number;
  readonly effect: ToolEffect;
  readonly pool: Pool;
  /** Queue of the call; absent for the queue of its pool. */
  readonly queue?: string | undefined;
  readonly priority: Priority;
  /** Part of the stored text of Submitted (tool, small arguments) that Start repeats: byte offset and length. */
  readonly startPayloadRange: readonly [offset: number, bytes: number];
  /** Digest that an approval must name; `-` for a call that requires none. */
  readonly digest: string;
  /** The approver edited the arguments: `digest` is that of the edited ones, which `call.approval_decided` holds. */
  readonly edited?: boolean;
}

/** The whole snapshot: the fields for readers, and those that only transitions use. */
export interface CallState extends CallSnapshot {
  readonly options: CallOptions;
  /** Earliest time of a claim, Redis ms. */
  readonly notBefore: number;
  /** End of the grace of a requested cancel, Redis ms; 0 without a request. */
  readonly cancelBy: number;
  /** Score of the call in the timers; 0 for none. */
  readonly timer: number;
  /** Answer of the last write by the worker, returned again if that write is repeated. */
  readonly lastWrite: { readonly version: number; readonly seq: number; readonly time: number };
  /** Token of the claim that holds the attempt; `-` for none. */
  readonly claimToken: string;
  /** Digest of the updates of all attempts so far, in the form of `UpdatesDigest`. */
  readonly updates: string;
  /** The last suspension, in the form of `suspension-text.ts`; empty for a call that was neither suspended nor woken. */
  readonly suspension: string;
  /** Bytes that count against the limit of the tenant until the call ends; 0 without a limit. */
  readonly openBytes: number;
  /** Part of `openBytes`: the state of the last suspension and its input. */
  readonly stateBytes: number;
}

const STATUS_OF: Record<string, CallStatus> = { w: 'waiting_approval', q: 'queued', r: 'running', i: 'waiting_input', e: 'ended' };
const LETTER_OF: Record<CallStatus, string> = { waiting_approval: 'w', queued: 'q', running: 'r', waiting_input: 'i', ended: 'e' };

/** The status of a letter in the packed snapshot. Throws on a letter this version does not know. */
export function statusOf(letter: string): CallStatus {
  const status = STATUS_OF[letter];
  if (status === undefined)
    throw new Error(`The snapshot of a call has status "${letter}"; expected one of w, q, r, i, e. Was it written by a newer version?`);
  return status;
}

/** Bytes of the numbers at the front of a packed snapshot, in the order of `SNAPSHOT_FORMAT` in apply-transitions.lua; little-endian. */
const NUMBER_BYTES = [4, 2, 4, 4, 2, 6, 6, 6, 6, 6, 6, 6, 6, 6, 4, 6, 6] as const;
/** Bytes of the lengths of the strings behind them: claim token, lifecycle, terms, fixed facts. */
const LENGTH_BYTES = [1, 2, 2, 2] as const;

/**
 * The snapshot as Redis stores it: a status letter, the numbers that change, strings with their lengths, and last, without
 * lengths, up to three texts between semicolons: digest of the updates, suspension, bytes of an open call. The format is binary
 * because numbers as text would cost the script more than all its other work. apply-transitions.lua writes the same bytes.
 */
export function encodeSnapshot(snapshot: CallState): Buffer {
  const { lastWrite } = snapshot;
  const numbers = [
    snapshot.version,
    snapshot.attempt,
    snapshot.fence,
    snapshot.writeSeq,
    snapshot.failures,
    snapshot.deadline,
    snapshot.totalDeadline,
    snapshot.leaseUntil,
    snapshot.notBefore,
    snapshot.cancelBy,
    snapshot.timer,
    snapshot.submittedAt,
    snapshot.firstStartedAt,
    snapshot.lastSeq,
    lastWrite.version,
    lastWrite.seq,
    lastWrite.time,
  ];
  const strings = [snapshot.claimToken, snapshot.lifecycleSeqs.join(','), encodeOptions(snapshot.options), metaText(snapshot.meta)];
  return Buffer.concat([
    Buffer.from(LETTER_OF[snapshot.status]),
    ...NUMBER_BYTES.map((bytes, index) => numberBytes(numbers[index] ?? 0, bytes)),
    ...LENGTH_BYTES.flatMap((bytes, index) => {
      const text = Buffer.from(strings[index] ?? '');
      return [numberBytes(text.length, bytes), text];
    }),
    Buffer.from(restOf(snapshot)),
  ]);
}

function restOf({ updates, suspension, openBytes, stateBytes }: CallState): string {
  if (stateBytes > 0) return `${updates};${suspension};${openBytes} ${stateBytes}`;
  if (openBytes > 0) return `${updates};${suspension};${openBytes}`;
  return suspension === '' ? updates : `${updates};${suspension}`;
}

function numberBytes(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

/** Marks edited arguments by a last word on which older releases fail to claim, so that none runs the submitted arguments. */
export function encodeOptions(terms: CallOptions): string {
  const { queueMs, runMs, maxAttempts, effect, pool, queue, priority, startPayloadRange, digest, edited } = terms;
  const words = [
    queueMs,
    runMs,
    maxAttempts,
    effect,
    queue === undefined ? pool : `${pool}@${queue}`,
    priority,
    ...startPayloadRange,
    digest,
  ];
  return [...words, ...(edited === true ? ['edited'] : [])].join(' ');
}

/** Inverse of `encodeSnapshot`. Throws on bytes that are no snapshot. */
export function decodeSnapshot(callId: string, packed: Buffer): CallState {
  let at = 1;
  const number = (bytes: number): number => packed.readUIntLE((at += bytes) - bytes, bytes);
  const numbers = NUMBER_BYTES.map(number);
  const [claimToken = '-', lifecycle = '', termsText = '', meta = ''] = LENGTH_BYTES.map((bytes) => {
    const length = number(bytes);
    return packed.toString('utf8', at, (at += length));
  });
  const [version = 0, attempt = 0, fence = 0, writeSeq = 0, failures = 0, deadline = 0, totalDeadline = 0, leaseUntil = 0, ...more] =
    numbers;
  const [notBefore = 0, cancelBy = 0, timer = 0, submittedAt = 0, firstStartedAt = 0, lastSeq = 0, lastVersion = 0, seq = 0, time = 0] =
    more;
  const terms = decodeOptions(termsText);
  const [updates = '', suspension = '', open = '0'] = packed.toString('latin1', at).split(';');
  const [openBytes = 0, stateBytes = 0] = open.split(' ').map(Number);
  const { pool, priority, effect, maxAttempts } = terms;
  return {
    callId,
    status: statusOf(packed.toString('latin1', 0, 1)),
    version,
    attempt,
    fence,
    writeSeq,
    failures,
    deadline,
    totalDeadline,
    leaseUntil,
    notBefore,
    cancelBy,
    cancelRequested: cancelBy > 0,
    timer,
    submittedAt,
    firstStartedAt,
    lastSeq,
    lastWrite: { version: lastVersion, seq, time },
    claimToken,
    updates,
    suspension,
    openBytes,
    stateBytes,
    lifecycleSeqs: lifecycle.split(',').map(Number),
    meta: parseMeta(meta),
    options: terms,
    pool,
    queue: terms.queue ?? pool,
    priority,
    effect,
    maxAttempts,
  };
}

/** Inverse of `encodeOptions`. */
export function decodeOptions(text: string): CallOptions {
  const [queueMs, runMs, maxAttempts, effect = '', place = '', priority = '', offset, bytes, digest = '-', edited] = text.split(' ');
  const [pool, queue] = place.split('@');
  return {
    queueMs: Number(queueMs),
    runMs: Number(runMs),
    maxAttempts: Number(maxAttempts),
    effect: ToolEffect.parse(effect),
    pool: Pool.parse(pool),
    ...(queue === undefined ? {} : { queue }),
    priority: Priority.parse(priority),
    startPayloadRange: [Number(offset), Number(bytes)],
    digest,
    ...(edited === undefined ? {} : { edited: true }),
  };
}
