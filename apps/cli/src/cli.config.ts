import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { isLoopbackUrl, LOCAL_INSTALLATION } from '#contracts';
import { UsageError } from './usage-error.js';

export const DEFAULT_URL = LOCAL_INSTALLATION.url;

export interface CliConfig {
  readonly url: string;
  /** Origin of the address, for `doctor`. */
  readonly urlFrom: string;
  readonly apiKey: string;
  /** Origin of the key, for `doctor`. */
  readonly keyFrom: string;
  /** Whole path of the data folder, if the key is from there. */
  readonly dataFolder?: string;
}

/** Variables of the command line tool. The gateway's schema describes the ones that it reads, too. */
export const CliEnv = z.object({
  TOOLYARD_URL: z.string().optional().meta({
    description: 'Address of the gateway, for the command line tool and the examples.',
    shownDefault: 'the file `address` in `TOOLYARD_DATA`',
  }),
  TOOLYARD_API_KEY: z.string().optional(),
  TOOLYARD_DATA: z.string().optional(),
});
type CliEnv = z.output<typeof CliEnv>;

/** Sentence for each variable one or two letters away from a known one, also if the known one is set. */
export function mistypedVariables(variables: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(CliEnv.shape);
  return Object.keys(variables)
    .filter((name) => name.startsWith('TOOLYARD_') && !names.includes(name))
    .flatMap((name) => {
      const meant = names.find((other) => distance(name, other) <= 2);
      if (meant === undefined) return [];
      return [
        `The variable ${name} is not known: did you mean ${meant}${variables[meant] ? ', which is set' : ''}? It has no effect as it is.`,
      ];
    });
}

const URL_FLAG = '--url';

interface Flags {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Address and key: from `--url` and `--key`, else TOOLYARD_URL and TOOLYARD_API_KEY, else the files `address` and `key` that
 * `npm start` keeps in its data folder (TOOLYARD_DATA, else `.toolyard` here).
 *
 * @throws UsageError without a key
 */
export function readCliConfig(flags: Flags, variables: NodeJS.ProcessEnv): CliConfig {
  const env = CliEnv.parse(variables);
  const folder = env.TOOLYARD_DATA || LOCAL_INSTALLATION.data;
  return {
    ...addressOf(flags, env, join(folder, LOCAL_INSTALLATION.addressFile)),
    ...keyOf(flags, env, join(folder, LOCAL_INSTALLATION.keyFile)),
  };
}

/** Variables with which the program finds the same gateway from any folder, and the key where it is in a data folder: never the key itself. */
export function portableVariables({ url, urlFrom, dataFolder }: CliConfig): Record<string, string> {
  if (dataFolder === undefined) return { TOOLYARD_URL: url };
  const given = urlFrom === URL_FLAG || urlFrom === 'TOOLYARD_URL';
  return { TOOLYARD_DATA: dataFolder, ...(given ? { TOOLYARD_URL: url } : {}) };
}

function addressOf(flags: Flags, env: CliEnv, file: string): Pick<CliConfig, 'url' | 'urlFrom'> {
  if (flags.url !== undefined) return checked(flags.url, URL_FLAG);
  const fromEnv = env.TOOLYARD_URL;
  if (fromEnv) return checked(fromEnv, 'TOOLYARD_URL');
  const written = read(file);
  if (written === undefined) return { url: DEFAULT_URL, urlFrom: `the default, as there is no ${file}` };
  const found = checked(written, file);
  if (isLoopbackUrl(written)) return found;
  throw new UsageError(`${file} names ${written}, which is not this machine: give --url or set TOOLYARD_URL to send the API key there`);
}

function checked(url: string, urlFrom: string): Pick<CliConfig, 'url' | 'urlFrom'> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`The address of the gateway is ${JSON.stringify(url)} (from ${urlFrom}); expected something like ${DEFAULT_URL}`);
  return { url, urlFrom };
}

function keyOf(flags: Flags, env: CliEnv, file: string): Pick<CliConfig, 'apiKey' | 'keyFrom' | 'dataFolder'> {
  if (flags.key !== undefined) return { apiKey: flags.key, keyFrom: '--key' };
  const fromEnv = env.TOOLYARD_API_KEY;
  if (fromEnv) return { apiKey: fromEnv, keyFrom: 'TOOLYARD_API_KEY' };
  const written = read(file);
  if (written !== undefined) return { apiKey: written, keyFrom: file, dataFolder: resolve(dirname(file)) };
  throw new UsageError(
    `No API key: give --key, or set TOOLYARD_API_KEY, or run this in the folder where \`npm start\` runs or with its TOOLYARD_DATA (there is no ${file} here)`,
  );
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
