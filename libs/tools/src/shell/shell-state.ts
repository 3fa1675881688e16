import { constants } from 'node:fs';
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { STATE_END } from './shell-script.js';

const LARGEST_STATE_BYTES = 262_144;

/** Open state of a session's shell: the old one for reading, and a new file for the next one. */
export interface ShellState {
  /** Descriptors 3 (old) and 4 (new) of the command. */
  readonly files: readonly [number, number];
  /** Stores the state that the command left, if complete; then closes. */
  keep(): Promise<'kept' | 'incomplete' | 'too_large'>;
  /** Closes and leaves the state as it was. Idempotent. */
  discard(): Promise<void>;
}

/**
 * Opens the state of the session that works in `root`, a file beside the workspaces. Commands in a sandbox get it as open
 * descriptors only. The worker only moves its bytes; nothing but the session's own commands read it. Concurrent commands start
 * from the same state; the last one to end stores its own. `~` is in no session's name.
 */
export async function openShellState(root: string, attempt: string): Promise<ShellState> {
  const folder = join(dirname(root), '~shell');
  const path = join(folder, basename(root));
  const next = `${path}~${attempt}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const before = await open(path, constants.O_RDONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const after = await open(next, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600).catch(
    async (error: unknown) => {
      await before.close();
      throw error;
    },
  );
  await giveToOwnerOf(root, before, after);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeBoth(before, after, next));
  return {
    files: [before.fd, after.fd],
    keep: async () => {
      const verdict = await completenessOf(after);
      if (verdict === 'kept') await rename(next, path);
      await close();
      return verdict;
    },
    discard: close,
  };
}

/** The command opens them again by the names of its descriptors, as the user who owns the workspace. */
async function giveToOwnerOf(root: string, ...files: readonly FileHandle[]): Promise<void> {
  const { uid, gid } = await stat(root);
  if (uid !== process.getuid?.()) await Promise.all(files.map((file) => file.chown(uid, gid)));
}

async function completenessOf(file: FileHandle): Promise<'kept' | 'incomplete' | 'too_large'> {
  const { size } = await file.stat();
  if (size > LARGEST_STATE_BYTES) return 'too_large';
  const end = Buffer.alloc(STATE_END.length);
  await file.read(end, 0, end.length, Math.max(0, size - end.length));
  return end.toString('latin1') === STATE_END ? 'kept' : 'incomplete';
}

async function closeBoth(before: FileHandle, after: FileHandle, next: string): Promise<void> {
  await Promise.allSettled([before.close(), after.close()]);
  await rm(next, { force: true });
}
