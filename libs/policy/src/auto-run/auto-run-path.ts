import type { CallFacts } from '../call-facts.js';
import { isWithin, normalizePath } from '../patterns/lexical-path.js';
import { autoRunReason } from './auto-run-files.js';
import { buildFileReason, isBuildFile } from './build-files.js';
import { trustSource } from '../risk-arguments/evaluate-path.js';

/** Reason why later commands run the file at a settled absolute path, without the folders around the workspace. */
export function autoRunReasonAt(at: string, facts: CallFacts): string | undefined {
  return autoRunReason(inWorkspace(at, facts)) ?? buildFileReason(at, facts);
}

function inWorkspace(at: string, { workspaceRoot }: Pick<CallFacts, 'workspaceRoot'>): string {
  const root = normalizePath(workspaceRoot);
  return isWithin(at, root) ? at.slice(root.length) : at;
}

/** Trust to write a path whose own text names such a file: `.git/hooks` and `**\/.npmrc` do, `**` and the workspace do not. */
export function autoRunTrust(at: string, facts: Pick<CallFacts, 'tool' | 'policy' | 'grants' | 'workspaceRoot'>): string | undefined {
  return trustSource(at, 'write', facts, (trusted) => autoRunReason(inWorkspace(trusted, facts)) !== undefined || isBuildFile(trusted));
}
