import { resolve } from 'node:path';
import { type DeniedPaths, ToolError, type Workspace, type WorkspaceQuota } from '#tool-sdk';
import { isWithin, parseWorkspacePath, pathNotAllowed, type WorkspacePath } from './workspace-path.js';

/** Target of a model's path: the folder that confines it, and the path below. */
export interface ResolvedFile {
  readonly root: string;
  readonly path: WorkspacePath;
  /** Folder of the writers' locks; default: beside the root. */
  readonly locks?: string;
  /**
   * `refuse`: the path itself was opened, and a symbolic link on the way would lead elsewhere. Otherwise links are followed
   * below the root.
   */
  readonly symlinks?: 'refuse';
  readonly denied?: DeniedPaths;
  readonly autoRunReason?: Workspace['autoRunReason'];
  /** Quota of a workspace; absent for other places. */
  readonly quota?: WorkspaceQuota;
}

/**
 * The workspace, the very path if it was opened for this call, or the innermost shared root that an absolute path names.
 * @throws ToolError `policy_denied` for a path that leaves its folder, for a denied one, and for writing where one may only read,
 * `unavailable` where the files of the call are on another host.
 */
export function resolveFile(workspace: Workspace, given: string, access: 'read' | 'write'): ResolvedFile {
  assertOnWorker(workspace);
  const place = placeOf(workspace, given, access);
  assertNotDenied(place, place.path.names, access);
  return place;
}

function placeOf(
  { root, roots = [], opened = [], unavailable = [], denied, autoRunReason, quota }: Workspace,
  given: string,
  access: 'read' | 'write',
): ResolvedFile {
  const rules = { ...(denied && { denied }), ...(autoRunReason && { autoRunReason }) };
  const absolute = resolve(root, given);
  const very = opened.find((it) => it.path === absolute && (access === 'read' || it.access === 'write'));
  if (very !== undefined && !isWithin(absolute, root)) {
    const { names } = parseWorkspacePath('/', absolute);
    return { root: '/', path: { names, displayPath: absolute }, locks: very.locks, symlinks: 'refuse', ...rules };
  }
  if (unavailable.includes(absolute))
    throw new ToolError(
      'policy_denied',
      `Path not allowed: ${absolute}. The decision allows it, but this worker opens no path there: its operator names the folders in OUTSIDE_ROOTS.`,
    );
  const around = roots.filter(({ path }) => !isWithin(given, root) && isWithin(given, path));
  const [inner, ...others] = around;
  if (inner === undefined) return { root, path: parseWorkspacePath(root, given), ...rules, ...(quota === undefined ? {} : { quota }) };
  const shared = others.reduce((best, it) => (it.path.length > best.path.length ? it : best), inner);
  const { names } = parseWorkspacePath(shared.path, given);
  const shown = [shared.path, ...names].join('/');
  if (access === 'write' && shared.access === 'read')
    throw new ToolError('policy_denied', `Path not allowed: ${shown}. ${shared.path} is read-only; write to the workspace instead.`);
  return { root: shared.path, path: { names, displayPath: shown }, locks: shared.locks, ...rules };
}

/** @throws ToolError `unavailable` where the files of the call are on another host */
export function assertOnWorker({ onHost }: Pick<Workspace, 'onHost'>): void {
  if (onHost === undefined) return;
  throw new ToolError(
    'unavailable',
    `The files and commands of this session are on the host ${onHost}, over ssh, which only the shell tool reaches. Use shell there: cat, sed, grep, find.`,
    { retryable: false },
  );
}

/** The place of a path below another: the same rules, another way. */
export function childOf(place: ResolvedFile, names: readonly string[]): ResolvedFile {
  const shown = [...(place.path.displayPath === '.' ? [] : [place.path.displayPath]), ...names].join('/') || '.';
  return { ...place, path: { names: [...place.path.names, ...names], displayPath: shown } };
}

/** @throws ToolError `policy_denied` when what lies at `names` below the root is denied to the call. */
export function assertNotDenied({ root, path, denied }: ResolvedFile, names: readonly string[], access: 'read' | 'write'): void {
  const at = absolutePath(root, names);
  const why = denied?.denialReason(at, access) ?? (access === 'write' ? denied?.unaskedReason?.(at) : undefined);
  if (why !== undefined) throw pathNotAllowed(path.displayPath, why);
}

/**
 * People are asked about a path as it was given, and links on the way are not seen then.
 * @throws ToolError `policy_denied` for writing a file that later commands run, which the given path does not name.
 */
export function assertNamed({ path, autoRunReason }: ResolvedFile, names: readonly string[]): void {
  const real = names.join('/');
  const why = autoRunReason?.(real);
  if (why === undefined || autoRunReason?.(path.names.join('/')) !== undefined) return;
  throw pathNotAllowed(path.displayPath, `It leads through a symbolic link to ${real}, and ${why}. Write to that path`);
}

export function absolutePath(root: string, names: readonly string[]): string {
  return [root === '/' ? '' : root, ...names].join('/') || '/';
}
