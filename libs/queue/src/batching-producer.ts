import { setTimeout as sleep } from 'node:timers/promises';
import { RedisQueueBackend, type IQueueBackend, type JobJson } from 'bullmq';
import type { RedisConnection } from '#redis';
import { addMode, BatchedAdds, type NewJob } from './batched-adds.js';
import { JOB_NAME } from './bull-settings.js';

/** Wait of a closing backend for the last adds. Jobs that are lost are added again by the timers of the log. */
const LAST_ADDS_MS = 2_000;

export interface BatchingProducerOptions {
  readonly redis: RedisConnection;
  /** Lua of the workers' dequeue hook; enables direct dispatch to idle workers. */
  readonly dequeueHook?: string | undefined;
}

/** BullMQ's backend for producers, with the adds of a tick in one script. Workers of either backend may run the jobs. */
export class BatchingProducerBackend extends RedisQueueBackend {
  private readonly adds: BatchedAdds;

  constructor({ redis, dequeueHook }: BatchingProducerOptions, ...base: ConstructorParameters<typeof RedisQueueBackend>) {
    super(...base);
    const context = { redis, keys: this.keys, toKey: (type: string) => this.toKey(type) };
    this.adds = new BatchedAdds(context, addMode(context, dequeueHook));
  }

  /** Fair queueing: the jobs of one tenant keep their order, and the tenants of a priority take turns. */
  async enqueueFair(job: NewJob): Promise<void> {
    await this.adds.add(job);
  }

  override async addJob(job: JobJson, jobId: string): Promise<string> {
    return this.adds.add(plainJob(job, jobId));
  }

  override async addJobs(entries: Parameters<IQueueBackend['addJobs']>[0]): Promise<string[]> {
    return Promise.all(entries.map(({ job, jobId }) => this.addJob(job, jobId)));
  }

  override async close(force?: boolean): Promise<void> {
    if (!force) await Promise.race([this.adds.idle(), sleep(LAST_ADDS_MS, undefined, { ref: false })]);
    return super.close(force);
  }
}

function plainJob(job: JobJson, id: string): NewJob {
  const { priority, delay, deduplication } = job.opts;
  if (!id || !priority || delay || deduplication || job.parentKey || job.repeatJobKey || job.name !== JOB_NAME) {
    throw new Error(
      `The batching backend takes jobs named "${JOB_NAME}" with an id and a priority, and without delay, parent, deduplication or schedule. Use BullMQ's own backend for others.`,
    );
  }
  return { id, data: job.data, priority, tenant: '', repeatable: false };
}
