import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Version of this build: that of the nearest package.json above this file, in the source tree and in `dist/` alike. */
export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

function readVersion(folder: string): string {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('There is no package.json above this program; keep it beside dist/');
  return readVersion(parent);
}
