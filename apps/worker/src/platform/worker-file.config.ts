import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { Plugins, RemoteHosts, validationFaults } from '#contracts';
import { ConfigError } from '#platform';

/** Part of the config file for workers; gateways check the rest. */
const WorkerFile = z.object({ plugins: Plugins, remoteHosts: RemoteHosts });
export type WorkerFile = z.output<typeof WorkerFile>;

/** Reads the part of a config file for workers; without a file, the defaults. @throws ConfigError */
export function readWorkerFile(path: string | undefined): WorkerFile {
  if (path === undefined) return WorkerFile.parse({});
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8')) ?? {};
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`TOOLYARD_CONFIG: expected a readable file with YAML or JSON at ${path}: ${why}`);
  }
  const parsed = WorkerFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const faults = validationFaults(parsed.error, '(whole file)');
  throw new ConfigError(faults.map((fault) => `${path}: ${fault}`).join('\n'));
}
