import { dirname } from 'node:path';
import { ConfigError } from '#platform';
import { loadPlugins, type LoadedPlugin } from '#sources';
import type { WorkerConfig } from '../platform/worker.config.js';

/** Loads the plugins of the config file. @throws ConfigError with one sentence */
export async function pluginsOf({ plugins, configFile }: Pick<WorkerConfig, 'plugins' | 'configFile'>): Promise<LoadedPlugin[]> {
  if (configFile === undefined) return [];
  try {
    return await loadPlugins(plugins, dirname(configFile));
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
