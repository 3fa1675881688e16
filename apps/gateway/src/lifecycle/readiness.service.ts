import { Inject, Injectable } from '@nestjs/common';
import type { RedisConnection } from '#redis';
import { PROMPT_REDIS } from '../tokens.js';
import { Drain } from './drain.service.js';

const REDIS_PATIENCE_MS = 1000;

/** May traffic come here? Not while this process drains, and not while Redis does not answer. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: Drain,
    @Inject(PROMPT_REDIS) private readonly redis: RedisConnection,
  ) {}

  /** Why not; undefined when it may. Never rejects. */
  async obstacle(): Promise<string | undefined> {
    if (this.drain.draining) return 'This gateway is stopping; another one takes over';
    return (await this.redisAnswers()) ? undefined : 'Redis does not answer';
  }

  private redisAnswers(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), REDIS_PATIENCE_MS);
      this.redis
        .ping()
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(() => clearTimeout(timer));
    });
  }
}
