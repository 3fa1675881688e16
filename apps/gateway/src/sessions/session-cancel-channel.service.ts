import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { type DurableScript, DurableWrites } from '../platform/durable-writes.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { NotificationChannel } from '../platform/notification-channel.service.js';

/** Longer than the total time of a call's hooks. */
const KEPT_MS = 2 * 3_600_000;
const LOOK_AGAIN_MS = 200;

/**
 * Stores a cancel, also above maxmemory, when sessions must remain cancellable. KEYS 1 the session's cancel. ARGV 1 id of the
 * cancel, 2 TTL in ms.
 */
const rememberScript: DurableScript = {
  repeatable: true,
  script: new LuaScript(`#!lua flags=allow-oom
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`),
};

/**
 * Notifies gateways that a session was cancelled, for work that is not in the log yet, such as a call whose hooks are
 * running. The cancel is also stored, for subscribers that were disconnected.
 */
@Injectable()
export class SessionCancelChannel {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly notifications: NotificationChannel,
    private readonly durable: DurableWrites,
  ) {}

  async publish(tenantId: string, sessionId: string): Promise<void> {
    await this.durable.run(rememberScript, [keys.sessionCancel(tenantId, sessionId)], [randomUUID(), KEPT_MS]);
    await this.redis.publish(keys.batchChannel(), topicOf(tenantId, sessionId));
  }

  /**
   * Calls `onCancel`, at least once, when the session is cancelled, until the returned function is called. Reads the last
   * cancel from Redis without awaiting it.
   */
  subscribe(tenantId: string, sessionId: string, onCancel: () => void): () => void {
    const over = new AbortController();
    const last = () => this.redis.get(keys.sessionCancel(tenantId, sessionId));
    // Accepts that an earlier cancel looks like a new one if Redis does not answer; then the timeouts of the hooks apply.
    const before = last().catch(() => undefined);
    const unsubscribe = this.notifications.subscribe(topicOf(tenantId, sessionId), (confirmed) => {
      if (confirmed) onCancel();
      else void this.cancelledSince(last, before, over.signal).then((cancelled) => cancelled && onCancel());
    });
    return () => {
      unsubscribe();
      over.abort();
    };
  }

  /** True after a cancel since `before`. Retries until Redis answers or `over` aborts. Never rejects. */
  private async cancelledSince(
    last: () => Promise<string | null>,
    before: Promise<string | null | undefined>,
    over: AbortSignal,
  ): Promise<boolean> {
    while (!over.aborted) {
      try {
        const now = await last();
        const then = await before;
        return !over.aborted && then !== undefined && now !== null && now !== then;
      } catch {
        await after(LOOK_AGAIN_MS, undefined, { signal: over }).catch(() => {});
      }
    }
    return false;
  }
}

/** Topic of a session on the channel; topics of batches are their ids. */
function topicOf(tenantId: string, sessionId: string): string {
  return JSON.stringify([tenantId, sessionId]);
}
