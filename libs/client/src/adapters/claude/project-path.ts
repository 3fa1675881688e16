/** Where the paths of a tool use are resolved. */
export interface ProjectView {
  /** Folder of the project: to the policy it is the workspace. */
  readonly root: string;
  /** Where relative paths start. */
  readonly cwd: string;
  /** Resolves symbolic links of an absolute path, as far as it exists. By default paths are judged by their text. */
  readonly realPath?: (path: string) => string;
}

/** A path as the policy reads it: relative to the project, or absolute if it is outside. */
export function projectPath(path: string, { root, cwd, realPath = (same) => same }: ProjectView): string {
  // Only the agent knows the home folder. The policy reads `~` as outside of the workspace.
  if (path.startsWith('~')) return path;
  const at = posix(realPath(isAbsolute(path) ? path : `${cwd}/${path}`));
  const top = posix(realPath(root));
  if (at === top) return '.';
  const prefix = top === '/' ? '/' : `${top}/`;
  return at.startsWith(prefix) ? at.slice(prefix.length) : at;
}

const WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || WINDOWS.test(path);
}

/** An absolute path without `.`, `..` and double slashes. A drive of Windows becomes a folder of the root: `/C:/Users`. */
function posix(path: string): string {
  const parts: string[] = [];
  for (const part of (WINDOWS.test(path) ? path.replaceAll('\\', '/') : path).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** The folder that a glob starts from: what is before its first special character. */
export function globFolder(pattern: string): string {
  const special = pattern.search(/[*?[\]{}()!+@]/);
  const plain = special === -1 ? pattern : pattern.slice(0, special);
  const end = plain.lastIndexOf('/');
  return end === -1 ? '.' : plain.slice(0, end) || '/';
}
