import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { StartupError, systemCode } from '../start-failure.js';

/**
 * The API key of this installation: read from the file, or generated at the first start. The file's mode is set to 600.
 */
export function readOrMakeKey(path: string): string {
  try {
    const key = readFileSync(path, 'utf8').trim();
    if (key.length < 16) throw new StartupError(`The key in ${path} is shorter than 16 characters. Delete the file to get a new key.`);
    chmodSync(path, 0o600);
    return key;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  const key = `ty_${randomBytes(32).toString('base64url')}`;
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}
