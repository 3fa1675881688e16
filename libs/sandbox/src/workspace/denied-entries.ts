import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { DeniedPaths } from '#tool-sdk';
import { absolutePath, type ResolvedFile } from './resolved-file.js';
import { pathNotAllowed } from './workspace-path.js';

/** A folder with more entries is not looked through to its end. */
const MAX_ENTRIES = 200_000;
/** Longest time for which a search may block this process. */
const YIELD_AFTER_MS = 20;
const LINKED = 'It is another name of a file that is denied to this call.';
const UNKNOWN = 'The file has other names, and the folder is too large to find out whether one of them is denied to this call.';

export interface DeniedEntry {
  readonly path: string;
  readonly directory: boolean;
  readonly stats: Stats;
}

export interface DeniedEntries {
  /** Existing denied entries, without those inside a denied folder. */
  readonly entries: readonly DeniedEntry[];
  /** Other names of denied files (hard links). */
  readonly links: readonly string[];
  /** False: the folders have too many entries, and some were not looked at. */
  readonly complete: boolean;
}

const NOTHING_DENIED: DeniedEntries = { entries: [], links: [], complete: true };

/** Searches folders for paths that a call may not access, without following links. Rejects with the signal's reason. */
export async function findDeniedEntries(
  roots: readonly string[],
  denied: DeniedPaths,
  access: 'read' | 'write',
  signal: AbortSignal,
): Promise<DeniedEntries> {
  const searched = roots.filter((root) => denied.mayDenyBelow(root));
  if (searched.length === 0) return NOTHING_DENIED;
  const entries: DeniedEntry[] = [];
  const files: string[] = [];
  const complete = await visit(searched, signal, async (path, directory) => {
    if (denied.denialReason(path, access) === undefined) {
      if (!directory) files.push(path);
      return true;
    }
    const stats = await lstat(path).catch(() => undefined);
    if (stats) entries.push({ path, directory, stats });
    return false;
  });
  return { entries, links: await linksTo(await inodesOf(entries, signal), files, signal), complete };
}

/**
 * A file that has another name may be a denied one under that name. Nothing but looking through the folder tells.
 * @throws ToolError `policy_denied` when it is one, or when the folder is too large to know.
 */
export async function rejectHardLinkToDenied({ root, path, denied }: ResolvedFile, stats: Stats, signal: AbortSignal): Promise<void> {
  if (denied === undefined || stats.nlink < 2 || root === '/') return;
  const { entries, complete } = await findDeniedEntries([root], denied, 'read', signal);
  if ((await inodesOf(entries, signal)).has(inodeOf(stats))) throw pathNotAllowed(path.displayPath, LINKED);
  if (!complete) throw pathNotAllowed(path.displayPath, UNKNOWN);
}

/** `enter` returns true for folders to search. False: stopped at the limit. */
async function visit(
  roots: readonly string[],
  signal: AbortSignal,
  enter: (path: string, directory: boolean) => Promise<boolean>,
): Promise<boolean> {
  const folders = [...roots];
  let seen = 0;
  let breathedAt = performance.now();
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (++seen > MAX_ENTRIES) return false;
      // Reasons are found without waiting for anything: timers, cancels and other calls would not come through.
      if (performance.now() - breathedAt > YIELD_AFTER_MS) {
        await setImmediate();
        signal.throwIfAborted();
        breathedAt = performance.now();
      }
      const path = absolutePath(folder, [entry.name]);
      if ((await enter(path, entry.isDirectory())) && entry.isDirectory()) folders.push(path);
    }
  }
  return true;
}

/** Inodes of denied files with more than one name, including those in denied folders. */
async function inodesOf(entries: readonly DeniedEntry[], signal: AbortSignal): Promise<Set<string>> {
  const found = new Set<string>();
  const add = (stats: Stats | undefined): void => void (stats !== undefined && stats.nlink > 1 && found.add(inodeOf(stats)));
  for (const { path, directory, stats } of entries) {
    if (!directory) add(stats);
    else
      await visit([path], signal, async (inner, isFolder) => {
        if (!isFolder) add(await lstat(inner).catch(() => undefined));
        return true;
      });
  }
  return found;
}

async function linksTo(inodes: ReadonlySet<string>, files: readonly string[], signal: AbortSignal): Promise<string[]> {
  if (inodes.size === 0) return [];
  const links: string[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const stats = await lstat(file).catch(() => undefined);
    if (stats !== undefined && stats.nlink > 1 && inodes.has(inodeOf(stats))) links.push(file);
  }
  return links;
}

function inodeOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
