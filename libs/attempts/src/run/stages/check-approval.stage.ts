import { assertApproved } from '../approved-call.js';
import type { AttemptStage } from '../attempt-run.js';

/** Checks that a call that needed an approval runs exactly as approved. */
export const checkApprovalStage: AttemptStage = {
  name: 'check_approval',
  run({ claimed, inputs, tool }) {
    assertApproved(tool, claimed.submitted, inputs.approved);
  },
};
