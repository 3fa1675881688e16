import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { keys, type RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { ApiKeyStore } from '../api-key-store.service.js';

const WRITE_MS = 10_000;
const MOST = 1_000;

/** Last use of each key over all gateways. Each gateway collects uses in memory and writes them every 10 s. */
@Injectable()
export class KeyUses implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly written = new Map<string, number>();
  private ticker: Ticker | undefined;

  constructor(
    private readonly apiKeys: ApiKeyStore,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
  ) {}

  onApplicationBootstrap(): void {
    // The next write includes uses of a failed one.
    this.ticker = everyMs(WRITE_MS, () => this.write());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ticker?.unsubscribe();
    await this.write().catch(() => {});
  }

  /** Last uses in ms since the epoch, in the order of the ids; undefined for an unused key. */
  async read(ids: readonly string[]): Promise<(number | undefined)[]> {
    if (ids.length === 0) return [];
    await this.write();
    const times = await this.redis.zmscore(keys.apiKeyUses(), ...ids);
    return times.map((time) => (time === null ? undefined : Number(time)));
  }

  private async write(): Promise<void> {
    const news = [...this.apiKeys.uses()].flatMap(([id, { at }]) => (at > (this.written.get(id) ?? 0) ? [[at, id] as const] : []));
    for (let from = 0; from < news.length; from += MOST) {
      const part = news.slice(from, from + MOST);
      await this.redis.zadd(keys.apiKeyUses(), 'GT', ...part.flat());
      for (const [at, id] of part) this.written.set(id, at);
    }
  }
}
