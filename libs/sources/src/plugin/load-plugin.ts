import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { SourceName, type PluginSettings, type StoredSource } from '#contracts';
import { BuiltinSource, isPlugin, type Plugin } from '#tool-sdk';

/** A plugin that is loaded: its tools, and the source that offers them to all tenants. */
export interface LoadedPlugin {
  readonly source: StoredSource;
  readonly tools: BuiltinSource;
}

/**
 * Loads the plugins that a config file names, found from its folder. All run in this process, with its rights.
 *
 * @throws Error with one sentence that names the package
 */
export async function loadPlugins(settings: readonly PluginSettings[], folder: string): Promise<LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  for (const each of settings) {
    const plugin = await load(each, folder).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`The plugin ${each.package} cannot be loaded: ${why}`, { cause: error });
    });
    const { name } = plugin.source.definition;
    if (loaded.some(({ source }) => source.definition.name === name))
      throw new Error(`The plugin ${each.package} cannot be loaded: another plugin is called ${name}, too`);
    loaded.push(plugin);
  }
  return loaded;
}

async function load({ package: named, config, trust }: PluginSettings, folder: string): Promise<LoadedPlugin> {
  const plugin = await importPlugin(packageFolder(named, folder));
  const name = SourceName.safeParse(plugin.name);
  if (!name.success) throw new Error(`its name ${JSON.stringify(plugin.name)} is wrong: ${name.error.issues[0]?.message ?? ''}`);
  const tools = await plugin.open(config);
  const source = new BuiltinSource(() => tools);
  // Faults of tools show here and not at the first call.
  source.list();
  return {
    source: { tenantId: '*', origin: 'config', definition: { name: name.data, kind: 'plugin', package: named, trust, pin: false } },
    tools: source,
  };
}

const PackageFile = z.object({ toolyard: z.string() });
const PluginModule = z.looseObject({ default: z.unknown() });

async function importPlugin(folder: string): Promise<Plugin> {
  const found = PackageFile.safeParse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  if (!found.success)
    throw new Error(`${join(folder, 'package.json')} has no "toolyard": expected the path of a file, such as "./dist/plugin.js"`);
  const { toolyard } = found.data;
  const module = PluginModule.parse(await import(pathToFileURL(resolve(folder, toolyard)).href));
  if (!isPlugin(module.default)) throw new Error(`${resolve(folder, toolyard)} has no default export made by definePlugin`);
  return module.default;
}

function packageFolder(named: string, folder: string): string {
  const isPath = named.startsWith('./') || named.startsWith('../') || isAbsolute(named);
  const places = isPath ? [resolve(folder, named)] : installedAt(named, folder);
  const found = places.find((place) => existsSync(join(place, 'package.json')));
  if (found !== undefined) return found;
  throw new Error(isPath ? `there is no package.json in ${places[0]}` : `it is not installed; run npm install ${named} in ${folder}`);
}

/** Folders that Node would search, independent of the package's `exports`. */
function installedAt(named: string, folder: string): string[] {
  return (createRequire(join(folder, 'toolyard.js')).resolve.paths(named) ?? []).map((modules) => join(modules, named));
}
