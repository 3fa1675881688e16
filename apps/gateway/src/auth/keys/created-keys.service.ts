import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { keys, type RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { NotificationChannel } from '../../platform/notification-channel.service.js';
import { FAIL_FAST_REDIS, LOGGER } from '../../platform/tokens.js';
import { ApiKeyStore, type CreatedKey } from '../api-key-store.service.js';
import { KeyRecords, type ReadRecord } from './key-records.service.js';
import { rightsOf } from './key-views.js';

/** Polling interval that covers lost messages; messages apply a change at once. */
const LOOK_MS = 10_000;
const TOPIC = 'api-keys';

/** Mirrors the created keys from Redis. A gateway that cannot reach Redis keeps its last copy. */
@Injectable()
export class CreatedKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private revision: string | undefined;
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private ticker: Ticker | undefined;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly apiKeys: ApiKeyStore,
    private readonly records: KeyRecords,
    private readonly notifications: NotificationChannel,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Resolves after the first read: this gateway knows all keys before it accepts requests. */
  async onApplicationBootstrap(): Promise<void> {
    const look = () =>
      this.refresh().catch((error: unknown) =>
        this.log.warn({ err: error }, 'API keys could not be read; the last known ones stay in use'),
      );
    this.stopListening = this.notifications.subscribe(TOPIC, () => void look());
    this.ticker = everyMs(LOOK_MS, look);
    await look();
  }

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
    this.stopListening?.();
  }

  /** Resolves once all changes until now apply here. Rejects while Redis is unreachable. */
  refresh(): Promise<void> {
    // Starts another read, since a running one may precede the caller's change.
    this.next ??= this.running.then(() => {
      this.next = undefined;
      const look = this.look();
      this.running = look.catch(() => {});
      return look;
    });
    return this.next;
  }

  /** Applies a change: here on return, on other gateways when they receive the message. Rejects if Redis is unreachable. */
  async announce(): Promise<void> {
    await this.redis.publish(keys.batchChannel(), TOPIC);
    await this.refresh();
  }

  private async look(): Promise<void> {
    const revision = await this.records.revision();
    if (revision === this.revision) return;
    this.apiKeys.replaceCreated((await this.records.ofAllTenants()).map(toCreatedKey));
    this.revision = revision;
  }
}

function toCreatedKey({ record, text }: ReadRecord): CreatedKey {
  const { id, tenantId, people, secrets, revokedAt } = record;
  return {
    version: text,
    entry: { ...rightsOf(record), id, tenant: tenantId },
    people,
    secrets:
      revokedAt === undefined
        ? secrets.map(({ sha256, until }) => ({ sha256, until: until === undefined ? Infinity : Date.parse(until) }))
        : [],
  };
}
