import type { SubmittedData, ToolDescriptor } from '#contracts';
import { approvalDigest, capabilityProfileOf } from '#policy';
import { ToolError } from '#tool-sdk';

/**
 * Checks that a person approved exactly this version of the tool with these arguments, to the byte. No effect for a call that
 * needed no approval.
 *
 * @throws ToolError if the approval does not cover them
 */
export function assertApproved(tool: Pick<ToolDescriptor, 'name' | 'version'>, submitted: SubmittedData, args: unknown): void {
  if (submitted.decision.effect !== 'ask') return;
  if (tool.version !== submitted.toolVersion)
    throw approvalVoid(`The approval is void: ${tool.name} has changed since it was given. Submit the call again.`);
  if (approvalDigest(submitted.tool, tool.version, args) !== submitted.argumentsDigest)
    throw approvalVoid('The approval is void: the arguments are not the ones that were approved. Submit the call again.');
}

/**
 * Checks that the tool has no more capabilities than the gateway evaluated.
 *
 * @throws ToolError if its tier or capability profile in this worker differs from that in the gateway; names both
 */
export function assertCapabilities(
  { name, tier, subjects }: Pick<ToolDescriptor, 'name' | 'tier' | 'subjects'>,
  submitted: SubmittedData,
): void {
  const { capabilityProfile: submittedProfile } = submitted;
  if (submittedProfile !== undefined) {
    const own = capabilityProfileOf(subjects);
    if (submittedProfile !== own) throw capabilityMismatch(name, `has the capability profile ${own}`, submittedProfile);
  }
  if (submitted.tier !== tier) throw capabilityMismatch(name, `is ${tier}`, submitted.tier);
}

function capabilityMismatch(name: string, here: string, before: string): ToolError {
  const message = `Refused: ${name} ${here} in this worker, and the call was evaluated under ${before}. Submit the call again.`;
  return new ToolError('policy_denied', message, { retryable: false });
}

function approvalVoid(message: string): ToolError {
  return new ToolError('approval_denied', message, { retryable: false });
}
