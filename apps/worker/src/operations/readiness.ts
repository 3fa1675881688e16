import type { LeaseRenewer } from '#attempts';
import { silentConnection } from '#platform';
import type { WorkerState } from '../platform/worker-state.js';

/** Readiness of this worker: false while it drains, a connection to Redis does not answer, or leases are not renewed. */
export class Readiness {
  constructor(
    private readonly state: WorkerState,
    private readonly leases: LeaseRenewer,
    private readonly redisUrl: string,
  ) {}

  /** Reason why the worker is not ready; undefined if it is. Never rejects. */
  async notReadyReason(): Promise<string | undefined> {
    if (this.state.draining) return 'This worker is stopping';
    if (!this.leases.alive) return 'Leases are not renewed';
    const silent = await silentConnection(this.redisUrl);
    return silent && `Redis does not answer on the connection ${silent}`;
  }
}
