import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartupError } from './startup-error.js';

/**
 * Makes a directory and its parents, readable by this user only. Returns its real path.
 * @throws StartupError when it cannot be made or written to; the message names `variable`, which can name another
 */
export function ensureDirectory(path: string, what: string, variable: string): string {
  const folder = resolve(path);
  try {
    make(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new StartupError(
      `Cannot write to the ${what} ${folder} (${code}). Make it writable for this user, or set ${variable} to another directory.`,
      { cause: error },
    );
  }
}

/**
 * Level by level, not with `recursive`: Node 20 never returns from that under /proc, where mkdir fails with ENOENT.
 */
function make(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) make(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
