import type { AttemptStage } from '../attempt-run.js';
import { loadHooks } from '../call-hooks.js';

/** Loads the hooks of the call, if any. On failure `hooks.unavailable` prevents the run of the tool. */
export const hooksStage: AttemptStage = {
  name: 'hooks',
  run(run) {
    const { attempt, claimed, deps, redaction, writer } = run;
    const digest = claimed.submitted.hooks;
    if (digest === undefined) return;
    return loadHooks(digest, attempt, claimed, redaction.safety, writer.hook.bind(writer), deps).then((hooks) => void (run.hooks = hooks));
  },
};
