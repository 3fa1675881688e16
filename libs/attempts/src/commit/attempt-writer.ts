import type { EndData, HookRunData, ProgressData, RetryData, UpdateData } from '#contracts';
import type { ForcedShutdown } from '../forced-shutdown.js';
import type { Applied, EventOrigin, WorkerIdentity, EventLogWriter, Rejection, WorkerGuard } from '#event-log';

const RETRY_MS = 250;

/** Who this worker is in every event that it writes. */
export function workerOrigin(workerId: string): EventOrigin {
  return { source: `/worker/${workerId}`, actor: `worker:${workerId}` };
}

export function workerIdentity({ id, leaseMs }: { readonly id: string; readonly leaseMs: number }): WorkerIdentity {
  return { worker: id, leaseMs, author: workerOrigin(id) };
}

/** Writes the events of one attempt: numbers them, so that a repeated write counts once, and tells when the attempt is not ours any more. */
export class AttemptWriter {
  private writeSeq = 0;

  constructor(
    private readonly log: Pick<EventLogWriter, 'update' | 'progress' | 'hook' | 'retry' | 'end'>,
    private readonly callId: string,
    private readonly fence: number,
    private readonly origin: EventOrigin,
    private readonly onLeaseLost: () => void,
  ) {}

  /** For watchers only: nobody waits for it, and when it cannot be written it is gone. */
  update(data: UpdateData, updates: string): void {
    void this.log.update({ callId: this.callId, guard: this.guard(), data, updates, author: this.origin }).then(
      (answer) => this.detectFencing(answer),
      () => {},
    );
  }

  progress(data: ProgressData): void {
    void this.log.progress({ callId: this.callId, guard: this.guard(), data, author: this.origin }).then(
      (answer) => this.detectFencing(answer),
      () => {},
    );
  }

  /** For watchers, as `update`. Later events of the attempt follow it in the log. */
  hook(data: HookRunData): void {
    void this.log.hook({ callId: this.callId, guard: this.guard(), data, author: this.origin }).then(
      (answer) => this.detectFencing(answer),
      () => {},
    );
  }

  /** As `end`. */
  retry(data: RetryData, countsAsFailure: boolean, leaving: ForcedShutdown): Promise<Applied | Rejection> {
    const guard = this.guard();
    return this.retryUntilAcknowledged(
      () => this.log.retry({ callId: this.callId, guard, data, countsAsFailure, author: this.origin }),
      leaving,
    );
  }

  /**
   * Repeats the same write until Redis has answered: the fence keeps that safe, however long it takes. Rejects when
   * the worker leaves before. `sent` is told when it was written for the first time.
   */
  end(data: EndData, leaving: ForcedShutdown, sent?: () => void): Promise<Applied | Rejection> {
    const guard = this.guard();
    return this.retryUntilAcknowledged(() => this.log.end({ callId: this.callId, guard, data, author: this.origin }, sent), leaving);
  }

  private guard(): WorkerGuard {
    this.writeSeq += 1;
    return { by: 'worker', fence: this.fence, writeSeq: this.writeSeq };
  }

  private async retryUntilAcknowledged(write: () => Promise<Applied | Rejection>, leaving: ForcedShutdown): Promise<Applied | Rejection> {
    const shutdownRace = raceShutdown(leaving);
    try {
      for (;;) {
        try {
          const answer = await Promise.race([write(), shutdownRace.promise]);
          this.detectFencing(answer);
          return answer;
        } catch (error) {
          if (leaving.triggered || error instanceof RangeError) throw error;
          await Promise.race([new Promise((resolve) => setTimeout(resolve, RETRY_MS)), shutdownRace.promise]);
        }
      }
    } finally {
      shutdownRace.close();
    }
  }

  private detectFencing(answer: Applied | Rejection): void {
    if (answer.code === 'FENCED' || answer.code === 'ENDED' || answer.code === 'NOT_FOUND') this.onLeaseLost();
  }
}

/** Rejects when the worker leaves, and listens no longer than until `close`. */
function raceShutdown(leaving: ForcedShutdown): { readonly promise: Promise<never>; close(): void } {
  let close = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    close = leaving.on(() => reject(new Error('The worker left before the log had answered.')));
  });
  promise.catch(() => {});
  return { promise, close };
}
