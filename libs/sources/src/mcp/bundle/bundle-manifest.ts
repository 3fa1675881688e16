import { z } from 'zod';
import { SETTING_TYPES, type BundleSetting, type McpBundle, type SecretRef } from '#contracts';
import { loaderVariable } from '../../definitions/loader-variables.js';

export const MANIFEST_NAME = 'manifest.json';
export const MAX_MANIFEST_BYTES = 1_048_576;

/**
 * Manifest of a server type that is not implemented: the first start would fetch dependencies from the network, which the
 * pinned digest does not cover.
 */
const NotImplemented = z.looseObject({ server: z.looseObject({ type: z.literal('uv') }) });

const Word = z.string().max(4_096);
/** Text for people, cut at 1,000 characters. */
const Shown = z
  .string()
  .transform((text) => text.slice(0, 1_000).toWellFormed())
  .optional()
  .catch(undefined);
const Values = z.record(z.string().max(128), Word);
const ServerCommand = z.object({ command: Word, args: z.array(Word).max(256).optional(), env: Values.optional() });

/** Setting that the person who installs a bundle may, or must, enter. */
const UserSetting = z.object({
  type: z.enum(SETTING_TYPES),
  title: Shown,
  description: Shown,
  required: z.boolean().default(false),
  default: z.union([Word, z.number(), z.boolean(), z.array(Word).max(64)]).optional(),
  multiple: z.boolean().default(false),
  sensitive: z.boolean().default(false),
  min: z.number().optional(),
  max: z.number().optional(),
});

/**
 * The parts of a bundle's `manifest.json` that say how its server runs, and what people read who install it.
 *
 * @see https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
 */
export const BundleManifest = z.object({
  manifest_version: z.string().optional(),
  dxt_version: z.string().optional(),
  name: z.string(),
  version: z.string(),
  description: Shown,
  server: z.object({
    type: z.enum(['node', 'python', 'binary']),
    mcp_config: ServerCommand.extend({ platform_overrides: z.record(z.string(), ServerCommand.partial()).optional() }),
  }),
  compatibility: z.object({ platforms: z.array(z.string()).optional() }).optional(),
  user_config: z.record(z.string(), UserSetting).default({}),
});
export type BundleManifest = z.output<typeof BundleManifest>;

/** @throws Error in words for the operator */
export function manifestOf(text: string): BundleManifest {
  const manifest = jsonOf(text);
  if (NotImplemented.safeParse(manifest).success)
    throw new Error('bundles of the server type uv are not implemented: expected one of the type node, python or binary');
  const parsed = BundleManifest.safeParse(manifest);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw new Error(`the manifest.json of the bundle cannot be used: ${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`.slice(0, 300));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the manifest.json of the bundle is no JSON');
  }
}

/** The settings of a bundle, for people who install it. */
export function settingsOf({ user_config: settings }: BundleManifest): BundleSetting[] {
  return Object.entries(settings).map(([name, setting]) => ({ name, ...setting }));
}

type Config = NonNullable<McpBundle['config']>;

export function isSecretRef(value: Config[string]): value is SecretRef {
  return typeof value === 'object' && ('secretEnv' in value || 'secretFile' in value);
}

/**
 * Checks what a key sets for a bundle. The value of a reference is checked when a worker resolves it.
 *
 * @throws Error that names the setting that is missing, unknown, of another type, or that a key may not set like this
 */
export function assertConfigOfKey({ user_config: settings }: BundleManifest, config: Config = {}): void {
  assertKnown(settings, config);
  for (const [name, value] of Object.entries(config)) {
    const setting = settings[name];
    if (isPath(setting?.type))
      throw new Error(`the setting ${name} of the bundle names files of the workers, which is for sources of the config file`);
    if (setting?.sensitive === true && !isSecretRef(value))
      throw new Error(
        `the setting ${name} of the bundle is a secret: expected a reference to a variable of the workers, {"secretEnv": "NAME"}`,
      );
  }
  const plain = Object.entries(config).flatMap(([name, value]) => (isSecretRef(value) ? [] : [[name, value] as const]));
  const referenced = new Set(Object.keys(config).filter((name) => !plain.some(([it]) => it === name)));
  configValues(Object.fromEntries(Object.entries(settings).filter(([name]) => !referenced.has(name))), Object.fromEntries(plain), {});
}

export type ConfigValue = string | number | boolean | readonly string[];

/** How the server of a bundle is started. */
export interface BundleCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders that the given configuration names; those of the manifest's defaults are not opened to it. */
  readonly paths: readonly string[];
  /** Values that must not leave the worker. */
  readonly secrets: readonly string[];
}

/**
 * The command of a bundle that is unpacked in `folder`, with `given` as its configuration. Its server has `home` instead of the
 * folders of a person.
 *
 * @throws Error that names the setting that is missing, unknown or of another type
 */
