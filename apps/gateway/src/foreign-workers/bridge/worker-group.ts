import type { Pool, WorkerTool } from '#contracts';
import { keys } from '#redis';
import type { SourceId } from '#sources';
import type { ConnectedWorker } from './connected-worker.js';
import { WorkerQueue, type WorkerQueueDeps } from './worker-queue.js';
import type { WorkerAnnouncer, Announcement } from './worker-announcer.service.js';

/** The workers of one source that are connected to this gateway, and the queues they serve. */
export class WorkerGroup {
  readonly workers = new Set<ConnectedWorker>();
  /** Name in metrics. */
  label = 'other';
  private readonly queues = new Map<Pool, WorkerQueue>();
  private pools: ReadonlySet<Pool> = new Set();
  private announcing: Promise<unknown> = Promise.resolve();
  /** Announcement that waits for the one under way. */
  private next: Promise<Announcement> | undefined;

  constructor(
    readonly id: SourceId,
    private readonly announcer: WorkerAnnouncer,
    private readonly depsOf: (queue: string) => WorkerQueueDeps,
  ) {}

  /** Adds the tools of all its workers to the catalog, one announcement at a time. Concurrent callers share the next one, with the newest tools. */
  announce(): Promise<Announcement> {
    if (this.next !== undefined) return this.next;
    const next = this.announcing
      .catch(() => {})
      .then(async () => {
        this.next = undefined;
        const tools = new Map<string, WorkerTool>();
        for (const worker of this.workers) for (const tool of worker.offered()) tools.set(tool.name, tool);
        const made = await this.announcer.announce(this.id, [...tools.values()]);
        this.pools = new Set(made.tools.map(({ descriptor }) => descriptor.pool));
        this.update();
        return made;
      });
    this.next = next;
    this.announcing = next;
    return next;
  }

  /** Withdraws the tools, behind an announcement that is under way, unless workers are connected by then. */
  leave(): Promise<void> {
    const left = this.announcing.catch(() => {}).then(() => (this.workers.size > 0 ? undefined : this.announcer.leave(this.id)));
    this.announcing = left;
    return left;
  }

  update(): void {
    for (const pool of this.pools) this.queueOf(pool).update();
  }

  async renew(): Promise<void> {
    if (this.workers.size > 0 && !(await this.announcer.renew(this.id))) await this.announce();
  }

  async report(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => this.announcer.report(worker, this.pools)));
  }

  /** Takes no more calls; resolves when its attempts are over. */
  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  private queueOf(pool: Pool): WorkerQueue {
    let queue = this.queues.get(pool);
    if (queue === undefined) {
      const name = keys.workerQueue(this.id.tenantId, this.id.name, pool);
      queue = new WorkerQueue(name, pool, this.workers, this.depsOf(name));
      this.queues.set(pool, queue);
    }
    return queue;
  }
}
