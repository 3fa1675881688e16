import type { SubmittedData, ToolDescriptor } from '#contracts';
import { approvalDigest } from '#policy';
import { ToolFailure } from '#tools';

/**
 * What runs is what a person approved: the same tool in the same version with the same arguments, to the byte. Looked at
 * with the very values that the tool is about to get. Throws a ToolFailure when the approval does not cover them; calls
 * that nobody had to approve pass.
 */
export function checkApproved(tool: Pick<ToolDescriptor, 'name' | 'version'>, submitted: SubmittedData, args: unknown): void {
  if (submitted.decision.effect !== 'ask') return;
  if (tool.version !== submitted.toolVersion)
    throw voided(`The approval is void: ${tool.name} has changed since it was given. Submit the call again.`);
  if (approvalDigest(submitted.tool, tool.version, args) !== submitted.argumentsDigest)
    throw voided('The approval is void: the arguments are not the ones that were approved. Submit the call again.');
}

function voided(message: string): ToolFailure {
  return new ToolFailure('approval_denied', message, { retryable: false });
}
