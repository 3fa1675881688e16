import { lstat } from 'node:fs/promises';
import { ToolFailure } from '../tool.port.js';
import { errorCode, fileFailure } from '../workspace/file-failure.js';
import { at, openDirectoryBeneath } from '../workspace/open-beneath.js';
import { parseWorkspacePath, pathNotAllowed, type WorkspacePath } from '../workspace/workspace-path.js';

/** What a search starts from: relative to the root, without symbolic links, never an option. */
export interface SearchTarget {
  /** `./` and the names. */
  readonly argument: string;
  readonly shown: string;
  readonly directory: boolean;
}

/** Finds out what a path of the model is. Rejects with a ToolFailure for anything but a folder or a regular file inside. */
export async function searchTarget(root: string, given: string): Promise<SearchTarget> {
  const path = parseWorkspacePath(root, given);
  try {
    const directory = await openDirectoryBeneath(root, path);
    await directory.handle.close();
    return { argument: `./${directory.names.join('/')}`, shown: path.shown, directory: true };
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return fileTarget(root, path);
    throw fileFailure(error, path.shown, 'Use file_list or glob to see what is there.');
  }
}

async function fileTarget(root: string, path: WorkspacePath): Promise<SearchTarget> {
  const name = path.names.at(-1) ?? '';
  try {
    const parent = await openDirectoryBeneath(root, { names: path.names.slice(0, -1), shown: path.shown });
    const stats = await lstat(at(parent, name)).finally(() => parent.handle.close());
    if (stats.isSymbolicLink())
      throw new ToolFailure(
        'policy_denied',
        `${pathNotAllowed(path.shown).message} This path is a symbolic link: search the file it points at.`,
      );
    if (!stats.isFile()) throw new ToolFailure('tool_failed', `Cannot search ${path.shown}: it is not a regular file`);
    return { argument: `./${[...parent.names, name].join('/')}`, shown: path.shown, directory: false };
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

/** How results name a file: relative to the workspace root, without the leading `./`. */
export function shownPath(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}
