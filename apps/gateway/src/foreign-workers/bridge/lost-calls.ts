import type { CallState, CallStore } from '#event-log';
import type { SessionEffect } from '../session/worker-session.js';
import type { AttemptHost } from './attempt-host.service.js';
import { claimPrefix } from './claim-token.js';
import type { ConnectedWorker } from './connected-worker.js';
import type { Placement, RemoteCalls } from './remote-calls.js';

/** Most takeovers of one attempt: beyond, its writes could not be numbered. */
const LAST_WRITE = 4_000_000_000;

/**
 * Calls that a worker brings along when it connects again. Those of this gateway go on at the new connection. Those of
 * another gateway, which may be gone, are taken over: the claim is repeated under its token, which grants the same fence.
 * Should the other gateway still live, it is without the worker and gives up after `leaseMs`; until then the log takes
 * one End from either.
 */
export class LostCalls {
  private readonly takenOver = new Set<string>();

  constructor(
    private readonly calls: RemoteCalls,
    private readonly host: Pick<AttemptHost, 'run' | 'renew'>,
    private readonly store: Pick<CallStore, 'snapshot'>,
    private readonly apply: (worker: ConnectedWorker, effects: readonly SessionEffect[]) => void,
  ) {}

  /** Answers the session of the worker. Never rejects. */
  async find(worker: ConnectedWorker, callId: string, fence: number): Promise<void> {
    if (this.calls.attach(worker, callId, fence)) return;
    const key = `${callId}/${fence}`;
    if (this.takenOver.has(key)) return worker.session.forget(callId, fence);
    this.takenOver.add(key);
    try {
      const answer = await this.goOn(worker, callId, fence);
      if (answer !== undefined) this.apply(worker, worker.session.answer(callId, fence, answer));
    } catch {
      worker.session.forget(callId, fence);
    } finally {
      this.takenOver.delete(key);
    }
  }

  /** Resolves with the end of the attempt, or with the answer for one that does not continue here. */
  private async goOn(worker: ConnectedWorker, callId: string, fence: number): Promise<'done' | 'stale' | undefined> {
    const head = await this.store.snapshot(callId);
    if (head?.meta.tenantId !== worker.tenantId || head.fence !== fence) return 'stale';
    if (head.status !== 'running') return 'done';
    if (!mayGoOn(worker, head)) return 'stale';
    const renewed = await this.host.renew(callId, fence);
    if (renewed === undefined) return 'stale';
    return (await this.takeOver(worker, head, renewed.cancelRequested)) ? undefined : 'stale';
  }

  /** False for an attempt that did not reach the tool. */
  private async takeOver(worker: ConnectedWorker, head: CallState, cancelRequested: boolean): Promise<boolean> {
    const { callId, fence, attempt, pool, queue, claimToken, writeSeq } = head;
    let isAttached = false;
    const attached = () => (isAttached = true);
    const placement: Placement = { worker, pool, release: () => {}, takenOver: { cancelRequested, attached } };
    const ended = (_fence: number, written: boolean) => this.calls.ended(callId, fence, written);
    this.calls.place(callId, placement);
    await this.host.run({ job: { callId, attempt }, queue, pool, worker: worker.id, ended, claimToken, takenOver: { writeSeq } });
    this.calls.unplace(callId, placement);
    return isAttached;
  }
}

function mayGoOn(worker: ConnectedWorker, { claimToken, meta, writeSeq }: CallState): boolean {
  return claimToken.startsWith(claimPrefix(worker.claimant)) && worker.has(meta.tool) && writeSeq < LAST_WRITE;
}
