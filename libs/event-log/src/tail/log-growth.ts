import { setTimeout as sleep } from 'node:timers/promises';
import { createRedis, getTogether, keys, partitionNames, type RedisConnection } from '#redis';

export interface LogGrowthOptions {
  readonly redisUrl: string;
  /** Connection for commands; the caller closes it. */
  readonly redis: RedisConnection;
  readonly partitions: number;
}

/** Interval of checks on a cluster, where no command may wait for streams of several slots. */
const CLUSTER_LOOK_MS = 500;
/** Time beyond the wait after which a connection without an answer counts as dead. */
const ANSWER_SLACK_MS = 2_000;

/**
 * Rest of a loop that works on the log: `mark` before its work, `grown` after it. Events between the two end the rest at once,
 * so none is missed. Costs two commands a rest on a single node, and a connection of its own.
 */
export class LogGrowth {
  private connection: RedisConnection | undefined;
  private ends: readonly number[] = [];
  private readonly names: readonly string[];

  constructor(private readonly options: LogGrowthOptions) {
    this.names = partitionNames(options.partitions);
  }

  /** Remembers the present ends of all partitions. Rejects while Redis is unreachable. */
  async mark(): Promise<void> {
    this.ends = await this.readEnds();
  }

  /**
   * Resolves once a partition has grown since `mark`, after `ms` milliseconds, after a reconnect, or at an abort. Never
   * rejects. Without a mark it resolves at once.
   */
  async grown(ms: number, signal: AbortSignal): Promise<void> {
    if (this.ends.length === 0 || ms <= 0 || signal.aborted) return;
    const rest = new AbortController();
    const stop = () => rest.abort();
    signal.addEventListener('abort', stop);
    try {
      await Promise.race([this.wait(ms, rest.signal), aborted(rest.signal)]);
    } finally {
      rest.abort();
      signal.removeEventListener('abort', stop);
    }
  }

  /** Idempotent. A rest under way ends by its signal. */
  close(): void {
    this.connection?.disconnect();
  }

  private async wait(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await (this.options.redis.isCluster ? this.poll(ms, signal) : this.block(ms, signal));
    } catch {
      // Redis is unreachable: the work of the next round reports it.
      await sleep(Math.min(ms, CLUSTER_LOOK_MS), undefined, { signal }).catch(() => {});
    }
  }

  private async block(ms: number, signal: AbortSignal): Promise<void> {
    const connection = (this.connection ??= createRedis(this.options.redisUrl, { role: 'blocking', name: 'log-growth' }));
    const streams = [...this.names.map((name) => keys.log(name)), ...this.ends.map((end) => `${end}-0`)];
    const answer = connection.xread('COUNT', 1, 'BLOCK', ms, 'STREAMS', ...streams).then(() => 'answered' as const);
    answer.catch(() => {});
    const restored = new Promise<'lost'>((resolve) => {
      const lost = () => resolve('lost');
      // A new master may have other ends. The first connection has none before it.
      if (connection.status === 'ready') connection.once('ready', lost);
      signal.addEventListener('abort', () => connection.off('ready', lost), { once: true });
    });
    const late = sleep(ms + ANSWER_SLACK_MS, 'lost' as const, { signal, ref: false });
    late.catch(() => {});
    if ((await Promise.race([answer, restored, late])) === 'answered') return;
    // The client repeats a command that lost its connection: the next one would wait behind it.
    connection.disconnect();
    if (this.connection === connection) this.connection = undefined;
  }

  private async readEnds(): Promise<number[]> {
    return Promise.all(this.names.map(async (name) => Number((await getTogether(this.options.redis, keys.seq(name))) ?? 0)));
  }

  private async poll(ms: number, signal: AbortSignal): Promise<void> {
    for (let left = ms; left > 0; left -= CLUSTER_LOOK_MS) {
      await sleep(Math.min(left, CLUSTER_LOOK_MS), undefined, { signal });
      const ends = await this.readEnds();
      if (ends.some((end, index) => end !== this.ends[index])) return;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
