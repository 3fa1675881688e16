import { lstat } from 'node:fs/promises';
import {
  type FilePlace,
  absoluteOf,
  at,
  errorCode,
  fileFailure,
  filePlace,
  openDirectoryBeneath,
  pathNotAllowed,
  refuseDenied,
  tooLarge,
} from '#sandbox';
import { ToolFailure, type Workspace } from '#tool-sdk';

/** What a search starts from: relative to the root of its place, without symbolic links, never an option. */
export interface SearchTarget {
  readonly place: FilePlace;
  /** The folder that the search runs in and sees. */
  readonly root: string;
  /** What results begin with, to be a path as the model may give it: empty in the workspace. */
  readonly prefix: string;
  /** `./` and the names. */
  readonly argument: string;
  readonly shown: string;
  readonly directory: boolean;
}

/** Finds out what a path of the model is. Rejects with a ToolFailure for anything but a folder or a regular file inside, of at most `mostBytes`. */
export async function searchTarget(workspace: Workspace, given: string, mostBytes = Infinity): Promise<SearchTarget> {
  const place = filePlace(workspace, given, 'read');
  const { path } = place;
  try {
    const directory = await openDirectoryBeneath(place);
    await directory.handle.close();
    return { ...whereFrom(workspace, place, directory.names, true), shown: path.shown, directory: true };
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return fileTarget(workspace, place, mostBytes);
    throw fileFailure(error, path.shown, 'Use file_list or glob to see what is there.');
  }
}

/** Of a path that was opened by itself a search sees its folder and nothing else, though the file only is searched. */
function whereFrom(
  { root }: Workspace,
  place: FilePlace,
  names: readonly string[],
  directory: boolean,
): Omit<SearchTarget, 'shown' | 'directory'> {
  if (place.root === root) return { place, root, prefix: '', argument: `./${names.join('/')}` };
  if (place.links !== 'refuse') return { place, root: place.root, prefix: `${place.root}/`, argument: `./${names.join('/')}` };
  const folder = absoluteOf('/', directory ? names : names.slice(0, -1));
  return { place, root: folder, prefix: folder === '/' ? '/' : `${folder}/`, argument: directory ? './' : `./${names.at(-1) ?? ''}` };
}

async function fileTarget(workspace: Workspace, place: FilePlace, mostBytes: number): Promise<SearchTarget> {
  const { path } = place;
  const name = path.names.at(-1) ?? '';
  try {
    const parent = await openDirectoryBeneath({ ...place, path: { names: path.names.slice(0, -1), shown: path.shown } });
    const stats = await lstat(at(parent, name)).finally(() => parent.handle.close());
    refuseDenied(place, [...parent.names, name], 'read');
    if (stats.isSymbolicLink())
      throw new ToolFailure(
        'policy_denied',
        `${pathNotAllowed(path.shown).message} This path is a symbolic link: search the file it points at.`,
      );
    if (!stats.isFile()) throw new ToolFailure('tool_failed', `Cannot search ${path.shown}: it is not a regular file`);
    if (stats.size > mostBytes)
      throw tooLarge(path.shown, stats.size, { bytes: mostBytes, hint: 'Search in smaller files, or read it in parts.' });
    return { ...whereFrom(workspace, place, [...parent.names, name], false), shown: path.shown, directory: false };
  } catch (error) {
    throw fileFailure(error, path.shown);
  }
}

/** Globs are given to ripgrep as they are, except for what would turn their sense around. */
export function checkGlob(glob: string, argument: string): void {
  if (glob.startsWith('!'))
    throw new ToolFailure(
      'invalid_arguments',
      `Invalid ${argument}: ${glob} begins with "!", which would mean everything else. Say what to include.`,
    );
  if (glob.includes('\0') || glob.includes('\n'))
    throw new ToolFailure('invalid_arguments', `Invalid ${argument}: it has a NUL or line break in it.`);
}

/** How results name a file: relative to the workspace root, without the leading `./`; absolute outside of it. */
export function shownPath(path: string, prefix = ''): string {
  return prefix + (path.startsWith('./') ? path.slice(2) : path);
}
