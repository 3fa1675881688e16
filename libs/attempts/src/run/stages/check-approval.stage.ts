import { assertApproved } from '../approved-call.js';
import type { AttemptStage } from '../attempt-run.js';

/** A call that needed an approval runs only with exactly what was approved. */
export const checkApprovalStage: AttemptStage = {
  name: 'check_approval',
  run({ claimed, inputs, tool }) {
    assertApproved(tool, claimed.submitted, inputs.approved);
  },
};
