import type { EventLogWriter } from '#event-log';
import { monotonicNow, type HeldLease, type LeaseTable } from './lease-table.js';

export interface LeaseEvent {
  readonly slot: number;
  readonly generation: number;
  /** `lost`: another worker owns the call, or the lease was not renewed in time. `cancel`: a cancel was requested. */
  readonly kind: 'lost' | 'cancel';
}

/** Share of its length after which a lease is renewed, and after which, without a renewal, it counts as lost. */
const RENEW_AFTER = 1 / 3;
const LOST_AFTER = 2 / 3;
const CHECKS_PER_LEASE = 12;

/**
 * Renews every due lease of the table; leases of one check go to Redis in one script run. Runs in a thread of its own, so that
 * no tool delays it. Events may repeat, and may come after a lease was released.
 */
export class RenewalLoop {
  private readonly inFlight = new Set<number>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly log: Pick<EventLogWriter, 'renew'>,
    private readonly table: LeaseTable,
    private readonly leaseMs: number,
    private readonly notify: (event: LeaseEvent) => void,
  ) {
    this.timer = setInterval(() => this.check(), Math.max(10, leaseMs / CHECKS_PER_LEASE));
  }

  /** Idempotent. Does not wait for renewals in flight. */
  close(): void {
    clearInterval(this.timer);
  }

  check(): void {
    const now = monotonicNow();
    for (const lease of this.table.held()) {
      const age = now - lease.renewedAt;
      if (age >= this.leaseMs * LOST_AFTER) this.notify({ slot: lease.slot, generation: lease.generation, kind: 'lost' });
      else if (age >= this.leaseMs * RENEW_AFTER && !this.inFlight.has(lease.generation)) void this.renew(lease, now);
    }
  }

  private async renew(lease: HeldLease, now: number): Promise<void> {
    const { slot, generation, callId, fence } = lease;
    this.inFlight.add(generation);
    try {
      const answer = await this.log.renew({ callId, fence, leaseMs: this.leaseMs });
      if (answer.code !== 'OK') this.notify({ slot, generation, kind: 'lost' });
      else {
        this.table.renewed(lease, now);
        if (answer.cancelRequested) this.notify({ slot, generation, kind: 'cancel' });
      }
    } catch {
      // Redis is unreachable: the next check retries, until two thirds of the lease are over.
    } finally {
      this.inFlight.delete(generation);
    }
  }
}
