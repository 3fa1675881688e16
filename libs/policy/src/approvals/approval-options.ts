import type { ApprovalOption, TrustOption } from '#contracts';

const YES: ApprovalOption = { id: 'allow_once', label: 'Yes', decision: 'allow', scope: 'once' };
const ALWAYS: ApprovalOption = { id: 'allow_always_tool', label: 'Always', decision: 'allow', scope: 'session-tool' };
const ALWAYS_THESE: ApprovalOption = {
  id: 'allow_always_args',
  label: 'Always for these arguments',
  decision: 'allow',
  scope: 'session-args',
};
const NO: ApprovalOption = { id: 'reject_once', label: 'No', decision: 'deny', scope: 'once' };
const NEVER: ApprovalOption = { id: 'reject_always_tool', label: 'Never', decision: 'deny', scope: 'session-tool' };

/** The answers a person can give. What lasts needs a session to last in; trust in arguments needs something to trust. */
export function approvalOptions(inSession: boolean, trustOptions: readonly TrustOption[]): ApprovalOption[] {
  if (!inSession) return [YES, NO];
  return [YES, ALWAYS, ...(trustOptions.length > 0 ? [ALWAYS_THESE] : []), NO, NEVER];
}
