import type { AttemptStage } from '../attempt-run.js';

/**
 * Gives the lease back and ends the span of the attempt. `executeAttempt` does the same for an attempt that broke off.
 */
export const releaseStage: AttemptStage = {
  name: 'release',
  run(run) {
    run.releaseLease?.();
    run.trace?.end(run.committed);
  },
};
