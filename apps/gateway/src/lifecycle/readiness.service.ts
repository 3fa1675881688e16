import { Inject, Injectable } from '@nestjs/common';
import { answersPing } from '#lifecycle';
import type { RedisConnection } from '#redis';
import { PROMPT_REDIS } from '../tokens.js';
import { Drain } from './drain.service.js';

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
    return (await answersPing(this.redis)) ? undefined : 'Redis does not answer';
  }
}
