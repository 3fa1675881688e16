import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { SwapRemoveList } from '../swap-remove-list.js';
import { type HeldLease, LeaseTable } from './lease-table.js';
import type { LeaseNotice } from './renewal-loop.js';

/** What the renewing thread is started with. */
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

/** Runs a renewal loop over the table until closed; `failed` means that nobody renews any more. */
export type StartRenewal = (table: LeaseTable, notify: (notice: LeaseNotice) => void, failed: (error: Error) => void) => Renewal;

export interface Renewal {
  /** Whether its connection to Redis stands; left out where there is none. */
  readonly connected?: boolean;
  close(): Promise<void>;
}

/** Holds the leases of this process. What happens to a lease is told until it is given back, never afterwards. */
export class LeaseRenewer {
  private readonly table: LeaseTable;
  private readonly held = new SwapRemoveList<{ readonly lease: HeldLease; readonly listener: LeaseListener }>();
  private renewal: Renewal;
  private closed = false;
  private healthy = true;

  constructor(
    rows: number,
    private readonly start: StartRenewal,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.table = LeaseTable.ofSize(rows);
    this.renewal = this.startRenewal();
  }

  /** Whether renewals run and reach Redis. */
  get alive(): boolean {
    return this.healthy && !this.closed && this.renewal.connected !== false;
  }

  /** Returns how to give the lease back; doing that twice does nothing. */
  hold(callId: string, fence: number, listener: LeaseListener): () => void {
    const lease = this.table.take(callId, fence);
    const held = { lease, listener };
    this.held.add(held);
    return () => {
      this.held.delete(held);
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
      (notice) => this.deliver(notice),
      (error) => this.restart(error),
    );
  }

  private deliver(notice: LeaseNotice): void {
    const held = this.held.all().find(({ lease }) => lease.generation === notice.generation);
    if (!held) return;
    if (notice.kind === 'cancel') held.listener.cancelRequested();
    else held.listener.lost();
  }

  /** A renewal that ended by itself is started again once a second: leases in the table stay and are renewed late, or are found lost. */
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

/** The renewal loop in a thread of its own. */
export function renewInThread(data: Omit<LeaseThreadData, 'memory'>): StartRenewal {
  return (table, notify, failed) => {
    const thread = new Worker(new URL('./lease-renewal.thread.js', import.meta.url), {
      workerData: { ...data, memory: table.memory } satisfies LeaseThreadData,
    });
    let closing = false;
    let connected = false;
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.on('message', (message: LeaseNotice | { readonly connected: boolean }) => {
      if ('connected' in message) connected = message.connected;
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
