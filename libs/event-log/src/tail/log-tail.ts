import { createRedis, isCluster, type RedisConnection } from '#redis';
import type { Position } from '../read/cursor.js';
import { TailReader, type TailListener, type TailTiming } from './tail-reader.js';

export interface LogTailOptions extends Partial<TailTiming> {
  readonly redisUrl: string;
  readonly partitions: number;
  /** Opens a connection for a blocking reader; the tail closes it. Default: `createRedis(redisUrl, {role: 'blocking'})`. */
  readonly connect?: () => RedisConnection;
}

/**
 * Follows the logs of all partitions from now on. Uses one blocking connection on a single node; on a cluster one for each
 * partition, since XREAD may not cross slots and a slot may move at any time.
 */
export class LogTail {
  readonly partitions: number;
  private readonly options: LogTailOptions;
  private readers: TailReader[] = [];

  constructor(options: LogTailOptions) {
    this.options = options;
    this.partitions = options.partitions;
  }

  /** Opens the connections and finds the newest place of each partition. Callable once. */
  async seekToEnd(): Promise<Position[]> {
    const { redisUrl, partitions, count = 1000, blockMs = 5000, verifyMs = 5000 } = this.options;
    const connect = this.options.connect ?? (() => createRedis(redisUrl, { role: 'blocking', name: 'tail' }));
    const all = Array.from({ length: partitions }, (_, index) => index);
    const groups = isCluster(redisUrl) ? all.map((index) => [index]) : [all];
    this.readers = groups.map((group) => new TailReader(connect(), group, { count, blockMs, verifyMs }));

    const positions: Position[] = [];
    const located = await Promise.all(this.readers.map((reader) => reader.seekToEnd()));
    for (const { partition, position } of located.flat()) positions[partition] = position;
    return positions;
  }

  /** Delivers all entries after the located places, until closed. */
  follow(listener: TailListener): void {
    for (const reader of this.readers) reader.follow(listener);
  }

  /** Ends the delivery. Idempotent. */
  close(): void {
    for (const reader of this.readers) reader.close();
  }
}
