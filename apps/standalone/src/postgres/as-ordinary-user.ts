import { spawnSync } from 'node:child_process';

/** The user without rights. */
const USER = '65534';

/**
 * How to start a program that refuses to run as root, as PostgreSQL does: in a user namespace, where this process is another
 * user. Its files stay those of root, so that it works in folders that only root can open. An empty list for any other user;
 * undefined where user namespaces are not allowed.
 */
export function asOrdinaryUser(): readonly string[] | undefined {
  if (process.getuid?.() !== 0) return [];
  const words = ['unshare', '--user', `--map-user=${USER}`, `--map-group=${USER}`];
  return spawnSync('unshare', [...words.slice(1), 'true']).status === 0 ? words : undefined;
}
