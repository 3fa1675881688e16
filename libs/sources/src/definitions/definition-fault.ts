import type { SourceDefinition, SourceRules, StoredSource } from '#contracts';
import { globMatches } from '#patterns';
import { issuerUrls } from './issuer-urls.js';
import { secretFiles } from './secret-files.js';
import { loaderVariable } from './loader-variables.js';

/**
 * Why a source may not be used as it is defined; undefined when it may. The config file may say everything. A key that
 * adds a source for its tenant must not reach programs, files or secrets of the workers by it.
 */
export function definitionFault({ tenantId, origin, definition }: StoredSource, rules: SourceRules): string | undefined {
  if (origin === 'config') return undefined;
  if (definition.kind === 'worker') return 'sources of this kind are announced by their workers; rules for them are in the config file';
  const { kind } = definition;
  if (kind !== 'plugin' && !rules.kinds.includes(kind))
    return `sources of the kind ${kind} are not enabled: sourceRules.kinds of the config file has none`;
  if (definition.kind === 'plugin') return 'plugins are named in `plugins` of the config file';
  if (secretFiles(definition).length > 0) return '`secretFile` is for sources of the config file: it reads files of the workers';
  if (definition.kind === 'agent')
    return definition.tier === 'privileged'
      ? secretFault(tenantId, definition, rules)
      : '`tier` is for sub-agents of the config file: calls of others count as privileged';
  if (definition.trust) return '`trust` is for sources of the config file: facts of other sources do not count';
  if (!definition.pin) return '`pin: false` is for sources of the config file: changes of other sources wait for a person';
  if ('path' in definition && definition.path !== undefined) return '`path` is for sources of the config file';
  if (definition.kind === 'mcp' && definition.paths !== undefined) return '`paths` is for sources of the config file';
  if ('command' in definition && definition.command !== undefined && !rules.allowCommands)
    return '`command` starts a program on the workers: put the source into the config file, or set sourceRules.allowCommands there';
  if (definition.kind === 'mcp' && definition.bundle !== undefined) {
    if (definition.bundle.path !== undefined) return '`bundle.path` is for sources of the config file';
    if (!rules.allowCommands)
      return '`bundle` starts a program on the workers: put the source into the config file, or set sourceRules.allowCommands there';
  }
  if (definition.kind === 'mcp' && definition.sampling !== undefined)
    return '`sampling` is for sources of the config file: its model costs money';
  const variable = loaderVariable('env' in definition ? definition.env : {});
  if (variable !== undefined) return `the variable ${variable} is for sources of the config file: it loads code`;
  return secretFault(tenantId, definition, rules);
}

/** Why a secret may not go where the definition sends it. */
function secretFault(tenantId: string, definition: SourceDefinition, { secrets }: SourceRules): string | undefined {
  for (const { name, to } of secretUses(definition)) {
    const own = secrets.filter((rule) => rule.name === name && rule.tenants.some((glob) => globMatches(glob, tenantId)));
    if (own.length === 0)
      return `sourceRules.secrets of the config file has no rule that lets the tenant ${tenantId} use the secret ${name}`;
    const refused = to.find((host) => !own.some(({ hosts }) => hosts.some((glob) => hostMatches(glob, host))));
    if (refused === undefined) continue;
    if (refused.startsWith(PLAIN))
      return `sourceRules.secrets of the config file does not let the secret ${name} be sent to ${refused} without TLS: use https, or have the host written as ${refused} there`;
    const where = refused === PROGRAM ? 'given to a program, which needs the host `*`' : `sent to ${refused}`;
    return `sourceRules.secrets of the config file does not let the secret ${name} be ${where}`;
  }
  return undefined;
}

/** A program may send what it has anywhere. */
const PROGRAM = '(a program)';

/** Prefix of hosts without TLS, whose requests can be read in transit. */
const PLAIN = 'http://';

/** A host without TLS is one of its own, which only a rule with `http://` means. */
function hostMatches(glob: string, host: string): boolean {
  if (host.startsWith(PLAIN) !== glob.startsWith(PLAIN)) return false;
  return glob === '*' || (host !== PROGRAM && globMatches(glob.toLowerCase(), host));
}

function hostOf(url: string): string {
  const { protocol, host } = new URL(url);
  return protocol === 'http:' ? `${PLAIN}${host}` : host;
}

/** Each secret of a definition, and the hosts that it is sent to. */
function secretUses(definition: SourceDefinition): { readonly name: string; readonly to: readonly string[] }[] {
  const uses = (value: unknown, to: readonly string[]) => secretNames(value).map((name) => ({ name, to }));
  const { url, document, model } = { url: undefined, document: undefined, model: undefined, ...definition };
  // Default: the origin of the document.
  const target = url ?? document ?? model?.url;
  const { env, auth, bundle, ...rest } = { env: undefined, auth: undefined, bundle: undefined, ...definition };
  const host = target === undefined ? PROGRAM : hostOf(target);
  return [
    ...uses([env, bundle], [PROGRAM]),
    // Token of the issuer counts as the secret, since the API receives it.
    ...uses(auth, [...issuerUrls(auth).map(hostOf), host]),
    ...uses(rest, [host]),
  ];
}

/** The environment variables that a definition names as secrets, wherever they stand. */
export function secretNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('secretEnv' in value && typeof value.secretEnv === 'string') return [value.secretEnv];
  return Object.values(value).flatMap(secretNames);
}
