import { realpath, stat } from 'node:fs/promises';
import { absolutePath, assertNotDenied, isWithin, pathNotAllowed, resolveFile } from '#sandbox';
import { ToolError, type Workspace } from '#tool-sdk';

/** The real path of a folder of the workspace, a root or an opened path, links followed; a ToolError when it leads out or is no folder. */
export async function folderOf(workspace: Workspace, given: string): Promise<string> {
  const place = resolveFile(workspace, given, 'read');
  const { root, path, symlinks } = place;
  const named = absolutePath(root, path.names);
  const folder = await realpath(named).catch(() => undefined);
  if (folder === undefined || !(await stat(folder)).isDirectory())
    throw new ToolError('invalid_arguments', `Working directory is not a directory: ${path.displayPath}`);
  if (symlinks === 'refuse' ? folder !== named : !isWithin(folder, root)) throw pathNotAllowed(given);
  assertNotDenied(place, folder.slice(root.length).split('/').filter(Boolean), 'read');
  return folder;
}
