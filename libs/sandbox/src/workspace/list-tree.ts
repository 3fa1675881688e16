import type { Dirent, Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { pathIn, openDirectoryBeneath } from './open-beneath.js';
import { pathFailure } from './path-failure.js';
import { childOf, absolutePath, type ResolvedFile } from './resolved-file.js';
import { isTemporary } from './temporary-name.js';

/** Listed, but not entered: their content is seldom of interest. */
export const SKIPPED_FOLDERS: readonly string[] = ['.git', 'node_modules', 'target', 'dist', 'build', '.cache', '.venv', '__pycache__'];
const MAX_VISITED = 20_000;

export interface ListedEntry {
  /** Relative to the listed folder, folders with `/`. */
  readonly path: string;
  /** Stats of the entry itself, even if it is a link. Undefined if it is gone, or if stats were not requested. */
  readonly stats: Stats | undefined;
}

/**
 * Entries as paths relative to the listed folder, in depth-first order, folders with `/`; `total` counts those left out too (up
 * to 20,000).
 */
export async function listTree(
  place: ResolvedFile,
  { maxDepth, most }: { maxDepth: number; most: number },
  signal: AbortSignal,
): Promise<{ entries: string[]; total: number }> {
  const entries: string[] = [];
  const total = await visitTree(
    place,
    { maxDepth, stats: false },
    signal,
    ({ path }) => void (entries.length < most && entries.push(path)),
  );
  return { entries, total };
}

/**
 * Entries with their stats, last changed first, without those whose path `excludes` takes and without what lies below them; `total`
 * counts those left out by `most` too.
 */
export async function listTreeByTime(
  place: ResolvedFile,
  { maxDepth, most, excludes }: { maxDepth: number; most: number; excludes: (path: string) => boolean },
  signal: AbortSignal,
): Promise<{ entries: ListedEntry[]; total: number }> {
  const entries: ListedEntry[] = [];
  const total = await visitTree(place, { maxDepth, excludes, stats: true }, signal, (entry) => void entries.push(entry));
  const changedAt = ({ stats }: ListedEntry): number => stats?.mtimeMs ?? 0;
  return { entries: entries.sort((a, b) => changedAt(b) - changedAt(a) || (a.path < b.path ? -1 : 1)).slice(0, most), total };
}

interface Visit {
  readonly maxDepth: number;
  readonly stats: boolean;
  readonly excludes?: (path: string) => boolean;
}

/** Visits the tree in depth-first order. Returns the number of entries. */
async function visitTree(
  place: ResolvedFile,
  { maxDepth, stats, excludes }: Visit,
  signal: AbortSignal,
  take: (entry: ListedEntry) => void,
): Promise<number> {
  let total = 0;
  const visit = async (inside: readonly string[]): Promise<void> => {
    for (const entry of await readFolder(childOf(place, inside), stats, signal)) {
      if (total >= MAX_VISITED) return;
      const names = [...inside, entry.name];
      const path = names.join('/');
      if (excludes?.(path) === true) continue;
      total += 1;
      take({ path: path + (entry.isDirectory ? '/' : ''), stats: entry.stats });
      if (entry.isDirectory && names.length < maxDepth && !SKIPPED_FOLDERS.includes(entry.name) && !isDenied(place, names))
        await visit(names);
    }
  };
  await visit([]);
  return total;
}

/** Checks by path only, since an opened folder is checked again. */
function isDenied({ root, path, denied }: ResolvedFile, names: readonly string[]): boolean {
  return denied?.denialReason(absolutePath(root, [...path.names, ...names]), 'read') !== undefined;
}

interface FolderEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly stats: Stats | undefined;
}

/**
 * Sorted by name; of a folder with more than 20,000 entries those that the system names first: commands make folders of hundreds of
 * thousands, which would hold the worker for seconds. Half-written files of this worker are not there yet.
 */
async function readFolder(place: ResolvedFile, stats: boolean, signal: AbortSignal): Promise<FolderEntry[]> {
  signal.throwIfAborted();
  try {
    const directory = await openDirectoryBeneath(place);
    try {
      const entries = (await firstEntries(pathIn(directory, '.'), signal)).sort((a, b) => (a.name < b.name ? -1 : 1));
      return await Promise.all(
        entries.map(async (entry) => ({
          name: entry.name,
          isDirectory: entry.isDirectory(),
          stats: stats ? await lstat(pathIn(directory, entry.name)).catch(() => undefined) : undefined,
        })),
      );
    } finally {
      await directory.handle.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw await pathFailure(error, place, 'Check the path with file_list.');
  }
}

async function firstEntries(path: string, signal: AbortSignal): Promise<Dirent[]> {
  const found: Dirent[] = [];
  for await (const entry of await opendir(path, { bufferSize: 1_024 })) {
    signal.throwIfAborted();
    if (isTemporary(entry.name)) continue;
    found.push(entry);
    if (found.length >= MAX_VISITED) break;
  }
  return found;
}
