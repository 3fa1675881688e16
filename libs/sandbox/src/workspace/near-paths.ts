import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { parse } from 'node:path';
import { closestNames } from '#tool-sdk';
import { openBeneath, openDirectoryBeneath, pathIn } from './open-beneath.js';
import { absolutePath, type ResolvedFile } from './resolved-file.js';
import { isTemporary } from './temporary-name.js';
import { parseWorkspacePath } from './workspace-path.js';

const MOST_SUGGESTED = 3;
/** Most entries read for one path, over all folders, so that a large folder costs no more than a small one. */
const MOST_ENTRIES = 4_000;
const ENTRIES_AT_ONCE = 500;
/** Names of one folder that are opened to find out whether the call may read them. */
const MOST_OPENED = 12;
/** A path with more names gets no suggestion: every name of it is opened from the root on. */
const DEEPEST = 32;

/**
 * Existing paths similar to a missing one, nearest first, at most three, in the form that the call may use. Keeps existing
 * parts; for a missing part, compares the names of its folder. Every suggestion was opened like the call would open it; denied
 * paths do not affect suggestions. Empty if each path needs its own approval. Never rejects: errors give no suggestion.
 */
export async function nearPaths(place: ResolvedFile, mostEntries = MOST_ENTRIES): Promise<string[]> {
  const { names } = place.path;
  // An individually opened path has no opened neighbours.
  if (place.symlinks === 'refuse' || place.denied?.eachPathAsked === true || names.length === 0 || names.length > DEEPEST) return [];
  return search(place, { entries: mostEntries }).catch(() => []);
}

async function search(place: ResolvedFile, budget: Budget): Promise<string[]> {
  const { names, displayPath } = place.path;
  let ways: (readonly string[])[] = [[]];
  for (const [index, name] of names.entries()) {
    const kind = index === names.length - 1 ? 'any' : 'folder';
    const longer: (readonly string[])[] = [];
    for (const way of ways) longer.push(...(await continued(place, way, name, kind, budget)));
    ways = longer.slice(0, MOST_SUGGESTED);
  }
  // A path that exists by now is not a suggestion.
  return ways.flatMap((way) => shownAs(place, way) ?? []).filter((shown) => shown !== displayPath);
}

/** Kind of an entry: a path begins with folders; its last name may be of any kind. */
type Kind = 'folder' | 'any';

interface Budget {
  /** Number of entries that may still be read. */
  entries: number;
}

/** The folder `way` and the name in it, or names that are near. */
async function continued(place: ResolvedFile, way: readonly string[], name: string, kind: Kind, budget: Budget): Promise<string[][]> {
  const meant = [...way, name];
  if (await canRead(place, meant, kind)) return [meant];
  const names = await namesIn(place, way, kind, budget).catch(() => []);
  const found: string[][] = [];
  // Denied names are removed first, so that they take no place from others.
  const near = nearestNames(name, names).filter((it) => !isDenied(place, [...way, it]));
  for (const candidate of near.slice(0, MOST_OPENED)) {
    if (found.length === MOST_SUGGESTED) break;
    if (await canRead(place, [...way, candidate], kind)) found.push([...way, candidate]);
  }
  return found;
}

async function namesIn(place: ResolvedFile, way: readonly string[], kind: Kind, budget: Budget): Promise<string[]> {
  const directory = await openDirectoryBeneath(placeAt(place, way));
  try {
    const found: string[] = [];
    if (budget.entries <= 0) return found;
    for await (const entry of await opendir(pathIn(directory, '.'), { bufferSize: ENTRIES_AT_ONCE })) {
      if (isOfKind(entry, kind) && !isTemporary(entry.name)) found.push(entry.name);
      budget.entries -= 1;
      if (budget.entries === 0) break;
    }
    return found;
  } finally {
    await directory.handle.close();
  }
}

/** True for an entry of the kind. Pipes and devices are not opened; the target of a link is checked on opening. */
function isOfKind(entry: Dirent, kind: Kind): boolean {
  return entry.isDirectory() || entry.isSymbolicLink() || (kind === 'any' && entry.isFile());
}

/** First those that differ by case and extension only. */
function nearestNames(wanted: string, names: readonly string[]): string[] {
  const stem = stemOf(wanted);
  const same = names.filter((name) => stemOf(name) === stem);
  return [...new Set([...closestNames(wanted, same, Infinity), ...same.sort(), ...closestNames(wanted, names, Infinity)])];
}

function stemOf(name: string): string {
  return parse(name).name.toLowerCase();
}

/** True if the call may read this path, by its text and by the opened file. */
async function canRead(place: ResolvedFile, names: readonly string[], kind: Kind): Promise<boolean> {
  if (shownAs(place, names) === undefined || isDenied(place, names)) return false;
  try {
    const handle =
      kind === 'folder' ? (await openDirectoryBeneath(placeAt(place, names))).handle : await openBeneath(placeAt(place, names));
    try {
      const stats = await handle.stat();
      // Files with several names are excluded: one may be denied, and checking them would need a search of the whole workspace.
      return stats.isDirectory() || (stats.isFile() && (stats.nlink === 1 || place.denied === undefined));
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}

function isDenied({ root, denied }: ResolvedFile, names: readonly string[]): boolean {
  return denied?.denialReason(absolutePath(root, names), 'read') !== undefined;
}

function placeAt(place: ResolvedFile, names: readonly string[]): ResolvedFile {
  return { ...place, path: { names, displayPath: place.path.displayPath } };
}

/** Undefined for a name that no argument can have, such as one with a line break. */
function shownAs({ root, path }: ResolvedFile, names: readonly string[]): string | undefined {
  const given = path.names.join('/');
  if (!path.displayPath.endsWith(given)) return undefined;
  const shown = path.displayPath.slice(0, path.displayPath.length - given.length) + names.join('/');
  try {
    const read = parseWorkspacePath(root, shown);
    return read.names.join('/') === names.join('/') ? shown : undefined;
  } catch {
    return undefined;
  }
}
