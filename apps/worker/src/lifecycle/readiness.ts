import { answersPing } from '#lifecycle';
import type { RedisConnection } from '#redis';
import type { LeaseRenewer } from '../lease/lease-renewer.js';
import type { WorkerState } from './worker-state.js';

/** Does this worker take calls? Not while it drains, while Redis does not answer, or while nobody renews its leases. */
export class Readiness {
  constructor(
    private readonly state: WorkerState,
    private readonly leases: LeaseRenewer,
    private readonly redis: RedisConnection,
  ) {}

  /** Why not; undefined when it does. Never rejects. */
  async obstacle(): Promise<string | undefined> {
    if (this.state.draining) return 'This worker is stopping';
    if (!this.leases.alive) return 'Leases are not renewed';
    return (await answersPing(this.redis)) ? undefined : 'Redis does not answer';
  }
}
