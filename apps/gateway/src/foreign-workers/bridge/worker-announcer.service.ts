import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { ALL_TENANTS, ProblemError, WorkerStatus, type AnnouncedTool, type Pool, type WorkerTool } from '#contracts';
import { keys, redisNow, type RedisConnection } from '#redis';
import { acceptOffer, sourceLabel, type OfferRules, type SourceId } from '#sources';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { FAIL_FAST_REDIS, LOGGER } from '../../platform/tokens.js';
import { SourceCatalog } from '../../sources/source-catalog.service.js';
import type { ConnectedWorker } from './connected-worker.js';

/**
 * Tools of a worker that leaves are withdrawn at once. This is for a gateway that died: its entries vanish so much
 * later. Shorter, and tools of a gateway that is short of CPU come and go.
 */
const TTL_MS = 6_000;
const STATUS_TTL_MS = 10_000;
const NAMED = 100;

export interface Announcement {
  readonly tools: readonly AnnouncedTool[];
  readonly problems: readonly string[];
}

/** Puts the tools of foreign workers into the catalog, and the workers into `GET /v1/workers`. */
@Injectable()
export class WorkerAnnouncer {
  constructor(
    private readonly catalog: SourceCatalog,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /**
   * Rules of the operator for the source.
   * @throws ProblemError `conflict` when the name belongs to a source of another kind
   */
  async rulesOf(id: SourceId): Promise<OfferRules & { readonly pin: boolean; readonly label: string }> {
    const stored = [await this.catalog.store.definition(id), await this.catalog.store.definition({ ...id, tenantId: ALL_TENANTS })];
    const other = stored.find((it) => it !== undefined && it.definition.kind !== 'worker');
    if (other !== undefined)
      throw new ProblemError(
        'conflict',
        `Expected a name that no other source has; ${id.name} is a source of the kind ${other.definition.kind}.`,
      );
    const ruling = stored[0] ?? stored[1];
    const own = ruling?.definition;
    const { trust = false, pin = true, pool, timeoutMs, include, exclude } = own?.kind === 'worker' ? own : {};
    const label = sourceLabel({ name: id.name, origin: ruling?.origin ?? 'announced' });
    return { name: id.name, kind: 'worker', trust, pin, pool, timeoutMs, include, exclude, label };
  }

  /** Replaces the entry of the source. Rejects while Redis is unreachable. */
  async announce(id: SourceId, offered: readonly WorkerTool[]): Promise<Announcement> {
    const rules = await this.rulesOf(id);
    const { tools, problems } = acceptOffer(
      offered.map(({ name, ...tool }) => ({ ...tool, rawName: name })),
      rules,
    );
    const common = { tenantId: id.tenantId, name: id.name, kind: 'worker', pin: rules.pin, origin: 'announced', status: 'ok' } as const;
    await this.catalog.store.join(id, this.config.name, TTL_MS);
    await this.catalog.store.announce({ ...common, problems, tools, updatedAt: new Date().toISOString(), expires: true }, TTL_MS);
    await this.catalog.refresh();
    return { tools, problems };
  }

  /** Extends the life of the entry. False if it has vanished and must be announced again. */
  async renew(id: SourceId): Promise<boolean> {
    await this.catalog.store.join(id, this.config.name, TTL_MS);
    return this.catalog.store.renew(id, TTL_MS);
  }

  /** Removes this gateway from the source. The entry stays while a worker is connected to another gateway. */
  async leave(id: SourceId): Promise<void> {
    await this.catalog.store.leave(id, this.config.name);
    await this.catalog.refresh();
  }

  /** Stores the status of the worker. Never rejects. */
  async report(worker: ConnectedWorker, pools: ReadonlySet<Pool>): Promise<void> {
    const { id, session, hello, startedAt, tenantId, source } = worker;
    const status: WorkerStatus = {
      id,
      startedAt: startedAt.toISOString(),
      seenAt: new Date().toISOString(),
      draining: session.draining,
      foreign: {
        tenantId,
        source,
        sdk: hello.sdk,
        ...(hello.labels === undefined ? {} : { labels: hello.labels }),
        tools: worker
          .offered()
          .slice(0, NAMED)
          .map(({ name }) => name),
        gateway: this.config.name,
      },
      pools: [...pools].map((pool) => ({
        pool,
        slots: session.creditOf(pool) + session.runningOf(pool),
        running: session.runningOf(pool),
      })),
      calls: session.callIds().slice(0, NAMED),
    };
    try {
      await this.redis.set(keys.worker(id), JSON.stringify(status), 'PX', STATUS_TTL_MS);
      await this.redis.zadd(keys.workers(), await redisNow(this.redis), id);
    } catch (error) {
      this.log.debug({ err: error }, 'the status of a foreign worker could not be stored');
    }
  }

  /** Deletes the status of the worker. Never rejects. */
  async forget({ id }: ConnectedWorker): Promise<void> {
    await Promise.allSettled([this.redis.del(keys.worker(id), keys.workerDrain(id)), this.redis.zrem(keys.workers(), id)]);
  }

  async isAskedToDrain({ id }: ConnectedWorker): Promise<boolean> {
    return (await this.redis.exists(keys.workerDrain(id)).catch(() => 0)) === 1;
  }
}
