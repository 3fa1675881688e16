import type { Batch } from '#contracts';
import type { BatchesApi } from '../../api/batches.api.js';
import type { CallsApi } from '../../api/calls.api.js';
import type { CallStreamSources } from '../../stream/call-stream.js';
import { callProgress } from './call-progress.js';
import type { ToolProgress } from './tool-answer.js';

export interface FollowingClient {
  readonly batches: Pick<BatchesApi, 'get'>;
  readonly calls: Pick<CallsApi, 'stream'>;
  readonly watch: CallStreamSources['watch'];
}

/**
 * Steps of the calls of one batch. Later groups of a batch are submitted while it runs: the events of its session contain their
 * ids, and one read of the batch the ids of calls submitted before these events were live.
 */
export class BatchFollower {
  private readonly over = new AbortController();
  private readonly followed = new Map<number, Promise<void>>();
  private readonly watching: Promise<void>;

  /** `ids`: the model's ids of the calls, in their order. A call of a later group without one may have no steps. */
  constructor(
    private readonly client: FollowingClient,
    private readonly batch: Batch,
    private readonly ids: readonly (string | undefined)[],
    private readonly onStep: (index: number, step: ToolProgress) => void,
  ) {
    this.followAll(batch);
    this.watching = this.watch();
  }

  /** Waits for the last steps of ended calls, at most `patienceMs`. Rejects with errors of `onStep`. */
  async end(patienceMs: number): Promise<void> {
    const patience = setTimeout(() => this.over.abort(), patienceMs);
    try {
      await Promise.all(this.followed.values());
    } finally {
      clearTimeout(patience);
      await this.stop();
    }
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.over.abort();
    await this.watching;
  }

  private async watch(): Promise<void> {
    const { sessionId } = this.batch;
    const { signal } = this.over;
    const onState = ({ state }: { readonly state: string }) => void (state === 'live' && this.look());
    try {
      for await (const item of this.client.watch({ sessionId, types: ['call.submitted'] }, { signal, onState })) {
        if (item.kind === 'resync') this.look();
        if (item.kind !== 'event' || item.event.type !== 'call.submitted' || item.event.data.batchId !== this.batch.id) continue;
        const { toolCallId } = item.event.data;
        const index = toolCallId === undefined ? -1 : this.ids.findIndex((id, at) => id === toolCallId && !this.followed.has(at));
        if (index !== -1) this.follow(index, item.event.subject);
      }
    } catch {
      // Ignores a failed stream: it costs steps of later groups, not the answers.
    }
  }

  private look(): void {
    const { signal } = this.over;
    this.client.batches.get(this.batch.id, { signal }).then(
      (batch) => this.followAll(batch),
      () => undefined,
    );
  }

  private followAll({ results }: Batch): void {
    for (const { index, callId, status } of results)
      if (callId !== undefined && status !== 'ended' && !this.followed.has(index)) this.follow(index, callId);
  }

  private follow(index: number, callId: string): void {
    const steps = this.steps(index, callId);
    // `end` throws the error.
    steps.catch(() => undefined);
    this.followed.set(index, steps);
  }

  private async steps(index: number, callId: string): Promise<void> {
    for await (const step of callProgress(this.client.calls, callId, this.over.signal)) this.onStep(index, step);
  }
}
