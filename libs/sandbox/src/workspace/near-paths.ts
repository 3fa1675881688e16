import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { parse } from 'node:path';
import { closestNames } from '#tool-sdk';
import { openBeneath, openDirectoryBeneath, pathIn } from './open-beneath.js';
import { absolutePath, type ResolvedFile } from './resolved-file.js';
import { isTemporary } from './temporary-name.js';
import { parseWorkspacePath } from './workspace-path.js';

const MOST_SUGGESTED = 3;
/** Of all folders that are read for one path, so that a large folder costs no more than a small one. */
const MOST_ENTRIES = 4_000;
const ENTRIES_AT_ONCE = 500;
/** Names of one folder that are opened to find out whether the call may read them. */
const MOST_OPENED = 12;
/** A path with more names gets no suggestion: every name of it is opened from the root on. */
const DEEPEST = 32;

/**
 * Paths that are there and that a path which is not there was probably meant to be, nearest first, at most three. They are as
 * the call may give them. A part that is there is kept; for one that is not, the names of its folder are compared. All that is
 * suggested was opened as the call would open it, and what is denied to the call changes no suggestion. None where a
 * person is asked about each path. Never rejects: without an answer there is no suggestion.
 */
export async function nearPaths(place: ResolvedFile, mostEntries = MOST_ENTRIES): Promise<string[]> {
  const { names } = place.path;
  // Where the path itself was opened, nothing beside it was.
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
  // What is there by now is no suggestion.
  return ways.flatMap((way) => shownAs(place, way) ?? []).filter((shown) => shown !== displayPath);
}

/** A path begins with folders; what its last name is does not matter. */
type Kind = 'folder' | 'any';

interface Budget {
  /** How many entries may still be read. */
  entries: number;
}

/** The folder `way` and the name in it, or names that are near. */
async function continued(place: ResolvedFile, way: readonly string[], name: string, kind: Kind, budget: Budget): Promise<string[][]> {
  const meant = [...way, name];
  if (await canRead(place, meant, kind)) return [meant];
  const names = await namesIn(place, way, kind, budget).catch(() => []);
  const found: string[][] = [];
  // Denied names go first: they take no place from others.
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

/** Pipes and devices are not opened. Where a link leads is seen when it is opened. */
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

/** Whether the call, given this path, would be let in: by its text, and to what is opened. */
async function canRead(place: ResolvedFile, names: readonly string[], kind: Kind): Promise<boolean> {
  if (shownAs(place, names) === undefined || isDenied(place, names)) return false;
  try {
    const handle =
      kind === 'folder' ? (await openDirectoryBeneath(placeAt(place, names))).handle : await openBeneath(placeAt(place, names));
    try {
      const stats = await handle.stat();
      // One of the other names may be denied. To find out costs a search of the whole workspace.
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
