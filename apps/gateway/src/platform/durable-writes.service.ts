import { Inject, Injectable } from '@nestjs/common';
import { EventLogUnreplicated } from '#event-log';
import type { LuaScript, RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';
import { FAIL_FAST_REDIS } from './tokens.js';

/** How long one try waits for the replicas before the script runs again. */
const TRY_MS = 1_000;

/** Runs scripts that write outside the log and are acknowledged to a caller. */
@Injectable()
export class DurableWrites {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'durability' | 'replicas' | 'logDeadlineMs'>,
  ) {}

  /**
   * Runs an idempotent script, repeatedly if needed, and returns its first result. With DURABILITY=replicated it resolves when
   * REPLICAS replicas have what it wrote. Rejects with `EventLogUnreplicated` past LOG_DEADLINE_MS, and at once while
   * Redis is out of reach: whether it was written is not known then.
   */
  async run(script: LuaScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const { durability, replicas, logDeadlineMs } = this.config;
    if (durability === 'local') return script.run(this.redis, keys, args);
    const deadline = performance.now() + logDeadlineMs;
    let first: { readonly answer: unknown } | undefined;
    for (;;) {
      const left = Math.ceil(deadline - performance.now());
      if (left <= 0) throw new EventLogUnreplicated(`Too few replicas confirmed the write within ${logDeadlineMs} ms.`);
      const [answer, confirmed] = await script.runAndWait(this.redis, keys, args, { replicas, ms: Math.min(TRY_MS, left) });
      first ??= { answer };
      if (confirmed >= replicas) return first.answer;
    }
  }
}
