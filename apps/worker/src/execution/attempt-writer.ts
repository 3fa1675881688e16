import type { EndData, ProgressData, RetryData, UpdateData } from '#contracts';
import type { Applied, Author, Claimant, EventLogWriter, Refusal, WorkerGuard } from '#event-log';

const AGAIN_MS = 250;

/** Who this worker is in every event that it writes. */
export function workerAuthor(workerId: string): Author {
  return { source: `/worker/${workerId}`, actor: `worker:${workerId}` };
}

export function claimantOf({ id, leaseMs }: { readonly id: string; readonly leaseMs: number }): Claimant {
  return { worker: id, leaseMs, author: workerAuthor(id) };
}

/** Writes the events of one attempt: numbers them, so that a repeated write counts once, and tells when the attempt is not ours any more. */
export class AttemptWriter {
  private wseq = 0;

  constructor(
    private readonly log: Pick<EventLogWriter, 'update' | 'progress' | 'retry' | 'end'>,
    private readonly callId: string,
    private readonly fence: number,
    private readonly author: Author,
    private readonly onLost: () => void,
  ) {}

  /** For watchers only: nobody waits for it, and when it cannot be written it is gone. */
  update(data: UpdateData): void {
    void this.log.update({ callId: this.callId, guard: this.guard(), data, author: this.author }).then(
      (answer) => this.noticed(answer),
      () => {},
    );
  }

  progress(data: ProgressData): void {
    void this.log.progress({ callId: this.callId, guard: this.guard(), data, author: this.author }).then(
      (answer) => this.noticed(answer),
      () => {},
    );
  }

  /** As `end`. */
  retry(data: RetryData, countsAsFailure: boolean, patience: AbortSignal): Promise<Applied | Refusal> {
    const guard = this.guard();
    return this.insist(() => this.log.retry({ callId: this.callId, guard, data, countsAsFailure, author: this.author }), patience);
  }

  /**
   * Repeats the same write until Redis has answered: the fence keeps that safe, however long it takes. Rejects when
   * `patience` is aborted before. `sent` is told when it was written for the first time.
   */
  end(data: EndData, patience: AbortSignal, sent?: () => void): Promise<Applied | Refusal> {
    const guard = this.guard();
    return this.insist(() => this.log.end({ callId: this.callId, guard, data, author: this.author }, sent), patience);
  }

  private guard(): WorkerGuard {
    this.wseq += 1;
    return { by: 'worker', fence: this.fence, wseq: this.wseq };
  }

  private async insist(write: () => Promise<Applied | Refusal>, patience: AbortSignal): Promise<Applied | Refusal> {
    const impatient = whenAborted(patience);
    try {
      for (;;) {
        try {
          const answer = await Promise.race([write(), impatient.promise]);
          this.noticed(answer);
          return answer;
        } catch (error) {
          if (patience.aborted || error instanceof RangeError) throw error;
          await Promise.race([new Promise((resolve) => setTimeout(resolve, AGAIN_MS)), impatient.promise]);
        }
      }
    } finally {
      impatient.close();
    }
  }

  private noticed(answer: Applied | Refusal): void {
    if (answer.code === 'FENCED' || answer.code === 'ENDED' || answer.code === 'NOT_FOUND') this.onLost();
  }
}

/** Rejects when the signal is aborted, and listens no longer than until `close`. */
function whenAborted(signal: AbortSignal): { readonly promise: Promise<never>; close(): void } {
  let listener = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    listener = () => reject(new Error('The worker left before the log had answered.'));
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  });
  promise.catch(() => {});
  return { promise, close: () => signal.removeEventListener('abort', listener) };
}
