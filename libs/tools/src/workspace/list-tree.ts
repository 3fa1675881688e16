import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileFailure } from './file-failure.js';
import { at, openDirectoryBeneath } from './open-beneath.js';
import type { WorkspacePath } from './workspace-path.js';

/** Shown, but hardly ever what somebody looks for inside. */
export const NOT_ENTERED: readonly string[] = ['.git', 'node_modules', 'target', 'dist', 'build', '.cache', '.venv', '__pycache__'];
const MOST_VISITED = 20_000;

/** Entries as paths relative to the listed folder, in depth-first order, folders with `/`; `total` counts those left out too (up to 20,000). */
export async function listTree(
  root: string,
  path: WorkspacePath,
  { maxDepth, most }: { maxDepth: number; most: number },
  signal: AbortSignal,
): Promise<{ entries: string[]; total: number }> {
  const entries: string[] = [];
  let total = 0;
  const visit = async (below: readonly string[]): Promise<void> => {
    for (const entry of await readFolder(root, { names: [...path.names, ...below], shown: [path.shown, ...below].join('/') }, signal)) {
      if (total >= MOST_VISITED) return;
      total += 1;
      const names = [...below, entry.name];
      if (entries.length < most) entries.push(names.join('/') + (entry.isDirectory() ? '/' : ''));
      if (entry.isDirectory() && names.length < maxDepth && !NOT_ENTERED.includes(entry.name)) await visit(names);
    }
  };
  await visit([]);
  return { entries, total };
}

/** Sorted by name. Half-written files of this worker are not there yet. */
async function readFolder(root: string, path: WorkspacePath, signal: AbortSignal): Promise<Dirent[]> {
  signal.throwIfAborted();
  try {
    const directory = await openDirectoryBeneath(root, path);
    const entries = await readdir(at(directory, '.'), { withFileTypes: true }).finally(() => directory.handle.close());
    return entries.filter(({ name }) => !/^\.toolyard-.*\.tmp$/.test(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw fileFailure(error, path.shown, 'Check the path with file_list.');
  }
}
