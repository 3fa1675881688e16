import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './usage-error.js';

export const DEFAULT_URL = 'http://127.0.0.1:7411';

export interface CliConfig {
  readonly url: string;
  readonly apiKey: string;
  /** Where the key was found, for `doctor`. */
  readonly keyFrom: string;
}

/**
 * Which gateway, and who asks: `--url` and `--key`, else TOOLYARD_URL and TOOLYARD_API_KEY, else the address and the key
 * file of `npm start` in this folder. Throws a UsageError when there is no key.
 */
export function readCliConfig(flags: { url?: string | undefined; key?: string | undefined }, env: NodeJS.ProcessEnv): CliConfig {
  const url = flags.url ?? (env['TOOLYARD_URL'] || DEFAULT_URL);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`The address of the gateway is ${JSON.stringify(url)}; expected something like ${DEFAULT_URL}`);
  if (flags.key !== undefined) return { url, apiKey: flags.key, keyFrom: '--key' };
  const fromEnv = env['TOOLYARD_API_KEY'];
  if (fromEnv) return { url, apiKey: fromEnv, keyFrom: 'TOOLYARD_API_KEY' };
  const file = join(env['TOOLYARD_DATA'] || '.toolyard', 'key');
  try {
    return { url, apiKey: readFileSync(file, 'utf8').trim(), keyFrom: file };
  } catch {
    throw new UsageError(
      `No API key: give --key or set TOOLYARD_API_KEY, or run this in the folder where \`npm start\` runs (there is no ${file} here)`,
    );
  }
}
