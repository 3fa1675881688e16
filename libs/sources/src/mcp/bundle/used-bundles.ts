import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { everyMs } from '#timing';

/** An unpacked bundle that no server used for this long is removed. */
export const UNUSED_MS = 7 * 86_400_000;
/** Well below, so that a bundle in use is never taken for an unused one. */
const MARK_MS = 3_600_000;
/** Removals of one look, so that it delays no start for long. */
const AT_ONCE = 10;
const DIGEST = /^[0-9a-f]{64}$/;
/** Begin of the names of folders in which bundles are unpacked. */
export const DRAFT = '.unpacking-';
/** Of a bundle that is unpacked or removed: an older folder is of a worker that was killed. */
const UNFINISHED = /^\.(?:unpacking|removing)-/;
const UNFINISHED_MS = 3_600_000;

/**
 * Marks the bundle as used until the returned function is called. Call it before the folder is looked for. The mark is a
 * file beside the folder, so that all workers that share `root` see it.
 */
export async function useBundle(root: string, sha256: string): Promise<() => void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await mark(root, sha256);
  const ticker = everyMs(MARK_MS, () => mark(root, sha256));
  return () => ticker.unsubscribe();
}

/** Removes folders of bundles whose mark is old, and unfinished ones. A folder whose mark is lost is marked again. */
export async function removeUnused(root: string, now = Date.now()): Promise<void> {
  const names = await readdir(root);
  let left = AT_ONCE;
  for (const name of names.filter((it) => UNFINISHED.test(it))) {
    const { mtimeMs = now } = (await stat(join(root, name)).catch(() => undefined)) ?? {};
    if (left === 0 || now - mtimeMs <= UNFINISHED_MS) continue;
    left -= 1;
    await rm(join(root, name), { recursive: true, force: true });
  }
  for (const sha256 of names.filter((it) => DIGEST.test(it))) {
    const markedAt = await markOf(root, sha256);
    if (markedAt === undefined) await mark(root, sha256);
    else if (left > 0 && now - markedAt > UNUSED_MS) {
      left -= 1;
      await remove(root, sha256, markedAt);
    }
  }
}

/** Out of the way first: a worker that begins to use it meanwhile finds it whole or not at all, or gets it back. */
async function remove(root: string, sha256: string, markedAt: number): Promise<void> {
  const folder = join(root, sha256);
  const away = join(root, `.removing-${randomUUID()}`);
  await rename(folder, away);
  if ((await markOf(root, sha256)) !== markedAt && (await rename(away, folder).then(always, never))) return;
  await rm(away, { recursive: true, force: true });
  await rm(markFile(root, sha256), { force: true });
}

const always = () => true;
const never = () => false;
const markFile = (root: string, sha256: string) => join(root, `${sha256}.used`);

async function mark(root: string, sha256: string): Promise<void> {
  const now = new Date();
  await writeFile(markFile(root, sha256), '', { mode: 0o600 });
  await utimes(markFile(root, sha256), now, now);
}

async function markOf(root: string, sha256: string): Promise<number | undefined> {
  return stat(markFile(root, sha256)).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}
