import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from './data-directory.js';
import { processIdentity } from './process-identity.js';
import { StartupError, systemCode } from '../start-failure.js';

const Holder = z.object({ pid: z.number().int().positive(), identity: z.string() });
type Holder = z.output<typeof Holder>;

/**
 * Locks the data directory for this process. Takes over the lock of a process that is gone. Returns its release, which may be
 * called twice.
 *
 * No `proper-lockfile`: it decides by the age of a file that a timer must touch, so a suspended machine loses its lock.
 *
 * @throws StartupError if another Toolyard runs on the directory
 */
export function lockDirectory(directory: DataDirectory): () => void {
  const mine: Holder = { pid: process.pid, identity: processIdentity(process.pid) ?? 'unknown' };
  const draft = `${directory.lock}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
  try {
    // Each failed attempt means that another process took or released the lock in between.
    for (let tries = 0; tries < 5; tries += 1) {
      if (tryLink(draft, directory.lock)) return () => release(directory, mine);
      const holder = readHolder(directory.lock);
      if (holder && processIdentity(holder.pid) === holder.identity) throw inUse(directory, holder.pid);
      takeAway(directory, draft);
    }
    throw inUse(directory);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Moves a stale lock aside, then checks what it has moved: a new holder may have replaced it in between. */
function takeAway(directory: DataDirectory, draft: string): void {
  const aside = `${draft}.aside`;
  try {
    renameSync(directory.lock, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  const moved = readHolder(aside);
  if (moved && processIdentity(moved.pid) === moved.identity) tryLink(aside, directory.lock);
  rmSync(aside, { force: true });
}

function release(directory: DataDirectory, mine: Holder): void {
  const holder = readHolder(directory.lock);
  if (holder?.pid === mine.pid && holder.identity === mine.identity) rmSync(directory.lock, { force: true });
}

/** `link` fails when the name exists, and the name never shows a half-written file. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined without a readable lock. */
function readHolder(path: string): Holder | undefined {
  try {
    return Holder.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function inUse(directory: DataDirectory, pid?: number): StartupError {
  const who = pid === undefined ? 'Another Toolyard' : `Another Toolyard (process ${pid})`;
  return new StartupError(`${who} is running on ${directory.path}. Stop it first, or set TOOLYARD_DATA to another directory.`);
}
