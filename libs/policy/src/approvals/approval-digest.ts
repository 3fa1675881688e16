import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Digest of an approved call: the tool, its version, and the arguments in canonical form (RFC 8785). The gateway stores it with
 * the question; the worker recomputes it before the run.
 */
export function approvalDigest(tool: string, version: string, args: unknown): string {
  return hash('sha256', canonicalize({ tool, version, arguments: args }) ?? '');
}
