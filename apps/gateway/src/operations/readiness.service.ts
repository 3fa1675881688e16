import { Inject, Injectable } from '@nestjs/common';
import { EventHub } from '#event-log';
import { silentConnection } from '#platform';
import { BullCallQueue } from '#queue';
import type { RedisConnection } from '#redis';
import { NeededConnections } from '../platform/needed-connections.js';
import { NotificationChannel } from '../platform/notification-channel.service.js';
import { BUFFERED_REDIS, DURABLE_REDIS, FAIL_FAST_REDIS, WAIT_REDIS } from '../platform/tokens.js';
import { ShutdownState } from '../platform/shutdown-state.service.js';

/** Not ready while this process drains, or while one of its connections to Redis does not respond. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: ShutdownState,
    @Inject(BUFFERED_REDIS) private readonly commands: RedisConnection,
    @Inject(FAIL_FAST_REDIS) private readonly prompt: RedisConnection,
    @Inject(WAIT_REDIS) private readonly wait: RedisConnection,
    @Inject(DURABLE_REDIS) private readonly durable: RedisConnection,
    private readonly queue: BullCallQueue,
    private readonly hub: EventHub,
    private readonly notifications: NotificationChannel,
    private readonly needed: NeededConnections,
  ) {}

  /** Reason why this process is not ready; undefined if it is. Never rejects. */
  async notReadyReason(): Promise<string | undefined> {
    if (this.drain.draining) return 'This gateway is stopping; another one takes over';
    const { commands, prompt, wait, durable, queue, hub, notifications: news } = this;
    const own = new Set([commands, prompt, wait, durable]);
    const silent = await silentConnection([...own, ...queue.connections, ...news.connections, ...hub.connections, ...this.needed.all]);
    return silent && `Redis does not answer on the connection ${silent}`;
  }
}
