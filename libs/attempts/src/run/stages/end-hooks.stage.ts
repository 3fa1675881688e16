import { isApplied } from '#event-log';
import type { AttemptStage } from '../attempt-run.js';
import { NO_HOOKS } from '../call-hooks.js';

/** Runs the hooks that observe the End. Their answers change nothing. */
export const endHooksStage: AttemptStage = {
  name: 'end_hooks',
  run({ committed, hooks }) {
    if (hooks === NO_HOOKS || committed?.kind !== 'ended' || !isApplied(committed.answer)) return;
    return hooks.runAfterEnd(committed.data);
  },
};
