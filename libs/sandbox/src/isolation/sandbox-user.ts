import { createHash } from 'node:crypto';
import { lchown, lstat, readdir } from 'node:fs/promises';
import { runProcess } from '../process/run-process.js';

/** User ids that systemd's overview of them (UIDS-GIDS) names as unused. */
const FIRST_USER = 1_879_048_192;
const USERS = 65_536;
const CHOWN_TIMEOUT_MS = 120_000;

/** True if this process may run commands as other users. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/** User id of a tenant's commands outside of the sandbox. Two tenants may share one, since namespaces separate them. */
export function userOfTenant(tenantId: string): number {
  return FIRST_USER + (createHash('sha256').update(tenantId).digest().readUInt32LE() % USERS);
}

/**
 * Makes a user (default: that of this process) the owner of a folder and its content, without following links. Does nothing if
 * the user owns the folder already, or if the process is not root. If the file system does not allow it, the owner stays, and
 * commands there run as the worker's user.
 */
export async function giveFolder(folder: string, user = process.getuid?.()): Promise<void> {
  if (!isRoot() || user === undefined) return;
  const { uid } = await lstat(folder);
  if (uid === user) return;
  if ((await readdir(folder)).length === 0) return lchown(folder, user, user).catch(() => undefined);
  // chown takes the folder itself last: one that was interrupted is given again.
  const args = ['-R', '-h', '-P', '--', `${user}:${user}`, folder];
  const command = { file: '/usr/bin/chown', args, cwd: '/', env: {} };
  await runProcess(command, { signal: AbortSignal.timeout(CHOWN_TIMEOUT_MS), graceMs: 0 });
}
