import { Cluster } from 'ioredis';
import type { RedisConnection } from './redis-client.js';
import { askSentinels, type Sentinels } from './sentinels.js';

/** Age of the last question to the Sentinels after which the next wait asks again, without waiting for the answer. */
const FRESH_MS = 1_000;

/**
 * Number of replicas that have what is acknowledged. Without a setting: all that Sentinel knows, also those that are down. A
 * master that was replaced and still takes writes lacks at least the promoted one, so it acknowledges nothing. Only the
 * Sentinels of REDIS_URL are asked. Without Sentinel: one.
 */
export class ReplicaNumber {
  private known: number | undefined;
  private askedAt = -Infinity;
  private asking: Promise<number> | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly setting?: number,
  ) {}

  /** Warning for operators if the setting is smaller than the number of replicas that Sentinel knows. Rejects if none answers. */
  async warning(): Promise<string | undefined> {
    const sentinels = sentinelsOf(this.redis);
    if (this.setting === undefined || sentinels === undefined) return undefined;
    const replicas = await this.ask(sentinels);
    if (this.setting >= replicas) return undefined;
    return `REPLICAS=${this.setting}, but Sentinel knows ${replicas} replicas: a failover may lose acknowledged calls. Unset it to wait for all`;
  }

  /** Rejects if no Sentinel has answered yet. Later it stays at the last answer while none can be reached. */
  async current(): Promise<number> {
    if (this.setting !== undefined) return this.setting;
    const sentinels = sentinelsOf(this.redis);
    if (sentinels === undefined) return 1;
    if (this.known !== undefined && performance.now() - this.askedAt < FRESH_MS) return this.known;
    this.asking ??= this.ask(sentinels).finally(() => (this.asking = undefined));
    // Fails only callers without an earlier number.
    this.asking.catch(() => {});
    return this.known ?? this.asking;
  }

  private async ask(sentinels: Sentinels): Promise<number> {
    this.askedAt = performance.now();
    const [newest, ...others] = await askSentinels(sentinels);
    if (newest === undefined) throw new Error('No Sentinel answers.');
    const counts = [newest, ...others].filter(({ epoch }) => epoch === newest.epoch).map((view) => view.replicas);
    const replicas = Math.max(...counts);
    // None after SENTINEL RESET, until Sentinel has asked the master for its replicas: up to 10 s.
    return (this.known = replicas > 0 ? replicas : (this.known ?? 1));
  }
}

function sentinelsOf(redis: RedisConnection): Sentinels | undefined {
  if (redis instanceof Cluster) return undefined;
  const { sentinels, name = '' } = redis.options;
  // Without Sentinels ioredis has null there.
  return Array.isArray(sentinels) && sentinels.length > 0 ? { sentinels, name } : undefined;
}
