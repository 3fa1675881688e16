import { realpath, stat } from 'node:fs/promises';
import { ToolFailure, type Workspace } from '../tool.port.js';
import { deniedEntries, type DeniedEntry } from '../workspace/denied-files.js';
import { isWithin } from '../workspace/workspace-path.js';
import type { SandboxView } from './sandbox.port.js';

/** Each is a mount of its own. */
const MOST_HIDDEN = 2_000;

/**
 * What a command of a call sees: what was opened for the call, and nothing that is denied to it, under whatever name it lies in
 * the workspace when the command starts. Undefined where nothing is opened or denied, which costs nothing.
 * @throws ToolFailure `policy_denied` when there is more to hide than can be hidden.
 */
export async function viewOf({ root, roots = [], opened = [], denied }: Workspace, signal: AbortSignal): Promise<SandboxView | undefined> {
  if (roots.length === 0 && opened.length === 0 && denied === undefined) return undefined;
  const visible = await withoutLinks([...roots, ...opened.filter(({ path }) => !isWithin(path, root))]);
  if (denied === undefined) return { visible, hidden: [], readOnly: [] };
  const unread = await deniedEntries(root, denied, 'read', signal);
  const unwritten = await deniedEntries(root, denied, 'write', signal);
  const found = [
    ...(await Promise.all(unread.entries.map((entry) => maskOf(entry, root)))).flat(),
    ...unread.links.map((path) => ({ path, directory: false })),
  ];
  const folders = found.filter(({ directory }) => directory);
  const hidden = found.filter(({ path }) => !folders.some((folder) => folder.path !== path && isWithin(path, folder.path)));
  const readOnly = unwritten.entries.flatMap(({ path, stats }) => (stats.isSymbolicLink() ? [] : [path]));
  if (!unread.complete || !unwritten.complete || hidden.length + readOnly.length > MOST_HIDDEN)
    throw new ToolFailure(
      'policy_denied',
      'The command is not run: the workspace has too many files to hide from it those that are denied to this call. Use the file tools.',
      { retryable: false },
    );
  return { visible: visible.filter(({ path }) => denied.why(path, 'read') === undefined), hidden, readOnly };
}

/** A path was opened as it stands: one that a link leads away from is not shown. */
async function withoutLinks<T extends { readonly path: string }>(places: readonly T[]): Promise<T[]> {
  const real = await Promise.all(places.map(({ path }) => realpath(path).catch(() => undefined)));
  return places.filter(({ path }, index) => real[index] === path);
}

/** A denied link is hidden by hiding what it leads to, where that is in the workspace. */
async function maskOf({ path, directory, stats }: DeniedEntry, root: string): Promise<SandboxView['hidden'][number][]> {
  if (!stats.isSymbolicLink()) return [{ path, directory }];
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined || target === root || !isWithin(target, root)) return [];
  const isFolder = await stat(target).then(
    (it) => it.isDirectory(),
    () => false,
  );
  return [{ path: target, directory: isFolder }];
}
