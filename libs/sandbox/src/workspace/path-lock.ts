import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from './file-failure.js';
import type { OpenDirectory } from './open-beneath.js';

/** Longer than any write of ten megabytes takes: a lock file this old was left behind by a killed worker. */
const STALE_MS = 15_000;
const RETRY_MS = { first: 2, most: 40 };
/** Beside the workspaces, under a name that no session can have (`~` is in no label): tools never see it. */
const LOCKS_FOLDER = '~locks';

/** Ends of the queues of this process, one a file in use. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `work` while no other caller, in this process or another one on the same workspace, is in `withPathLock` for the same
 * file. First come, first served within a process; between processes a lock file decides. `commit` verifies that the lock is
 * still held: it rejects if another process took it after a long delay, and must be called right before the effect. Waiting
 * ends with the signal.
 */
export async function withPathLock<T>(
  { root, locks = join(dirname(root), LOCKS_FOLDER) }: { readonly root: string; readonly locks?: string },
  directory: OpenDirectory,
  name: string,
  signal: AbortSignal,
  work: (commit: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const file = join(locks, `${basename(root)}.${await lockKey(directory, name)}`);
  return inTurn(file, signal, async () => {
    const token = await acquire(file, signal);
    try {
      return await work(() => assertHeld(file, token));
    } finally {
      await release(file, token);
    }
  });
}

/** Work on one key runs one after another. Aborted before its turn, it never runs; aborted later, it ends by itself. */
async function inTurn<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let waiting = true;
  const running = (queues.get(key) ?? Promise.resolve()).then(() => {
    signal.throwIfAborted();
    waiting = false;
    return work();
  });
  const end = running.catch(() => undefined);
  queues.set(key, end);
  void end.then(() => queues.get(key) === end && queues.delete(key));

  const settled = new AbortController();
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => {
    if (waiting) signal.throwIfAborted();
    return running;
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    settled.abort();
  }
}

/** The directory's inode, not its path, names the file: two paths through links to one file share their lock. */
async function lockKey(directory: OpenDirectory, name: string): Promise<string> {
  const { ino } = await directory.handle.stat();
  return createHash('sha256').update(`${ino}/${name}`).digest('hex').slice(0, 32);
}

async function acquire(file: string, signal: AbortSignal): Promise<string> {
  const token = randomUUID();
  for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
    signal.throwIfAborted();
    if (await tryCreate(file, token)) return token;
    await breakIfStale(file);
    await sleep(waitMs * (0.5 + Math.random()), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

async function tryCreate(file: string, token: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(token).finally(() => handle.close());
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return tryCreate(file, token);
  }
}

/** Two may break the same stale lock, and one of them then a fresh one: `commit` finds out before any effect. */
async function breakIfStale(file: string): Promise<void> {
  const held = await stat(file).catch(() => undefined);
  if (!held || Date.now() - held.mtimeMs < STALE_MS) return;
  const aside = `${file}.${randomUUID()}`;
  await rename(file, aside).catch(() => undefined);
  await unlink(aside).catch(() => undefined);
}

async function assertHeld(file: string, token: string): Promise<void> {
  if ((await holder(file)) !== token) throw new LockLost();
}

async function release(file: string, token: string): Promise<void> {
  if ((await holder(file)) === token) await unlink(file).catch(() => undefined);
}

async function holder(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Another process took the lock over; nothing was changed, and the work may be done again. */
export class LockLost extends Error {
  override readonly name = 'LockLost';
}
