import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Absolute path of the first of `names` that this machine can run, or undefined. Searches `path` only. */
export function findExecutable(names: readonly string[], path = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'): string | undefined {
  for (const name of names) {
    const found = path
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find(isExecutable);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
