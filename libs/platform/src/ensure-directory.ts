import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartupError } from './startup-error.js';

/**
 * Makes a directory and its parents, readable by this user only. Returns its real path.
 * @throws StartupError if it cannot be created or written; the message contains `variable`, the setting of the path
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

/** Creates folders level by level: with `recursive`, Node 20 hangs under /proc, where mkdir fails with ENOENT. */
function make(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) make(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
