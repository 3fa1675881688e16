import type { LeaseRenewer } from '#attempts';
import { silentConnection } from '#platform';
import type { RedisConnection } from '#redis';
import type { WorkerState } from '../platform/worker-state.js';

/** Not ready while this worker drains, while a connection to Redis does not answer, or while its leases are not renewed. */
export class Readiness {
  constructor(
    private readonly state: WorkerState,
    private readonly leases: LeaseRenewer,
    private readonly connections: () => readonly RedisConnection[],
  ) {}

  /** Why it is not ready; undefined when it is. Never rejects. */
  async notReadyReason(): Promise<string | undefined> {
    if (this.state.draining) return 'This worker is stopping';
    if (!this.leases.alive) return 'Leases are not renewed';
    const silent = await silentConnection(this.connections());
    return silent && `Redis does not answer on the connection ${silent}`;
  }
}
