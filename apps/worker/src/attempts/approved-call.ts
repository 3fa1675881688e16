import type { SubmittedData, ToolDescriptor } from '#contracts';
import { approvalDigest, capabilityProfileOf } from '#policy';
import { ToolError } from '#tool-sdk';

/**
 * What runs is what a person approved: the same tool in the same version with the same arguments, to the byte. Looked at
 * with the very values that the tool is about to get. Throws a ToolError when the approval does not cover them; calls
 * that nobody had to approve pass.
 */
export function assertApproved(tool: Pick<ToolDescriptor, 'name' | 'version'>, submitted: SubmittedData, args: unknown): void {
  if (submitted.decision.effect !== 'ask') return;
  if (tool.version !== submitted.toolVersion)
    throw approvalVoid(`The approval is void: ${tool.name} has changed since it was given. Submit the call again.`);
  if (approvalDigest(submitted.tool, tool.version, args) !== submitted.argumentsDigest)
    throw approvalVoid('The approval is void: the arguments are not the ones that were approved. Submit the call again.');
}

/**
 * What runs may touch no more than what was judged: a tool that has another tier or capability profile in this worker than
 * in the gateway that let the call in is refused. Throws a ToolError that names both.
 */
export function assertCapabilities(
  { name, tier, subjects }: Pick<ToolDescriptor, 'name' | 'tier' | 'subjects'>,
  submitted: SubmittedData,
): void {
  const { capabilityProfile: judged } = submitted;
  if (judged !== undefined) {
    const own = capabilityProfileOf(subjects);
    if (judged !== own) throw capabilityMismatch(name, `has the capability profile ${own}`, judged);
  }
  if (submitted.tier !== tier) throw capabilityMismatch(name, `is ${tier}`, submitted.tier);
}

function capabilityMismatch(name: string, here: string, judged: string): ToolError {
  const message = `Refused: ${name} ${here} in this worker, and the call was judged under ${judged}. Submit the call again.`;
  return new ToolError('policy_denied', message, { retryable: false });
}

function approvalVoid(message: string): ToolError {
  return new ToolError('approval_denied', message, { retryable: false });
}
