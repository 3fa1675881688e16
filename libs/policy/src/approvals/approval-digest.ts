import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * What an approval is bound to: the tool, its version, and the arguments in canonical form (RFC 8785). The gateway stores it
 * with the question, and the worker computes it again from what it is about to run.
 */
export function approvalDigest(tool: string, version: string, args: unknown): string {
  return hash('sha256', canonicalize({ tool, version, arguments: args }) ?? '');
}
