import { lstat } from 'node:fs/promises';
import {
  type ResolvedFile,
  absolutePath,
  pathIn,
  errorCode,
  fileFailure,
  resolveFile,
  openDirectoryBeneath,
  pathFailure,
  pathNotAllowed,
  assertNotDenied,
  tooLarge,
} from '#sandbox';
import { ToolError, type Workspace } from '#tool-sdk';

/** Start of a search: relative to the root of its place, without symbolic links, never an option. */
export interface SearchTarget {
  readonly place: ResolvedFile;
  /** The folder that the search runs in and sees. */
  readonly root: string;
  /** Prefix that turns results into paths for the model; empty in the workspace. */
  readonly prefix: string;
  /** `./` and the names. */
  readonly argument: string;
  readonly displayPath: string;
  readonly directory: boolean;
}

/** Resolves a path of the model. Rejects with a ToolError for anything but a folder, or a regular file of at most `mostBytes`. */
export async function searchTarget(workspace: Workspace, given: string, mostBytes = Infinity): Promise<SearchTarget> {
  const place = resolveFile(workspace, given, 'read');
  const { path } = place;
  try {
    const directory = await openDirectoryBeneath(place);
    await directory.handle.close();
    return { ...whereFrom(workspace, place, directory.names, true), displayPath: path.displayPath, directory: true };
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return fileTarget(workspace, place, mostBytes);
    throw await pathFailure(error, place, 'Use file_list or glob to see what is there.');
  }
}

/** Working directory of the search. For an individually allowed path, only the folder of that path is visible. */
function whereFrom(
  { root }: Workspace,
  place: ResolvedFile,
  names: readonly string[],
  directory: boolean,
): Omit<SearchTarget, 'displayPath' | 'directory'> {
  if (place.root === root) return { place, root, prefix: '', argument: `./${names.join('/')}` };
  if (place.symlinks !== 'refuse') return { place, root: place.root, prefix: `${place.root}/`, argument: `./${names.join('/')}` };
  const folder = absolutePath('/', directory ? names : names.slice(0, -1));
  return { place, root: folder, prefix: folder === '/' ? '/' : `${folder}/`, argument: directory ? './' : `./${names.at(-1) ?? ''}` };
}

async function fileTarget(workspace: Workspace, place: ResolvedFile, mostBytes: number): Promise<SearchTarget> {
  const { path } = place;
  const name = path.names.at(-1) ?? '';
  try {
    const parent = await openDirectoryBeneath({ ...place, path: { names: path.names.slice(0, -1), displayPath: path.displayPath } });
    const stats = await lstat(pathIn(parent, name)).finally(() => parent.handle.close());
    assertNotDenied(place, [...parent.names, name], 'read');
    if (stats.isSymbolicLink())
      throw new ToolError(
        'policy_denied',
        `${pathNotAllowed(path.displayPath).message} This path is a symbolic link: search the file it points at.`,
      );
    if (!stats.isFile()) throw new ToolError('tool_failed', `Cannot search ${path.displayPath}: it is not a regular file`);
    if (stats.size > mostBytes)
      throw tooLarge(path.displayPath, stats.size, { bytes: mostBytes, hint: 'Search in smaller files, or read it in parts.' });
    return { ...whereFrom(workspace, place, [...parent.names, name], false), displayPath: path.displayPath, directory: false };
  } catch (error) {
    throw fileFailure(error, path.displayPath);
  }
}

/** ripgrep gets globs unchanged. @throws ToolError for one that would exclude, or that is not one line */
export function checkGlob(glob: string, argument: string): void {
  if (glob.startsWith('!'))
    throw new ToolError(
      'invalid_arguments',
      `Invalid ${argument}: ${glob} begins with "!", which would mean everything else. Say what to include.`,
    );
  if (glob.includes('\0') || glob.includes('\n'))
    throw new ToolError('invalid_arguments', `Invalid ${argument}: it has a NUL or line break in it.`);
}

/** Note that a glob cannot match anything in the workspace, for an empty result; empty for other globs. */
export function unreachableNote(glob: string, argument: string): string {
  if (/(?:^|[/{,])\.\.(?:[/},]|$)/.test(glob))
    return `\nThe ${argument} leaves the folder that is searched by "..": nothing outside of it is found. Name another folder as path.`;
  if (glob.startsWith('/'))
    return `\nA "/" at the beginning of ${argument} is the folder that is searched, not the root of the file system. Leave it out, and name another folder as path.`;
  return '';
}

/** Path of a file in results: relative to the workspace root, without the leading `./`; absolute outside of it. */
export function displayPath(path: string, prefix = ''): string {
  return prefix + (path.startsWith('./') ? path.slice(2) : path);
}
