import { z } from 'zod';
import { keys, type RedisConnection } from '#redis';

/** Raised when the keys or their contents take a form that older code cannot read. Entries of format 1 had more fields. */
export const LOG_FORMAT = 2;
const READABLE_FORMATS = [1, LOG_FORMAT];

const Installation = z.object({ format: z.number().optional(), partitions: z.number().optional() });

/**
 * Writes what this installation of the log is, once, or checks that it still is that. The number of partitions is fixed
 * for good: with another one, calls and sessions would be looked for in the wrong streams.
 * Throws an Error whose message says what to do.
 */
export async function ensureLogMetadata(redis: RedisConnection, partitions: number): Promise<void> {
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > 1000)
    throw new RangeError(`PARTITIONS must be a whole number from 1 to 1000, got ${partitions}.`);
  await redis.set(keys.logMetadata(), JSON.stringify({ format: LOG_FORMAT, partitions }), 'NX');
  const text = await redis.get(keys.logMetadata());
  const found = Installation.parse(JSON.parse(text ?? '{}'));
  if (found.format === undefined || !READABLE_FORMATS.includes(found.format)) {
    throw new Error(
      `This Redis holds an event log of format ${found.format}, and this version of Toolyard reads formats ${READABLE_FORMATS.join(' and ')}. Run the version that wrote it, or name another Redis in REDIS_URL.`,
    );
  }
  if (found.partitions !== partitions) {
    throw new Error(
      `This Redis holds an event log of ${found.partitions} partitions, but PARTITIONS is ${partitions}. The number is fixed for an installation: set PARTITIONS=${found.partitions}, or name another Redis in REDIS_URL.`,
    );
  }
  if (found.format !== LOG_FORMAT) await redis.set(keys.logMetadata(), JSON.stringify({ format: LOG_FORMAT, partitions }));
}
