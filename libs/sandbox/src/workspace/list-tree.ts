import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileFailure } from './file-failure.js';
import { pathIn, openDirectoryBeneath } from './open-beneath.js';
import { childOf, absolutePath, type ResolvedFile } from './resolved-file.js';

/** Listed, but not entered: their content is seldom of interest. */
export const SKIPPED_FOLDERS: readonly string[] = ['.git', 'node_modules', 'target', 'dist', 'build', '.cache', '.venv', '__pycache__'];
const MAX_VISITED = 20_000;

/** Entries as paths relative to the listed folder, in depth-first order, folders with `/`; `total` counts those left out too (up to 20,000). */
export async function listTree(
  place: ResolvedFile,
  { maxDepth, most }: { maxDepth: number; most: number },
  signal: AbortSignal,
): Promise<{ entries: string[]; total: number }> {
  const entries: string[] = [];
  let total = 0;
  const visit = async (inside: readonly string[]): Promise<void> => {
    for (const entry of await readFolder(childOf(place, inside), signal)) {
      if (total >= MAX_VISITED) return;
      total += 1;
      const names = [...inside, entry.name];
      if (entries.length < most) entries.push(names.join('/') + (entry.isDirectory() ? '/' : ''));
      if (entry.isDirectory() && names.length < maxDepth && !SKIPPED_FOLDERS.includes(entry.name) && !isDenied(place, names))
        await visit(names);
    }
  };
  await visit([]);
  return { entries, total };
}

/** By its text: a folder that is opened is judged again. */
function isDenied({ root, path, denied }: ResolvedFile, names: readonly string[]): boolean {
  return denied?.denialReason(absolutePath(root, [...path.names, ...names]), 'read') !== undefined;
}

/** Sorted by name. Half-written files of this worker are not there yet. */
async function readFolder(place: ResolvedFile, signal: AbortSignal): Promise<Dirent[]> {
  signal.throwIfAborted();
  try {
    const directory = await openDirectoryBeneath(place);
    const entries = await readdir(pathIn(directory, '.'), { withFileTypes: true }).finally(() => directory.handle.close());
    return entries.filter(({ name }) => !/^\.toolyard-.*\.tmp$/.test(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw fileFailure(error, place.path.displayPath, 'Check the path with file_list.');
  }
}
