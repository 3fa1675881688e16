import type { CallErrorCode, FailureGroup } from '#contracts';

export type FailureMark = 'new' | 'back';

/**
 * `new`: nothing of the kind is kept from before the period. `back`: the kind was away for at least as long as the period before it
 * came again.
 */
export function markOf(
  { firstSeen, previousSeen }: Pick<FailureGroup, 'firstSeen' | 'previousSeen'>,
  windowMs: number,
): FailureMark | undefined {
  if (previousSeen === undefined) return 'new';
  return Date.parse(firstSeen) - Date.parse(previousSeen) >= windowMs ? 'back' : undefined;
}

/** Reasons that the same call with the same arguments meets again. */
const CERTAIN: readonly CallErrorCode[] = [
  'invalid_arguments',
  'not_found',
  'policy_denied',
  'approval_denied',
  'hook_rejected',
  'output_invalid',
];

/** True if the same calls may end otherwise when they run again. */
export function mayReplayHelp(code: CallErrorCode | undefined): boolean {
  return code === undefined || !CERTAIN.includes(code);
}
