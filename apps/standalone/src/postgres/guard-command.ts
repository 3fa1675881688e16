import { spawnSync } from 'node:child_process';
import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The user without rights. */
const UNPRIVILEGED_UID = 65_534;

/** The user of a program that must not be root, who still opens the folders of root: PostgreSQL and its data may be in one. */
const AS_UNPRIVILEGED = [
  '--reuid',
  String(UNPRIVILEGED_UID),
  '--regid',
  String(UNPRIVILEGED_UID),
  '--clear-groups',
  '--no-new-privs',
  // Else access(2), by which PostgreSQL looks for its programs, asks without the capability below.
  '--securebits=+no_setuid_fixup',
  ...['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`),
];

/**
 * Command prefix for PostgreSQL. When this process ends in any way, the kernel sends PostgreSQL SIGINT, its fast shutdown. If
 * this process is root, PostgreSQL runs as another user, since it refuses root. Empty if `setpriv` (util-linux) is missing and
 * not needed; undefined if needed and missing.
 */
export function guardCommand(): readonly string[] | undefined {
  const isRoot = process.getuid?.() === 0;
  const words = ['setpriv', '--pdeathsig', 'INT', ...(isRoot ? AS_UNPRIVILEGED : []), '--'];
  const works = spawnSync(words[0] ?? '', [...words.slice(1), 'true']).status === 0;
  return works ? words : isRoot ? undefined : [];
}

/** Gives a folder and all in it to the user as whom `guarded` runs programs. Does nothing for any user but root. */
export function giveToGuarded(folder: string): void {
  if (process.getuid?.() !== 0 || lstatSync(folder).uid === UNPRIVILEGED_UID) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  lchownSync(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID);
}
