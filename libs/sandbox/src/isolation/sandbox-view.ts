import { realpath, stat } from 'node:fs/promises';
import { ToolError, type Workspace } from '#tool-sdk';
import { findDeniedEntries, type DeniedEntry } from '../workspace/denied-entries.js';
import { assertOnWorker } from '../workspace/resolved-file.js';
import { isWithin } from '../workspace/workspace-path.js';
import type { SandboxView } from './sandbox.port.js';

/** Each is a mount of its own. */
const MAX_MASKS = 2_000;

/**
 * Visible files of a call's command on the worker: paths opened for the call, without denied files, under any of their names in
 * the workspace or the opened paths at the start of the command. Undefined if nothing is opened or denied, which costs nothing.
 * @throws ToolError `policy_denied` if there are too many paths to hide, `unavailable` if the files of the call are on another
 * host.
 */
export async function resolveSandboxView(workspace: Workspace, signal: AbortSignal): Promise<SandboxView | undefined> {
  assertOnWorker(workspace);
  const { root, roots = [], opened = [], denied } = workspace;
  if (roots.length === 0 && opened.length === 0 && denied === undefined) return undefined;
  const places = await withoutLinks([...roots, ...opened].filter(({ path }) => !isWithin(path, root)));
  if (denied === undefined) return { visible: places, hidden: [], readOnly: [] };
  const visible = places
    .filter(({ path }) => denied.denialReason(path, 'read') === undefined)
    .map((it) => ({ ...it, access: denied.denialReason(it.path, 'write') === undefined ? it.access : ('read' as const) }));
  const writable = visible.filter(({ access }) => access === 'write');
  const unread = await findDeniedEntries([root, ...outermost(visible)], denied, 'read', signal);
  const unwritten = await findDeniedEntries([root, ...outermost(writable)], denied, 'write', signal);
  const seen = [root, ...visible.map(({ path }) => path)];
  const found = [
    ...(await Promise.all(unread.entries.map((entry) => maskOf(entry, seen)))).flat(),
    ...unread.links.map((path) => ({ path, directory: false })),
  ];
  const folders = found.filter(({ directory }) => directory);
  // The workspace may lie in a folder that is denied, and is seen there.
  const isCovered = (path: string): boolean =>
    folders.some((it) => it.path !== path && isWithin(path, it.path) && !(isWithin(path, root) && isWithin(root, it.path)));
  const hidden = [...new Map(found.map((it) => [it.path, it])).values()].filter(({ path }) => !isCovered(path));
  const unlinked = unwritten.entries.filter(({ stats }) => !stats.isSymbolicLink());
  const readOnly = [...new Set(unlinked.map(({ path }) => path))].filter((path) => !isCovered(path));
  if (!unread.complete || !unwritten.complete || hidden.length + readOnly.length > MAX_MASKS)
    throw new ToolError(
      'policy_denied',
      'The command is not run: the workspace and the folders opened to it have too many files to hide from it those that are denied to this call. Use the file tools.',
      { retryable: false },
    );
  return { visible, hidden, readOnly };
}

/** Places without those inside of another one. */
function outermost(places: SandboxView['visible']): string[] {
  const paths = [...new Set(places.map(({ path }) => path))];
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));
}

/** An opened path counts only without symbolic links: one that resolves elsewhere is not shown. */
async function withoutLinks<T extends { readonly path: string }>(places: readonly T[]): Promise<T[]> {
  const real = await Promise.all(places.map(({ path }) => realpath(path).catch(() => undefined)));
  return places.filter(({ path }, index) => real[index] === path);
}

/** A denied link is hidden by hiding its target, if visible. */
async function maskOf({ path, directory, stats }: DeniedEntry, seen: readonly string[]): Promise<SandboxView['hidden'][number][]> {
  if (!stats.isSymbolicLink()) return [{ path, directory }];
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined || seen.includes(target) || !seen.some((place) => isWithin(target, place))) return [];
  const isFolder = await stat(target).then(
    (it) => it.isDirectory(),
    () => false,
  );
  return [{ path: target, directory: isFolder }];
}
