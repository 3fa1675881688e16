import { Inject, Injectable } from '@nestjs/common';
import { EventHub } from '#event-log';
import { silentConnection } from '#lifecycle';
import { BullCallQueue } from '#queue';
import type { RedisConnection } from '#redis';
import { BatchNews } from '../batches/batch-news.service.js';
import { COMMAND_REDIS, PROMPT_REDIS } from '../tokens.js';
import { Drain } from './drain.service.js';

/** May traffic come here? Not while this process drains, and not while one of its connections to Redis is away. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: Drain,
    @Inject(COMMAND_REDIS) private readonly commands: RedisConnection,
    @Inject(PROMPT_REDIS) private readonly prompt: RedisConnection,
    private readonly queue: BullCallQueue,
    private readonly hub: EventHub,
    private readonly news: BatchNews,
  ) {}

  /** Why not; undefined when it may. Never rejects. */
  async obstacle(): Promise<string | undefined> {
    if (this.drain.draining) return 'This gateway is stopping; another one takes over';
    const { commands, prompt, queue, hub, news } = this;
    const silent = await silentConnection([commands, prompt, ...queue.connections, ...news.connections, ...hub.connections]);
    return silent && `Redis does not answer on the connection ${silent}`;
  }
}
