import { z } from 'zod';
import { keys, type RedisConnection } from '#redis';

/** Format of all data in Redis. Raised with a change that older code cannot read. Format 3 is that of release 0.2.0. */
export const LOG_FORMAT = 3;

const Installation = z.object({ format: z.number().optional(), partitions: z.number().optional() });

/**
 * Writes format and number of partitions of this installation once, or checks them against the stored ones. The number of
 * partitions is fixed: with another one, calls and sessions would be searched in the wrong streams. Throws an Error with the
 * fix.
 */
export async function ensureLogMetadata(redis: RedisConnection, partitions: number): Promise<void> {
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > 1000)
    throw new RangeError(`PARTITIONS must be a whole number from 1 to 1000, got ${partitions}.`);
  await redis.set(keys.logMetadata(), JSON.stringify({ format: LOG_FORMAT, partitions }), 'NX');
  const text = await redis.get(keys.logMetadata());
  const found = Installation.parse(JSON.parse(text ?? '{}'));
  if (found.format !== LOG_FORMAT) throw new Error(unreadable(found.format));
  if (found.partitions !== partitions) {
    throw new Error(
      `This Redis holds an event log of ${found.partitions} partitions, but PARTITIONS is ${partitions}. The number is fixed for an installation: set PARTITIONS=${found.partitions}, or name another Redis in REDIS_URL.`,
    );
  }
}

function unreadable(format: number | undefined): string {
  if (format === undefined || format > LOG_FORMAT)
    return `This Redis holds an event log of format ${format}, and this version of Toolyard reads format ${LOG_FORMAT}. Run the version that wrote it, or name another Redis in REDIS_URL.`;
  return (
    `This Redis was written by a release before 0.2.0 (format ${format}), and this version of Toolyard reads format ${LOG_FORMAT}. ` +
    'Let its calls end with the release that wrote it. Then start with an empty Redis: name another one in REDIS_URL, or, with ' +
    '`npm start` and `toolyard` alone, another folder in TOOLYARD_DATA (deploy/guides/upgrade.md, "From a release before 0.2.0").'
  );
}
