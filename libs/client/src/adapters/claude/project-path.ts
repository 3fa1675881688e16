/** Folders for resolving the paths of a tool use. */
export interface ProjectView {
  /** Folder of the project: the workspace for the policy. */
  readonly root: string;
  /** Base of relative paths. */
  readonly cwd: string;
  /** Resolves symbolic links of an absolute path, as far as it exists. Default: paths are evaluated by their text. */
  readonly realPath?: (path: string) => string;
}

/** Path in the policy's form: relative to the project, or absolute if it is outside. */
export function projectPath(path: string, { root, cwd, realPath = (same) => same }: ProjectView): string {
  // Only the agent knows the home folder. The policy treats `~` as outside of the workspace.
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

/** Absolute path without `.`, `..` and double slashes. A drive of Windows becomes a folder of the root: `/C:/Users`. */
function posix(path: string): string {
  const parts: string[] = [];
  for (const part of (WINDOWS.test(path) ? path.replaceAll('\\', '/') : path).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Folder of a glob: the path before its first special character. */
export function globFolder(pattern: string): string {
  const special = pattern.search(/[*?[\]{}()!+@]/);
  const plain = special === -1 ? pattern : pattern.slice(0, special);
  const end = plain.lastIndexOf('/');
  return end === -1 ? '.' : plain.slice(0, end) || '/';
}
