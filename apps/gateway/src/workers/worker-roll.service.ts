import { Inject, Injectable } from '@nestjs/common';
import { WorkerStatus, type Principal } from '#contracts';
import { CallStore } from '#event-log';
import { keys, type RedisConnection } from '#redis';
import { PROMPT_REDIS } from '../tokens.js';

/** Which workers are alive: each writes its own status, which expires soon after the worker stops renewing it. */
@Injectable()
export class WorkerRoll {
  constructor(
    @Inject(PROMPT_REDIS) private readonly redis: RedisConnection,
    private readonly store: CallStore,
  ) {}

  /** The workers serve all tenants; of the calls they run the caller sees those of its own. */
  async alive(principal: Principal): Promise<WorkerStatus[]> {
    return Promise.all((await this.all()).map(async (worker) => ({ ...worker, calls: await this.visible(principal, worker.calls) })));
  }

  /** With the calls of all tenants: for this process itself. */
  async all(): Promise<WorkerStatus[]> {
    const ids = await this.redis.zrange(keys.workers(), '0', '-1');
    const texts = await Promise.all(ids.map((id) => this.redis.get(keys.worker(id))));
    return texts.filter((text) => text !== null).map((text) => WorkerStatus.parse(JSON.parse(text)));
  }

  private async visible({ tenantId }: Principal, callIds: readonly string[]): Promise<string[]> {
    const heads = await Promise.all(callIds.map((callId) => this.store.head(callId)));
    return heads.filter((head) => head?.meta.tenantId === tenantId).flatMap((head) => head?.callId ?? []);
  }
}
