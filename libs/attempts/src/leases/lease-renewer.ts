import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { SwapRemoveList } from '../swap-remove-list.js';
import { type HeldLease, LeaseTable } from './lease-table.js';
import type { LeaseEvent } from './renewal-loop.js';

/** Start data of the renewing thread. */
export const LeaseThreadData = z.object({
  redisUrl: z.string(),
  partitions: z.number(),
  leaseMs: z.number(),
  name: z.string(),
  memory: z.instanceof(SharedArrayBuffer),
});
export type LeaseThreadData = z.output<typeof LeaseThreadData>;

export interface LeaseListener {
  lost(): void;
  cancelRequested(): void;
}

/** Runs a renewal loop over the table until closed. Calls `failed` if the loop ends by itself. */
export type StartRenewal = (table: LeaseTable, notify: (event: LeaseEvent) => void, failed: (error: Error) => void) => Renewal;

export interface Renewal {
  /** State of its own connection to Redis; absent without one. */
  readonly connected?: boolean;
  close(): Promise<void>;
}

/** Holds the leases of this process. A listener is called until its lease is released, never afterwards. */
export class LeaseRenewer {
  private readonly table: LeaseTable;
  private readonly entries = new SwapRemoveList<{ readonly lease: HeldLease; readonly listener: LeaseListener }>();
  private renewal: Renewal;
  private closed = false;
  private healthy = true;

  constructor(
    slots: number,
    private readonly start: StartRenewal,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.table = LeaseTable.ofSize(slots);
    this.renewal = this.startRenewal();
  }

  /** True while renewals run and reach Redis. */
  get alive(): boolean {
    return this.healthy && !this.closed && this.renewal.connected !== false;
  }

  /** Returns a function that releases the lease. Idempotent. */
  hold(callId: string, fence: number, listener: LeaseListener): () => void {
    const lease = this.table.take(callId, fence);
    const entry = { lease, listener };
    this.entries.add(entry);
    return () => {
      this.entries.delete(entry);
      this.table.release(lease);
    };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.renewal.close();
  }

  private startRenewal(): Renewal {
    return this.start(
      this.table,
      (event) => this.deliver(event),
      (error) => this.restart(error),
    );
  }

  private deliver(event: LeaseEvent): void {
    const entry = this.entries.all().find(({ lease }) => lease.generation === event.generation);
    if (!entry) return;
    if (event.kind === 'cancel') entry.listener.cancelRequested();
    else entry.listener.lost();
  }

  /**
   * Restarts a renewal that ended by itself, once a second. Leases stay in the table and are renewed late, or found
   * lost.
   */
  private restart(error: Error): void {
    if (this.closed) return;
    this.healthy = false;
    this.onFailure(error);
    const timer = setTimeout(() => {
      if (this.closed) return;
      this.renewal = this.startRenewal();
      this.healthy = true;
    }, 1_000);
    timer.unref();
  }
}

/** Starts the renewal loop in a thread of its own. `onDiskFault`: see `EventLog`. */
export function renewInThread(
  data: Omit<LeaseThreadData, 'memory'>,
  onDiskFault: (refusal: string | undefined) => void = () => {},
): StartRenewal {
  return (table, notify, failed) => {
    const thread = new Worker(new URL('./lease-renewal.thread.js', import.meta.url), {
      workerData: { ...data, memory: table.memory } satisfies LeaseThreadData,
    });
    let closing = false;
    let connected = false;
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.on('message', (message: LeaseEvent | { readonly connected: boolean } | { readonly refusal: string | undefined }) => {
      if ('connected' in message) connected = message.connected;
      else if ('refusal' in message) onDiskFault(message.refusal);
      else notify(message);
    });
    thread.once('error', (error) => failed(error instanceof Error ? error : new Error(String(error))));
    thread.once('exit', (code) => {
      if (!closing && code === 0) failed(new Error('The lease renewal thread ended.'));
    });
    return {
      get connected() {
        return connected;
      },
      close: async () => {
        closing = true;
        thread.postMessage('close');
        const timer = setTimeout(() => void thread.terminate(), 2_000);
        await ended;
        clearTimeout(timer);
      },
    };
  };
}
