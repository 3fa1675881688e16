import type { SuspensionState } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import type { LogArchive } from './log-archive.port.js';

export const BLOB_LIMITS = { bytes: 8 * 1_048_576, ttlSeconds: 7 * 24 * 3600 } as const;

/** `secret-arguments`: the submitted arguments without redaction, for the worker alone, until the call has ended. */
export type BlobRef =
  | 'arguments'
  | 'result'
  | 'output'
  | 'secret-arguments'
  | `edited-arguments.${string}`
  | `edited-secret-arguments.${string}`
  | `worker-output.${number}`
  | SuspensionRef;

/** State of a suspended tool, and the input given to it, by the attempt that was suspended. */
export type SuspensionRef = `suspension.${number}` | `input.${number}.${string}`;

/** Name of the value that an event of a suspension refers to. @throws TypeError for any other value of a call */
export function suspensionBlob({ ref }: SuspensionState): SuspensionRef {
  if (isSuspensionRef(ref)) return ref;
  throw new TypeError(`Expected the name of a suspension's value, got ${ref}.`);
}

function isSuspensionRef(ref: string): ref is SuspensionRef {
  return /^(suspension\.\d+|input\.\d+\.\w+)$/.test(ref);
}

/** Facts that decide where the arguments of a call are stored. */
export interface ArgumentsPlace {
  /** The approver edited them. */
  readonly argumentsEdited?: boolean | undefined;
  readonly argumentsDigest: string;
}

/**
 * Names under which large and secret arguments are stored. Edited arguments are named by their digest, so that two approvers
 * who edit at once do not overwrite each other's values.
 */
export function argumentRefs({ argumentsEdited, argumentsDigest }: ArgumentsPlace): { readonly shown: BlobRef; readonly secret: BlobRef } {
  if (argumentsEdited !== true) return { shown: 'arguments', secret: 'secret-arguments' };
  return { shown: `edited-arguments.${argumentsDigest}`, secret: `edited-secret-arguments.${argumentsDigest}` };
}

/** Values too large for an event, once each, beside the log in the partition of their call. */
export class BlobStore {
  /** `archive` has the values of calls that have left Redis. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly archive?: LogArchive,
  ) {}

  /** Stores a value for seven days, or for `ttlSeconds`. Safe to repeat. Throws a RangeError above 8 MiB. */
  async put(callId: string, ref: BlobRef, bytes: Uint8Array, ttlSeconds: number = BLOB_LIMITS.ttlSeconds): Promise<void> {
    if (bytes.byteLength > BLOB_LIMITS.bytes)
      throw new RangeError(`A stored value has ${bytes.byteLength} bytes; the limit is ${BLOB_LIMITS.bytes}.`);
    await this.redis.set(keys.blob(callId, ref), Buffer.from(bytes), 'EX', ttlSeconds);
  }

  /** Undefined for a value that never existed or has expired. */
  async get(callId: string, ref: BlobRef): Promise<Buffer | undefined> {
    return (await this.redis.getBuffer(keys.blob(callId, ref))) ?? (await this.archive?.value(callId, ref));
  }

  async delete(callId: string, ref: BlobRef): Promise<void> {
    await this.redis.del(keys.blob(callId, ref));
  }

  /** Bytes `from` to `to`, both included, counted from 0; empty behind the end or when there is no value. */
  async range(callId: string, ref: BlobRef, from: number, to: number): Promise<Buffer> {
    const found = await this.redis.getrangeBuffer(keys.blob(callId, ref), from, to);
    if (found.length > 0 || this.archive === undefined) return found;
    return (await this.archive.value(callId, ref))?.subarray(from, to + 1) ?? found;
  }
}
