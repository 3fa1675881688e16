import { constants, type Stats } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { ToolError } from '#tool-sdk';
import { errorCode, fileFailure } from './file-failure.js';
import { inheritOwner, pathIn, openBeneath, openDirectoryBeneath, type OpenDirectory } from './open-beneath.js';
import { pathFailure } from './path-failure.js';
import { assertNamed, assertNotDenied, type ResolvedFile } from './resolved-file.js';
import { rejectHardLinkToDenied } from './denied-entries.js';
import { temporaryName } from './temporary-name.js';
import { pathNotAllowed } from './workspace-path.js';

/** A file as it was read, with what a careful writer keeps. */
export interface FileContent {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/**
 * Reads a whole regular file of the workspace. `limit` has its maximum in bytes and the error text. The size
 * is enforced while reading, so a file that grows cannot exceed it.
 */
export async function readWorkspaceFile(place: ResolvedFile, limit: SizeLimit, signal: AbortSignal): Promise<FileContent> {
  signal.throwIfAborted();
  const { path } = place;
  const handle = await openBeneath(place).catch(async (error: unknown) => {
    throw await pathFailure(error, place, 'Use file_list or glob to see what is there.');
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw notAFile(stats, path.displayPath);
    await rejectHardLinkToDenied(place, stats, signal);
    if (stats.size > limit.bytes) throw tooLarge(path.displayPath, stats.size, limit);
    const bytes = await handle.readFile({ signal });
    if (bytes.length > limit.bytes) throw tooLarge(path.displayPath, bytes.length, limit);
    return { bytes, stats };
  } catch (error) {
    signal.throwIfAborted();
    throw fileFailure(error, path.displayPath);
  } finally {
    await handle.close();
  }
}

export interface SizeLimit {
  readonly bytes: number;
  readonly hint: string;
}

export function tooLarge(shown: string, size: number, limit: SizeLimit): ToolError {
  const format = (bytes: number): string => bytes.toLocaleString('en-US');
  return new ToolError(
    'tool_failed',
    `File too large: ${shown} has ${format(size)} bytes, at most ${format(limit.bytes)} are allowed. ${limit.hint}`,
  );
}

/** The open directory of a file to be written, and the file's name in it. The caller closes the directory. */
export async function openParent(
  place: ResolvedFile,
  { create }: { create: boolean },
): Promise<{ directory: OpenDirectory; name: string }> {
  const { path } = place;
  const name = path.names.at(-1);
  if (name === undefined)
    throw new ToolError('invalid_arguments', `Cannot write ${path.displayPath}: it is a folder. Give the path of a file in it.`);
  try {
    const directory = await openDirectoryBeneath(
      { ...place, path: { names: path.names.slice(0, -1), displayPath: path.displayPath } },
      { create },
    );
    try {
      assertNotDenied(place, [...directory.names, name], 'write');
      assertNamed(place, [...directory.names, name]);
    } catch (error) {
      await directory.handle.close();
      throw error;
    }
    return { directory, name };
  } catch (error) {
    throw await pathFailure(error, place, 'Use file_list or glob to see what is there.');
  }
}

/** The stats of a name that may be written: absent or a regular file. Writing through a symbolic link is refused. */
export async function statForWriting(directory: OpenDirectory, name: string, shown: string): Promise<Stats | undefined> {
  const stats = await lstat(pathIn(directory, name)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileFailure(error, shown);
  });
  if (stats?.isSymbolicLink())
    throw new ToolError('policy_denied', `${pathNotAllowed(shown).message} This path is a symbolic link: write to the file it points at.`);
  if (stats && !stats.isFile()) throw notAFile(stats, shown);
  return stats;
}

/**
 * Puts `bytes` in the place of a file in one step: readers see the old or the new content, never a part, also after a
 * crash. An aborted signal leaves the old content. Nothing is left behind except after a kill.
 */
export async function replaceFile(
  directory: OpenDirectory,
  name: string,
  bytes: Uint8Array,
  options: { mode?: number; executable?: boolean; signal: AbortSignal; shown: string },
): Promise<void> {
  const temporary = pathIn(directory, temporaryName());
  options.signal.throwIfAborted();
  try {
    const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o666);
    try {
      await handle.writeFile(bytes);
      await inheritOwner(handle, directory.handle);
      const { mode, executable } = options;
      if (mode !== undefined || executable !== undefined)
        await handle.chmod(withExecution(mode ?? (await handle.stat()).mode, executable) & 0o777);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    options.signal.throwIfAborted();
    await rename(temporary, pathIn(directory, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    options.signal.throwIfAborted();
    throw fileFailure(error, options.shown);
  }
}

/** Mode with or without execution for everyone who may read the file. */
function withExecution(mode: number, executable: boolean | undefined): number {
  if (executable === undefined) return mode;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

function notAFile(stats: Stats, shown: string): ToolError {
  const kind = stats.isDirectory() ? 'a directory: use file_list to see what is in it' : 'not a regular file';
  return new ToolError('tool_failed', `Cannot use ${shown}: it is ${kind}`);
}
