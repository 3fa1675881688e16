import { constants } from 'node:fs';
import { mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { errorCode } from './file-failure.js';
import { assertNotDenied, type ResolvedFile } from './resolved-file.js';
import { pathNotAllowed, withoutRoot } from './workspace-path.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const MOST_LINKS = 40;
const LINK_ON_THE_WAY =
  'It was opened as this very path, and a symbolic link on the way leads elsewhere. Ask for the path that it leads to.';

/** An open directory of the workspace. The caller closes it. */
export interface OpenDirectory {
  readonly handle: FileHandle;
  /** Names from the workspace root, without symbolic links. */
  readonly names: readonly string[];
  /** Location of the directory when it was opened; only for systems without `/proc`. */
  readonly location: string;
}

/**
 * The path by which the system reaches a name in an open directory. On Linux it goes through the descriptor, so that it
 * means this directory even when it was moved or replaced by a symbolic link; elsewhere it is the plain
 * path, and such a race is not excluded.
 */
export function pathIn(directory: OpenDirectory, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${directory.handle.fd}/${name}` : `${directory.location}/${name}`;
}

/**
 * Opens a workspace path for reading, without ever touching anything outside the root: one name at a time, relative to the
 * previously opened directory, never following a symbolic link. Links are read and walked like the rest of the path, and
 * rejected if they leave the root. The caller closes the result, which may be of any kind: check it. Denials apply to the
 * opened file: a denied file is also rejected through a link.
 * Rejects with the system's error, or a ToolError for a path outside of the root or a denied file.
 */
export async function openBeneath(place: ResolvedFile): Promise<FileHandle> {
  return withWalk(place, async (walk) => {
    for (let name = walk.pending.shift(); name !== undefined; name = walk.pending.shift()) {
      if (walk.pending.length > 0) await stepInto(walk, name, false);
      else {
        if (!['', '.', '..'].includes(name)) assertNotDenied(place, [...here(walk).names, name], 'read');
        const opened = await openLast(walk, name);
        if (opened) return opened;
      }
    }
    assertNotDenied(place, here(walk).names, 'read');
    return take(walk).handle;
  });
}

/** The same for a directory; with `create`, missing ones are made on the way. The caller closes it. */
export async function openDirectoryBeneath(place: ResolvedFile, { create = false } = {}): Promise<OpenDirectory> {
  return withWalk(place, async (walk) => {
    for (let name = walk.pending.shift(); name !== undefined; name = walk.pending.shift()) await stepInto(walk, name, create);
    assertNotDenied(place, here(walk).names, 'read');
    return take(walk);
  });
}

/** Opens a directory in an open one, never a link. The caller closes it. Rejects with the system's error. */
export async function openChild(directory: OpenDirectory, name: string): Promise<OpenDirectory> {
  const handle = await open(pathIn(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return { handle, names: [...directory.names, name], location: `${directory.location}/${name}` };
}

/** `opened` is the way from the root to where the walk is now, `pending` the names still to go. */
interface Walk {
  readonly root: string;
  readonly shown: string;
  readonly refusesLinks: boolean;
  readonly opened: OpenDirectory[];
  readonly pending: string[];
  links: number;
}

async function withWalk<T>({ root, path, symlinks }: ResolvedFile, go: (walk: Walk) => Promise<T>): Promise<T> {
  const handle = await open(root, O_RDONLY | O_DIRECTORY);
  const opened = [{ handle, names: [], location: root === '/' ? '' : root }];
  const walk: Walk = { root, shown: path.displayPath, refusesLinks: symlinks === 'refuse', opened, pending: [...path.names], links: 0 };
  try {
    return await go(walk);
  } finally {
    await Promise.all(walk.opened.map((directory) => directory.handle.close()));
  }
}

function here(walk: Walk): OpenDirectory {
  const last = walk.opened.at(-1);
  if (!last) throw pathNotAllowed(walk.shown);
  return last;
}

/** Hands the innermost directory to the caller, so that the end of the walk does not close it. */
function take(walk: Walk): OpenDirectory {
  const last = here(walk);
  walk.opened.pop();
  return last;
}

async function stepInto(walk: Walk, name: string, create: boolean): Promise<void> {
  if (name === '' || name === '.') return;
  if (name === '..') return stepOut(walk);
  const directory = here(walk);
  try {
    const handle = await openOrCreate(directory, name, create);
    walk.opened.push({ handle, names: [...directory.names, name], location: `${directory.location}/${name}` });
  } catch (error) {
    if (!(await followLink(walk, name, error))) throw error;
  }
}

async function openOrCreate(directory: OpenDirectory, name: string, create: boolean): Promise<FileHandle> {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return await open(pathIn(directory, name), flags);
  } catch (error) {
    if (!create || errorCode(error) !== 'ENOENT') throw error;
    await mkdir(pathIn(directory, name)).catch((refused: unknown) => {
      if (errorCode(refused) !== 'EEXIST') throw refused;
    });
    const made = await open(pathIn(directory, name), flags);
    await inheritOwner(made, directory.handle);
    return made;
  }
}

/**
 * Root gives what it makes to the owner of the folder in which it lies: a workspace may belong to the user whose commands
 * work in it.
 */
export async function inheritOwner(made: FileHandle, folder: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await folder.stat();
  if (uid !== 0) await made.chown(uid, gid);
}

/** Undefined: the name was `..`, `.` or a link, and the walk continues. */
async function openLast(walk: Walk, name: string): Promise<FileHandle | undefined> {
  if (name === '' || name === '.' || name === '..') {
    await stepInto(walk, name, false);
    return undefined;
  }
  try {
    // Non-blocking, since opening a pipe for reading would wait for a writer.
    return await open(pathIn(here(walk), name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (await followLink(walk, name, error)) return undefined;
    throw error;
  }
}

async function stepOut(walk: Walk): Promise<void> {
  if (walk.opened.length < 2) throw pathNotAllowed(walk.shown);
  await walk.opened.pop()?.handle.close();
}

/**
 * Puts the names of a link's target in front of the remaining ones. False if it is not a link; the caller then throws the first
 * error.
 */
async function followLink(walk: Walk, name: string, error: unknown): Promise<boolean> {
  if (!['ELOOP', 'ENOTDIR', 'EMLINK'].includes(errorCode(error) ?? '')) return false;
  const target = await readlink(pathIn(here(walk), name)).catch((noLink: unknown) => {
    if (errorCode(noLink) === 'EINVAL') return undefined;
    throw noLink;
  });
  if (target === undefined) return false;
  if (walk.refusesLinks) throw pathNotAllowed(walk.shown, LINK_ON_THE_WAY);
  walk.links += 1;
  if (walk.links > MOST_LINKS) throw error;
  if (target.startsWith('/')) {
    walk.pending.unshift(...(await insideRoot(walk, target)).split('/'));
    while (walk.opened.length > 1) await stepOut(walk);
  } else {
    walk.pending.unshift(...target.split('/'));
  }
  return true;
}

async function insideRoot(walk: Walk, target: string): Promise<string> {
  try {
    return withoutRoot(walk.root, target);
  } catch {
    const real = await realpath(walk.root);
    if (`${target}/`.startsWith(`${real}/`)) return target.slice(real.length + 1);
    throw pathNotAllowed(walk.shown);
  }
}
