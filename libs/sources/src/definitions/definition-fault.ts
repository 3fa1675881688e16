import type { SourceRules, StoredSource } from '#contracts';

/** Variables with which the loader, libc or a shell runs code: what starts the sandbox has them too. */
const OF_LOADERS = /^(?:LD_|GLIBC_|GCONV_PATH$|LOCPATH$|NLSPATH$|MALLOC_|BASH_|ENV$|SHELLOPTS$|PS4$)/;

/**
 * Why a source may not be used as it is defined; undefined when it may. The config file may say everything. A key that
 * adds a source for its tenant must not reach programs, files or secrets of the workers by it.
 */
export function definitionFault({ origin, definition }: StoredSource, rules: SourceRules): string | undefined {
  if (origin === 'config') return undefined;
  if (definition.kind === 'worker') return 'sources of this kind are announced by their workers; rules for them are in the config file';
  if (definition.trust) return '`trust` is for sources of the config file: facts of other sources do not count';
  if (!definition.pin) return '`pin: false` is for sources of the config file: changes of other sources wait for a person';
  if ('path' in definition && definition.path !== undefined) return '`path` is for sources of the config file';
  if (definition.kind === 'mcp' && definition.paths !== undefined) return '`paths` is for sources of the config file';
  if ('command' in definition && definition.command !== undefined && !rules.allowCommands)
    return '`command` starts a program on the workers: put the source into the config file, or set sourceRules.allowCommands there';
  const variable = Object.keys(('env' in definition && definition.env) || {}).find((name) => OF_LOADERS.test(name));
  if (variable !== undefined) return `the variable ${variable} is for sources of the config file: it loads code`;
  const secret = secretNames(definition).find((name) => !rules.secrets.includes(name));
  return secret === undefined ? undefined : `the secret ${secret} is not among sourceRules.secrets of the config file`;
}

/** The environment variables that a definition names as secrets, wherever they stand. */
export function secretNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('secretEnv' in value && typeof value.secretEnv === 'string') return [value.secretEnv];
  return Object.values(value).flatMap(secretNames);
}
