import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { Plugins, type PluginSettings } from '#contracts';
import { ConfigError } from '#platform';

/** All else in the file is for the gateways, which check it. */
const PluginsOnly = z.object({ plugins: Plugins });

/** The plugins that a config file names. @throws ConfigError */
export function readPluginSettings(path: string): PluginSettings[] {
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8')) ?? {};
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`TOOLYARD_CONFIG: expected a readable file with YAML or JSON at ${path}: ${why}`);
  }
  const parsed = PluginsOnly.safeParse(content);
  if (parsed.success) return parsed.data.plugins;
  throw new ConfigError(
    parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.') || '(whole file)'}: ${issue.message}`).join('\n'),
  );
}
