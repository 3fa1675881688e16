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

/** Possible answers of a person. Lasting answers require a session; trust in arguments requires trust options. */
export function approvalOptions(inSession: boolean, trustOptions: readonly TrustOption[]): ApprovalOption[] {
  if (!inSession) return [YES, NO];
  return [YES, ALWAYS, ...(trustOptions.length > 0 ? [ALWAYS_THESE] : []), NO, NEVER];
}
