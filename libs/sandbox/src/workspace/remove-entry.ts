import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { type ToolContext, ToolError } from '#tool-sdk';
import { findDeniedEntries } from './denied-entries.js';
import { openChild, openDirectoryBeneath, pathIn, type OpenDirectory } from './open-beneath.js';
import { pathFailure } from './path-failure.js';
import { withPathLock } from './path-lock.js';
import { absolutePath, type ResolvedFile } from './resolved-file.js';
import { openParent } from './workspace-file.js';
import { pathNotAllowed } from './workspace-path.js';

export interface RemovedEntry {
  readonly kind: 'file' | 'directory';
  /** Files and folders that are gone, this one among them. */
  readonly entries: number;
}

/**
 * Deletes a file, a symbolic link (never its target), or a folder with all that is in it. A folder with a denied file in it is left
 * as it is. A cancelled deletion of a folder may have removed a part. Rejects with a ToolError.
 */
export async function removeEntry({ signal }: Pick<ToolContext, 'signal'>, place: ResolvedFile): Promise<RemovedEntry> {
  signal.throwIfAborted();
  const { displayPath } = place.path;
  if (place.path.names.length === 0)
    throw new ToolError(
      'policy_denied',
      `Cannot delete ${displayPath}: it is a root folder itself. Give the path of a file or folder in it.`,
    );
  const { directory, name } = await openParent(place, { create: false });
  try {
    return await withPathLock(place, directory, name, signal, async (commit) => {
      const stats = await lstat(pathIn(directory, name));
      if (stats.isDirectory()) return await removeFolder(place, directory, name, signal);
      await commit();
      await unlink(pathIn(directory, name));
      return { kind: 'file', entries: 1 };
    });
  } catch (error) {
    signal.throwIfAborted();
    throw await pathFailure(error, place, 'Use file_list or glob to see what is there.');
  } finally {
    place.quota?.invalidate();
    await directory.handle.close();
  }
}

async function removeFolder(place: ResolvedFile, directory: OpenDirectory, name: string, signal: AbortSignal): Promise<RemovedEntry> {
  const { displayPath } = place.path;
  if (place.symlinks === 'refuse')
    throw new ToolError('policy_denied', `Cannot delete ${displayPath}: this very path was opened, and what lies in the folder was not.`);
  // Names without links, and no link is followed on the way, so that the checked entry is the deleted one.
  const folder: ResolvedFile = { ...place, path: { names: [...directory.names, name], displayPath }, symlinks: 'refuse' };
  await assertNothingDenied(folder, signal);
  const inside = await emptyFolder(folder, signal);
  await rmdir(pathIn(directory, name));
  return { kind: 'directory', entries: inside + 1 };
}

async function assertNothingDenied({ root, path, denied }: ResolvedFile, signal: AbortSignal): Promise<void> {
  if (denied === undefined) return;
  for (const access of ['write', 'read'] as const) {
    const { entries, complete } = await findDeniedEntries([absolutePath(root, path.names)], denied, access, signal);
    if (entries.length > 0) throw pathNotAllowed(path.displayPath, 'The folder has files in it that are denied to this call.');
    if (!complete)
      throw pathNotAllowed(path.displayPath, 'The folder is too large to find out whether files in it are denied to this call.');
  }
}

/** Removes what is in the folder. Returns the number of entries. */
async function emptyFolder(folder: ResolvedFile, signal: AbortSignal): Promise<number> {
  const top = await openDirectoryBeneath(folder);
  try {
    let removed = 0;
    for (let moved = true; moved;) {
      moved = false;
      const moveUp = async (from: string) => {
        await rename(from, pathIn(top, `.removed-${randomUUID()}`));
        moved = true;
      };
      removed += await removeContent(top, { moveUp, depth: 0, signal });
    }
    return removed;
  } finally {
    await top.handle.close();
  }
}

/** Levels of folders that are open at a time. Deeper ones are moved up first: the length of a path and the open files have limits. */
const MOST_OPEN = 32;

interface Removal {
  /** Moves a folder to the top, where it is removed later. */
  readonly moveUp: (from: string) => Promise<void>;
  readonly depth: number;
  readonly signal: AbortSignal;
}

async function removeContent(directory: OpenDirectory, { moveUp, depth, signal }: Removal): Promise<number> {
  let removed = 0;
  for (const entry of await readdir(pathIn(directory, '.'), { withFileTypes: true })) {
    signal.throwIfAborted();
    const path = pathIn(directory, entry.name);
    if (entry.isDirectory() && depth >= MOST_OPEN) await moveUp(path);
    else {
      if (entry.isDirectory()) {
        const inner = await openChild(directory, entry.name);
        try {
          removed += await removeContent(inner, { moveUp, depth: depth + 1, signal });
        } finally {
          await inner.handle.close();
        }
        await rmdir(path);
      } else await unlink(path);
      removed += 1;
    }
  }
  return removed;
}
