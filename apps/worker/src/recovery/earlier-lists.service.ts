import { Inject, Injectable } from '@nestjs/common';
import type { RedisConnection } from '#redis';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { BUFFERED_REDIS } from '../platform/worker.tokens.js';
import { removeEarlierLists } from './earlier-lists.js';

/** Removes the lists of earlier releases in the background, so that no start waits for it. */
@Injectable()
export class EarlierLists {
  private readonly closing = new AbortController();
  private removing = Promise.resolve();

  constructor(
    @Inject(BUFFERED_REDIS) private readonly redis: RedisConnection,
    @Inject(WORKER_CONFIG) private readonly config: WorkerConfig,
    @Inject(LOGGER) private readonly logger: WorkerLog,
  ) {}

  start(): void {
    this.removing = removeEarlierLists(this.redis, this.config.partitions, this.closing.signal).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'lists of an earlier release were not removed from Redis; the next start repeats it');
    });
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.removing;
  }
}
