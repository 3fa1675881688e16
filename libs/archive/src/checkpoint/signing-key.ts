import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generateSigningKey, parseSigningKey, type NoteSigner } from './signed-note.js';

/** Reads the key with which checkpoints are signed. @throws Error if the file is missing or contains no key */
export async function readSigningKey(file: string): Promise<NoteSigner> {
  return parseSigningKey(await readFile(file, 'utf8'));
}

/** Creates the file (mode 0600) with a new key, unless it exists. The name of the archive is random, `toolyard/1f2e3d4c`. */
export async function ensureSigningKey(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    const created = await open(file, 'wx', 0o600);
    try {
      await created.writeFile(`${generateSigningKey(`toolyard/${randomBytes(4).toString('hex')}`)}\n`);
      await created.sync();
    } finally {
      await created.close();
    }
  } catch (error) {
    if (!(typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
