import { ToolFailure, type Workspace } from '../tool.port.js';
import { isWithin, parseWorkspacePath, type WorkspacePath } from './workspace-path.js';

/** Where a path of a model leads: the folder that confines it, and the way from there. */
export interface FilePlace {
  readonly root: string;
  readonly path: WorkspacePath;
  /** Where writers keep each other out; beside the root when it is not said. */
  readonly locks?: string;
}

/**
 * The workspace, or the innermost shared root that an absolute path names. Throws a ToolFailure for a path that leaves its
 * folder, and for writing where one may only read.
 */
export function filePlace({ root, roots = [] }: Workspace, given: string, access: 'read' | 'write'): FilePlace {
  const around = roots.filter(({ path }) => !isWithin(given, root) && isWithin(given, path));
  const [inner, ...others] = around;
  if (inner === undefined) return { root, path: parseWorkspacePath(root, given) };
  const shared = others.reduce((best, it) => (it.path.length > best.path.length ? it : best), inner);
  const { names } = parseWorkspacePath(shared.path, given);
  const shown = [shared.path, ...names].join('/');
  if (access === 'write' && shared.access === 'read')
    throw new ToolFailure('policy_denied', `Path not allowed: ${shown}. ${shared.path} is read-only; write to the workspace instead.`);
  return { root: shared.path, path: { names, shown }, locks: shared.locks };
}
