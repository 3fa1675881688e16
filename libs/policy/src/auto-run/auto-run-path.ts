import type { CallFacts } from '../call-facts.js';
import { isWithin, normalizePath } from '../patterns/lexical-path.js';
import { autoRunReason } from './auto-run-files.js';
import { trustSource } from '../risk-arguments/evaluate-path.js';

/** `autoRunReason` of a settled absolute path, without the folders around the workspace. */
export function autoRunReasonAt(at: string, workspaceRoot: string): string | undefined {
  const root = normalizePath(workspaceRoot);
  return autoRunReason(isWithin(at, root) ? at.slice(root.length) : at);
}

/** Trust to write a path whose own text names such a file: `.git/hooks` and `**\/.npmrc` do, `**` and the workspace do not. */
export function autoRunTrust(at: string, facts: Pick<CallFacts, 'tool' | 'policy' | 'grants' | 'workspaceRoot'>): string | undefined {
  return trustSource(at, 'write', facts, (trusted) => autoRunReasonAt(trusted, facts.workspaceRoot) !== undefined);
}