export function bundleCommand(
  { server, compatibility, user_config: settings }: BundleManifest,
  { folder, home }: { readonly folder: string; readonly home: string },
  given: Readonly<Record<string, ConfigValue>>,
): BundleCommand {
  if (compatibility?.platforms?.includes(process.platform) === false)
    throw new Error(`the bundle is for ${compatibility.platforms.join(', ')}, and this worker runs on ${process.platform}`);
  const places = { __dirname: folder, HOME: home, DESKTOP: home, DOCUMENTS: home, DOWNLOADS: home, pathSeparator: '/', '/': '/' };
  assertKnown(settings, given);
  const values = configValues(settings, given, places);
  const variables = { ...places, ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`user_config.${name}`, value])) };
  const { platform_overrides: overrides = {}, ...common } = server.mcp_config;
  const { command, args = [], env = {} } = { ...common, ...overrides[process.platform] };
  const one = (text: string) => replaced(text, variables);
  const loader = loaderVariable(env);
  if (loader !== undefined) throw new Error(`the bundle sets the variable ${loader}, which loads code outside of the sandbox`);
  return {
    words: [one(command), ...args.flatMap((arg) => listOf(arg, variables) ?? [one(arg)])],
    // A setting that is not set leaves its variable out.
    env: Object.fromEntries(Object.entries(env).flatMap(([name, text]) => (isUnset(text, variables) ? [] : [[name, one(text)]]))),
    paths: Object.entries(given).flatMap(([name, value]) => (isPath(settings[name]?.type) ? [value].flat().map(String) : [])),
    secrets: Object.entries(values).flatMap(([name, value]) => (settings[name]?.sensitive === true ? [value].flat() : [])),
  };
}

type Settings = BundleManifest['user_config'];
type Variables = Readonly<Record<string, string | string[]>>;

function assertKnown(settings: Settings, given: object): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(settings, name));
  if (unknown !== undefined) throw new Error(`the bundle has no setting ${unknown}: it has ${Object.keys(settings).join(', ') || 'none'}`);
}

function configValues(
  settings: Settings,
  given: Readonly<Record<string, ConfigValue>>,
  places: Variables,
): Record<string, string | string[]> {
  const found = Object.entries(settings).flatMap(([name, setting]) => {
    const value = given[name] ?? inPlaces(setting.default, places);
    if (value === undefined && setting.required) throw new Error(`the bundle needs the setting ${name}: add it to \`bundle.config\``);
    return value === undefined ? [] : [[name, textOf(name, setting, value)] as const];
  });
  return Object.fromEntries(found);
}

function textOf(name: string, setting: Settings[string], value: ConfigValue): string | string[] {
  const { type, multiple, min, max } = setting;
  const fault = (expected: string) =>
    new Error(`the setting ${name} of the bundle is a ${Array.isArray(value) ? 'list' : typeof value}: expected ${expected}`);
  if (typeof value === 'object') {
    if (!multiple) throw fault('one value');
    return [...value];
  }
  if (type === 'number') {
    const number = Number(value);
    if (value === '' || Number.isNaN(number)) throw fault('a number');
    if ((min !== undefined && number < min) || (max !== undefined && number > max)) throw fault(`${min ?? '…'} to ${max ?? '…'}`);
  }
  if (type === 'boolean' && !/^(true|false)$/.test(String(value))) throw fault('true or false');
  return multiple ? [String(value)] : String(value);
}

/** Only a default of the manifest may name places; what a person gave is meant as it is. */
function inPlaces(value: ConfigValue | undefined, places: Variables): ConfigValue | undefined {
  if (typeof value === 'string') return replaced(value, places);
  return typeof value === 'object' ? value.map((it) => replaced(it, places)) : value;
}

/** `${name}` in a text; a list is written with commas. A name that is not known stays. */
function replaced(text: string, variables: Variables): string {
  return text.replace(/\$\{([^${}]{1,200})\}/g, (whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value !== undefined) return typeof value === 'string' ? value : value.join(',');
    return name.startsWith('user_config.') ? '' : whole;
  });
}

/** An argument that is nothing but a setting becomes a word for each of its values: none where it is not set. */
function listOf(text: string, variables: Variables): readonly string[] | undefined {
  const name = /^\$\{(user_config\.[^${}]{1,200})\}$/.exec(text)?.[1];
  if (name === undefined) return undefined;
  return Object.hasOwn(variables, name) ? [variables[name] ?? []].flat() : [];
}

function isUnset(text: string, variables: Variables): boolean {
  return listOf(text, variables)?.length === 0;
}

function isPath(type: string | undefined): boolean {
  return type === 'directory' || type === 'file';
}
