import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { ProblemError, WorkerId, WorkerStatus, type DrainRequest, type Principal } from '#contracts';
import { CallStore } from '#event-log';
import { getTogether, keys, type RedisConnection } from '#redis';
import { eventOrigin } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER, FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Lifetime of a drain request: a worker that has not read it by then is gone, or disconnected from Redis. */
const DRAIN_HEARD_MS = 60_000;

/** Registry of live workers: each writes its own status, which expires soon after the worker stops renewing it. */
@Injectable()
export class WorkerRegistry {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly store: CallStore,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Live workers, which serve all tenants; shows only calls of the caller's tenant. */
  async alive(principal: Principal): Promise<WorkerStatus[]> {
    const visible = (await this.all()).filter(({ foreign }) => foreign === undefined || foreign.tenantId === principal.tenantId);
    return Promise.all(visible.map((worker) => this.redactFor(principal, worker)));
  }

  /** Asks a worker to accept no more calls. The worker checks at each heartbeat; idempotent. */
  async drain(principal: Principal, id: string): Promise<WorkerStatus> {
    const text = WorkerId.safeParse(id).success ? await this.redis.get(keys.worker(id)) : null;
    if (text === null) throw unknownWorker();
    const worker = WorkerStatus.parse(JSON.parse(text));
    if (worker.foreign !== undefined && worker.foreign.tenantId !== principal.tenantId) throw unknownWorker();
    const request: DrainRequest = { actor: eventOrigin(this.config.name, principal).actor, at: new Date().toISOString() };
    await this.redis.set(keys.workerDrain(id), JSON.stringify(request), 'PX', DRAIN_HEARD_MS);
    this.log.warn({ worker: id, actor: request.actor, tenant: principal.tenantId }, 'a worker is asked to drain');
    return this.redactFor(principal, worker);
  }

  private async redactFor(principal: Principal, worker: WorkerStatus): Promise<WorkerStatus> {
    const hosts = worker.hosts?.filter(({ tenant }) => tenant === principal.tenantId);
    return { ...worker, ...(hosts && { hosts }), calls: await this.visibleCalls(principal, worker.calls) };
  }

  /** All workers with the calls of all tenants, for this process itself. */
  async all(): Promise<WorkerStatus[]> {
    const ids = await this.redis.zrange(keys.workers(), '0', '-1');
    const texts = await Promise.all(ids.map((id) => getTogether(this.redis, keys.worker(id))));
    return texts.filter((text) => text !== null).map((text) => WorkerStatus.parse(JSON.parse(text)));
  }

  /** Ids of workers that are not alive. */
  async expired(ids: readonly string[]): Promise<string[]> {
    const alive = await Promise.all(ids.map((id) => this.redis.exists(keys.worker(id))));
    return ids.filter((_id, index) => alive[index] === 0);
  }

  private async visibleCalls({ tenantId }: Principal, callIds: readonly string[]): Promise<string[]> {
    const heads = await Promise.all(callIds.map((callId) => this.store.snapshot(callId)));
    return heads.filter((head) => head?.meta.tenantId === tenantId).flatMap((head) => head?.callId ?? []);
  }
}

function unknownWorker(): ProblemError {
  return new ProblemError('resource_not_found', 'No worker with this id is alive; GET /v1/workers lists those that are');
}
