import { statSync } from 'node:fs';

/** The files that a definition names as secrets, wherever they stand. */
export function secretFiles(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('secretFile' in value && typeof value.secretFile === 'string') return [value.secretFile];
  return Object.values(value).flatMap(secretFiles);
}

/** A text that changes with the files, also when a link to one of them is turned, as Kubernetes does. */
export function versionOf(files: readonly string[]): string {
  return files
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
    })
    .join(', ');
}
