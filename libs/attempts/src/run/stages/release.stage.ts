import type { AttemptStage } from '../attempt-run.js';

/** Releases the lease and ends the span of the attempt. `executeAttempt` does the same after a rejected stage. */
export const releaseStage: AttemptStage = {
  name: 'release',
  run(run) {
    run.releaseLease?.();
    run.trace?.end(run.committed);
  },
};
