import type { EventLogWriter } from '#event-log';
import { sharedNow, type HeldLease, type LeaseTable } from './lease-table.js';

export interface LeaseNotice {
  readonly row: number;
  readonly generation: number;
  /** `lost`: the call belongs to somebody else, or could not be renewed for too long. `cancel`: somebody asked for it. */
  readonly kind: 'lost' | 'cancel';
}

/** A lease is renewed every third of its length; when that did not succeed for two thirds, the work is given up. */
const RENEW_AFTER = 1 / 3;
const LOST_AFTER = 2 / 3;
const LOOKS_PER_LEASE = 12;

/**
 * Renews every lease of the table that is due, all of one look in one script run. Lives in a thread of its own, so that
 * no tool can hold it up. Notices may come more than once and after the lease was given back.
 */
export class RenewalLoop {
  private readonly inFlight = new Set<number>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly log: Pick<EventLogWriter, 'renew'>,
    private readonly table: LeaseTable,
    private readonly leaseMs: number,
    private readonly notify: (notice: LeaseNotice) => void,
  ) {
    this.timer = setInterval(() => this.look(), Math.max(10, leaseMs / LOOKS_PER_LEASE));
  }

  /** Idempotent. What is in flight is not waited for. */
  close(): void {
    clearInterval(this.timer);
  }

  look(): void {
    const now = sharedNow();
    for (const lease of this.table.held()) {
      const age = now - lease.renewedAt;
      if (age >= this.leaseMs * LOST_AFTER) this.notify({ row: lease.row, generation: lease.generation, kind: 'lost' });
      else if (age >= this.leaseMs * RENEW_AFTER && !this.inFlight.has(lease.generation)) void this.renew(lease, now);
    }
  }

  private async renew(lease: HeldLease, now: number): Promise<void> {
    const { row, generation, callId, fence } = lease;
    this.inFlight.add(generation);
    try {
      const answer = await this.log.renew({ callId, fence, leaseMs: this.leaseMs });
      if (answer.code !== 'OK') this.notify({ row, generation, kind: 'lost' });
      else {
        this.table.renewed(lease, now);
        if (answer.cancelRequested) this.notify({ row, generation, kind: 'cancel' });
      }
    } catch {
      // Redis is out of reach: the next look tries again until two thirds of the lease are over.
    } finally {
      this.inFlight.delete(generation);
    }
  }
}
