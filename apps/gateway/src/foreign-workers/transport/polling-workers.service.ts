import { Injectable } from '@nestjs/common';
import {
  ProblemError,
  type Principal,
  type WorkerFrame,
  type WorkerHello,
  type WorkerPollBody,
  type WorkerPollPage,
  type WorkerWelcome,
} from '#contracts';
import { MessageBudget, MessageFlood } from '#timing';
import type { ConnectedWorker } from '../bridge/connected-worker.js';
import type { BodySize } from '../../platform/http/json-body.js';
import { ForeignWorkers } from '../bridge/foreign-workers.service.js';
import { PollMailbox } from './poll-mailbox.js';

interface PollingWorker {
  readonly worker: ConnectedWorker;
  readonly mailbox: PollMailbox;
  readonly budget: MessageBudget;
}

/** Workers connected to this gateway by HTTP. */
@Injectable()
export class PollingWorkers {
  private readonly polling = new Map<string, PollingWorker>();

  constructor(private readonly workers: ForeignWorkers) {}

  /** `gone`: called once with the worker's id when it disconnects. */
  async register(principal: Principal, hello: WorkerHello, gone: (id: string) => void): Promise<WorkerWelcome> {
    let id = '';
    const closed = () => {
      const lost = this.polling.get(id);
      this.polling.delete(id);
      if (lost === undefined) return;
      gone(id);
      void this.workers.disconnect(lost.worker);
    };
    const fullChanged = () => {
      const found = this.polling.get(id);
      if (found !== undefined) this.workers.updateQueues(found.worker);
    };
    const mailbox = new PollMailbox(closed, fullChanged);
    const { worker, welcome } = await this.workers.connect(principal, hello, mailbox);
    // The key was revoked meanwhile, or the worker was silent.
    if (worker.isGone) throw unknownWorker();
    id = worker.id;
    this.polling.set(id, { worker, mailbox, budget: new MessageBudget() });
    return welcome;
  }

  has(id: string): boolean {
    return this.polling.has(id);
  }

  /** `cut`: aborts when the worker no longer waits. @throws ProblemError */
  async poll(
    principal: Principal,
    id: string,
    { credit, after }: WorkerPollBody,
    waitMs: number,
    cut: AbortSignal,
  ): Promise<WorkerPollPage> {
    const found = this.workerOf(principal, id);
    const { worker, mailbox } = found;
    this.charge(principal, found, 1 + credit.length);
    for (const more of credit) this.workers.receive(worker, { op: 'credit', ...more });
    worker.seenAt = performance.now();
    try {
      return await mailbox.poll(after, Math.min(waitMs, this.workers.heartbeatMs), cut);
    } finally {
      worker.seenAt = performance.now();
      if (cut.aborted) this.workers.pollLost(worker);
    }
  }

  /** `size`: of the body with the frames. @throws ProblemError */
  messages(principal: Principal, id: string, frames: readonly WorkerFrame[], size: BodySize): void {
    const found = this.workerOf(principal, id);
    this.charge(principal, found, frames.length, size);
    for (const frame of frames) this.workers.receive(found.worker, frame);
  }

  /** @throws ProblemError for a worker that exceeds its budget, which is disconnected */
  private charge(principal: Principal, { worker, mailbox, budget }: PollingWorker, messages: number, size?: BodySize): void {
    try {
      budget.spend(messages, size?.bytes, size?.parts);
    } catch (error) {
      if (!(error instanceof MessageFlood)) throw error;
      const problem = this.workers.flooded(principal, worker, error.message);
      mailbox.close();
      throw problem;
    }
  }

  /** Worker of the key; unknown for other keys. A newer token of the same subject replaces the earlier one. */
  private workerOf(principal: Principal, id: string): PollingWorker {
    const { tenantId, keyId } = principal;
    const found = this.polling.get(id);
    if (found?.worker.tenantId !== tenantId || found.worker.principal.keyId !== keyId) throw unknownWorker();
    found.worker.principal = principal;
    return found;
  }
}

export function unknownWorker(): ProblemError {
  return new ProblemError('resource_not_found', 'No worker with this id is connected: send hello to POST /v1/workers again');
}
