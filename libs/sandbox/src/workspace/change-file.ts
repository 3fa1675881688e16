import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ToolContext } from '#tool-sdk';
import { fileFailure } from './file-failure.js';
import { rejectHardLinkToDenied } from './denied-entries.js';
import { assertNotDenied, type ResolvedFile } from './resolved-file.js';
import { pathIn } from './open-beneath.js';
import { LockLost, withPathLock } from './path-lock.js';
import { bytesOnDisk } from './workspace-quotas.js';
import { openParent, replaceFile, statForWriting, tooLarge, type SizeLimit } from './workspace-file.js';

const LOCK_LOST_RETRIES = 3;
/** Unit of `blocks` in stat(2), independent of the file system's own. */
const STAT_BLOCK_BYTES = 512;

export interface FileChange<T> {
  readonly bytes: Uint8Array;
  readonly value: T;
  /** Permissions; default: the existing ones, or those of a new file. */
  readonly mode?: number;
  /** Adds or takes the right to execute it. Absent: as it is. */
  readonly executable?: boolean;
}

/**
 * Changes one file: `change` gets what is there now (undefined: nothing; `read` gives its content) and says what shall be
 * there. Changes of the same file happen one after another, each seeing the one before; each is one step.
 * `change` may run again, so it must have no effect of its own. Rejects with a ToolError.
 */
export async function changeFile<T>(
  ctx: Pick<ToolContext, 'signal'>,
  place: ResolvedFile,
  { create }: { create: boolean },
  change: (stats: Stats | undefined, read: (limit: SizeLimit) => Promise<Buffer>) => Promise<FileChange<T>>,
): Promise<T> {
  ctx.signal.throwIfAborted();
  const { path } = place;
  const { directory, name } = await openParent(place, { create });
  const attempt = (): Promise<T> =>
    withPathLock(place, directory, name, ctx.signal, async (commit) => {
      const stats = await statForWriting(directory, name, path.displayPath);
      const {
        bytes,
        value,
        mode = stats?.mode,
        executable,
      } = await change(stats, (limit) => {
        assertNotDenied(place, [...directory.names, name], 'read');
        return readInPlace(pathIn(directory, name), place, limit, ctx.signal);
      });
      await place.quota?.reserve(growthOf(stats, bytes));
      await commit();
      const permissions = { ...(mode !== undefined && { mode }), ...(executable !== undefined && { executable }) };
      await replaceFile(directory, name, bytes, { ...permissions, signal: ctx.signal, shown: path.displayPath });
      return value;
    });
  try {
    for (let retry = 0; ; retry += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof LockLost) || retry === LOCK_LOST_RETRIES) throw error;
      }
    }
  } catch (error) {
    // Counted bytes may not have been written.
    place.quota?.invalidate();
    ctx.signal.throwIfAborted();
    throw fileFailure(error, path.displayPath);
  } finally {
    await directory.handle.close();
  }
}

function growthOf(before: Stats | undefined, after: Uint8Array): { bytes: number; files: number } {
  return {
    bytes: bytesOnDisk(after.length) - (before === undefined ? 0 : before.blocks * STAT_BLOCK_BYTES),
    files: before === undefined ? 1 : 0,
  };
}

async function readInPlace(location: string, place: ResolvedFile, limit: SizeLimit, signal: AbortSignal): Promise<Buffer> {
  const handle = await open(location, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    await rejectHardLinkToDenied(place, stats, signal);
    if (stats.size > limit.bytes) throw tooLarge(place.path.displayPath, stats.size, limit);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
