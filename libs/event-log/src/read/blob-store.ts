import type { ClaimCheck } from '#contracts';
import { keys, type RedisConnection } from '#redis';

export const BLOB_LIMITS = { bytes: 8 * 1_048_576, ttlSeconds: 7 * 24 * 3600 } as const;

/** `secret-arguments`: as they were submitted, for the worker alone, until the call has ended. */
export type BlobRef = ClaimCheck['ref'] | 'secret-arguments';

/** Values too large for an event, once each, beside the log in the partition of their call. */
export class BlobStore {
  constructor(private readonly redis: RedisConnection) {}

  /** Storing the same value twice does no harm. Throws a RangeError above 8 MiB. The value is kept for seven days, or as long as is said. */
  async put(callId: string, ref: BlobRef, bytes: Uint8Array, ttlSeconds: number = BLOB_LIMITS.ttlSeconds): Promise<void> {
    if (bytes.byteLength > BLOB_LIMITS.bytes)
      throw new RangeError(`A stored value has ${bytes.byteLength} bytes; at most ${BLOB_LIMITS.bytes} are kept.`);
    await this.redis.set(keys.blob(callId, ref), Buffer.from(bytes), 'EX', ttlSeconds);
  }

  /** Undefined when there is none, or none any more. */
  async get(callId: string, ref: BlobRef): Promise<Buffer | undefined> {
    return (await this.redis.getBuffer(keys.blob(callId, ref))) ?? undefined;
  }

  /** Nothing happens when there is none. */
  async delete(callId: string, ref: BlobRef): Promise<void> {
    await this.redis.del(keys.blob(callId, ref));
  }

  /** Bytes `from` to `to`, both included, counted from 0; empty behind the end or when there is no value. */
  range(callId: string, ref: ClaimCheck['ref'], from: number, to: number): Promise<Buffer> {
    return this.redis.getrangeBuffer(keys.blob(callId, ref), from, to);
  }
}
