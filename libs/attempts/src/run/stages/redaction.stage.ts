import type { AttemptStage } from '../attempt-run.js';

/** Loads the redaction settings of the call. Most calls have the defaults, which need no look-up. */
export const redactionStage: AttemptStage = {
  name: 'redaction',
  run(run) {
    const digest = run.claimed.submitted.safety;
    const { redaction } = run.deps;
    if (digest === undefined) {
      run.redaction = redaction.defaults;
      return;
    }
    return redaction.of(digest).then((active) => void (run.redaction = active));
  },
};
