import type { EndData, HookRunData, InputRequestedData, ProgressData, RetryData, TurnData, UpdateData } from '#contracts';
import type { ForcedShutdown } from '../forced-shutdown.js';
import {
  EventLogTenantFull,
  type Applied,
  type EventOrigin,
  type WorkerIdentity,
  type EventLogWriter,
  type Rejection,
  type WorkerGuard,
} from '#event-log';

const RETRY_MS = 250;
/** Bytes of an event besides its data: about those of the facts of its call. */
const EVENT_BYTES = 512;

/** Redis is above maxmemory, or the tenant at its limit. Not retried, since a retry would hold the slot. */
export class StateNotStored extends Error {}

/** Source and actor of every event that a worker writes. */
export function workerOrigin(workerId: string): EventOrigin {
  return { source: `/worker/${workerId}`, actor: `worker:${workerId}` };
}

export function workerIdentity({ id, leaseMs }: { readonly id: string; readonly leaseMs: number }): WorkerIdentity {
  return { worker: id, leaseMs, author: workerOrigin(id) };
}

/**
 * Writes the events of one attempt. Numbers them, so that the log applies a repeated write once. Calls `onLeaseLost`
 * when the log refuses a write because another worker owns the call or it has ended.
 */
export class AttemptWriter {
  constructor(
    private readonly log: Pick<EventLogWriter, 'update' | 'progress' | 'hook' | 'turn' | 'retry' | 'suspend' | 'requestInput' | 'end'>,
    private readonly callId: string,
    private readonly fence: number,
    private readonly origin: EventOrigin,
    private readonly onLeaseLost: () => void,
    /** Sequence number of the last write. */
    private writeSeq = 0,
    /** Bytes of the attempt in Redis until its call has ended: updates, progress, hook runs, turns. */
    private keptBytes = 0,
  ) {}

  /** Writes an update of so many bytes for watchers: not awaited, and dropped on failure. */
  update(data: UpdateData, updates: string, bytes: number): void {
    this.keptBytes += EVENT_BYTES + bytes;
    this.unawaited(this.log.update({ callId: this.callId, guard: this.guard(), data, updates, author: this.origin }));
  }

  progress(data: ProgressData): void {
    this.keptBytes += EVENT_BYTES + (data.message?.length ?? 0);
    this.unawaited(this.log.progress({ callId: this.callId, guard: this.guard(), data, author: this.origin }));
  }

  /** Writes a hook run, like `update`. Later events of the attempt follow it in the log. */
  hook(data: HookRunData): void {
    this.keptBytes += EVENT_BYTES + JSON.stringify(data).length;
    this.unawaited(this.log.hook({ callId: this.callId, guard: this.guard(), data, author: this.origin }));
  }

  /** Suspends the call, repeated like `end`; `store` stores the values that the event refers to, and is repeated with it. */
  suspend(data: RetryData | InputRequestedData, shutdown: ForcedShutdown, store: () => Promise<void>): Promise<Applied | Rejection> {
    const common = { callId: this.callId, guard: this.guard(), keptBytes: this.keptBytes, author: this.origin };
    const write = () => ('reason' in data ? this.log.suspend({ ...common, data }) : this.log.requestInput({ ...common, data }));
    return this.retryUntilAcknowledged(() => store().then(write), shutdown);
  }

  /** Repeated like `end`. `journalBytes`: what the journal keeps of the turn. */
  turn(data: TurnData, journalBytes: number, shutdown: ForcedShutdown): Promise<Applied | Rejection> {
    this.keptBytes += EVENT_BYTES + JSON.stringify(data).length + journalBytes;
    const guard = this.guard();
    return this.retryUntilAcknowledged(() => this.log.turn({ callId: this.callId, guard, data, author: this.origin }), shutdown);
  }

  /** Repeated like `end`. */ retry(data: RetryData, countsAsFailure: boolean, shutdown: ForcedShutdown): Promise<Applied | Rejection> {
    const guard = this.guard();
    return this.retryUntilAcknowledged(
      () => this.log.retry({ callId: this.callId, guard, data, countsAsFailure, author: this.origin }),
      shutdown,
    );
  }

  /**
   * Repeats the same write until Redis has answered, which the fence makes safe. Rejects if a forced shutdown comes first.
   * `sent` is called after the first write.
   */
  end(data: EndData, shutdown: ForcedShutdown, sent?: () => void): Promise<Applied | Rejection> {
    const guard = this.guard();
    return this.retryUntilAcknowledged(() => this.log.end({ callId: this.callId, guard, data, author: this.origin }, sent), shutdown);
  }

  private guard(): WorkerGuard {
    this.writeSeq += 1;
    return { by: 'worker', fence: this.fence, writeSeq: this.writeSeq };
  }

  private async retryUntilAcknowledged(write: () => Promise<Applied | Rejection>, shutdown: ForcedShutdown): Promise<Applied | Rejection> {
    const shutdownRace = raceShutdown(shutdown);
    try {
      for (;;) {
        try {
          const answer = await Promise.race([write(), shutdownRace.promise]);
          this.detectFencing(answer);
          return answer;
        } catch (error) {
          const isFinal = error instanceof RangeError || error instanceof StateNotStored || error instanceof EventLogTenantFull;
          if (shutdown.triggered || isFinal) throw error;
          await Promise.race([new Promise((resolve) => setTimeout(resolve, RETRY_MS)), shutdownRace.promise]);
        }
      }
    } finally {
      shutdownRace.close();
    }
  }

  private unawaited(written: Promise<Applied | Rejection>): void {
    void written.then(
      (answer) => this.detectFencing(answer),
      () => {},
    );
  }

  private detectFencing(answer: Applied | Rejection): void {
    if (answer.code === 'FENCED' || answer.code === 'ENDED' || answer.code === 'NOT_FOUND') this.onLeaseLost();
  }
}

/** Rejects at a forced shutdown. `close` removes its listener. */
function raceShutdown(shutdown: ForcedShutdown): { readonly promise: Promise<never>; close(): void } {
  let close = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    close = shutdown.on(() => reject(new Error('Forced shutdown before the log acknowledged the event.')));
  });
  promise.catch(() => {});
  return { promise, close };
}
