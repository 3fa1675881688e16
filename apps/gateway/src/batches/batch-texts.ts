import type { BatchStop } from '#contracts';
import type { BatchSlot } from './batch.decider.js';

/** `detail` of a batch that was aborted because of malformed JSON in arguments; the texts of other aborts are shorter. */
export const INVALID_JSON = 'a call had invalid JSON';
export const NOT_ALL_MAY_RUN = 'not every call may run';

/** Text for the model in place of the result of a call that its batch did not run. */
export function skippedText({ reason, detail }: BatchStop, state: BatchSlot['state']): string {
  switch (reason) {
    case 'steered':
      return 'Skipped due to queued user message.';
    case 'cancelled':
      return state === 'asking' || state === 'approved' ? 'Tool use was cancelled by the user' : 'Cancelled';
    case 'aborted':
      if (detail === INVALID_JSON) return 'Tool use was not executed because another tool use in the same response had invalid JSON';
      return state === 'approved' ? 'Tool use was approved, but did not execute' : 'Tool use was not executed';
    case 'forbidden':
      return `Tool use was not executed: ${detail}`;
    default:
      return reason satisfies never;
  }
}
