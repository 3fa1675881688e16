import type { ConfigFile, PolicySettings, PutSessionBody } from '#contracts';
import { AGENT_NAMES } from '#dialects';
import { compileExpressions, globFaults, type PatternFault } from '#patterns';

/** Rejected pattern: its place in the input, and the expected form. */
export interface FaultAt {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Path = readonly (string | number)[];

/** The patterns of a session that no list can be made of. Compiles the others. */
export function sessionPatternFaults({ tools, allowedTools, hooks, grants }: PutSessionBody): FaultAt[] {
  const paths = (name: 'allowedPaths' | 'deniedPaths') =>
    (['read', 'write'] as const).flatMap((access) => globsAt(['grants', name, access], grants?.[name][access]));
  return [
    ...toolsAt(['tools'], tools),
    ...toolsAt(['allowedTools'], allowedTools),
    ...hookFaults(['hooks'], hooks),
    ...paths('allowedPaths'),
    ...paths('deniedPaths'),
    ...expressionsAt(['grants', 'allowedCommands'], grants?.allowedCommands),
  ];
}

/** The same for the config file. */
export function configPatternFaults({ keys, jwt, login, policy, agents, tenants, hooks, safety, sources }: ConfigFile): FaultAt[] {
  return [
    ...keys.flatMap((key, index) => rightsFaults(['keys', index], key)),
    ...jwt.flatMap((issuer, index) => rightsFaults(['jwt', index], issuer)),
    ...Object.entries(login?.roleMap ?? {}).flatMap(([role, rights]) => rightsFaults(['login', 'roleMap', role], rights)),
    ...sources.flatMap((source, index) => sourceFaults(['sources', index], source)),
    ...policyFaults(['policy'], policy),
    ...hookFaults(['hooks'], hooks),
    ...toolGlobsAt(['safety', 'provenance', 'trusted'], safety.provenance.trusted),
    ...agentFaults(['agents'], agents, policy),
    ...Object.entries(tenants).flatMap(([tenant, { policy: own = {}, hooks: theirHooks, agents: theirs, webhooks }]) => [
      ...webhooks.flatMap(({ tools = [] }, index) => located(['tenants', tenant, 'webhooks', index, 'tools'], negations(tools))),
      ...policyFaults(['tenants', tenant, 'policy'], own, policy),
      ...hookFaults(['tenants', tenant, 'hooks'], theirHooks),
      ...agentFaults(['tenants', tenant, 'agents'], theirs, { ...policy, egress: { ...policy.egress, ...own.egress } }),
    ]),
  ];
}

type Rights = Partial<Readonly<Record<'tools' | 'agents', readonly string[]>>>;

/** The tools of keys may be negated; without their `!` they are globs like others. */
function rightsFaults(at: Path, { tools = [], agents }: Rights): FaultAt[] {
  return [
    ...globsAt(
      [...at, 'tools'],
      tools.map((pattern) => pattern.replace(/^!/, '')),
    ),
    ...globsAt([...at, 'agents'], agents),
  ];
}

function sourceFaults(at: Path, source: ConfigFile['sources'][number]): FaultAt[] {
  const lists = source.kind === 'agent' ? { tools: source.tools } : { include: source.include, exclude: source.exclude };
  return Object.entries(lists).flatMap(([name, patterns = []]) => located([...at, name], negations(patterns)));
}

function agentFaults(at: Path, agents: ConfigFile['agents'], forAllAgents: PolicySettings): FaultAt[] {
  return Object.entries(agents).flatMap(([name, agent]) => [
    ...policyFaults([...at, name, 'policy'], agent.policy ?? {}, forAllAgents),
    ...toolsAt([...at, name, 'tools'], agent.tools),
    ...toolsAt([...at, name, 'allowedTools'], agent.allowedTools),
    ...hookFaults([...at, name, 'hooks'], agent.hooks),
  ]);
}

function policyFaults(
  at: Path,
  { commands, paths, toolsSettings = {}, egress, ...policy }: PolicySettings,
  forAllAgents: PolicySettings = {},
): FaultAt[] {
  return [
    ...egressFaults([...at, 'egress'], { ...forAllAgents.egress, ...egress }),
    ...toolGlobsAt([...at, 'exclude'], policy.exclude),
    ...toolGlobsAt([...at, 'deferredTools'], policy.deferredTools),
    ...(['tools', 'include', 'allowedTools'] as const).flatMap((name) => toolsAt([...at, name], policy[name])),
    ...(['allowedCommands', 'deniedCommands'] as const).flatMap((name) => expressionsAt([...at, 'commands', name], commands?.[name])),
    ...(paths?.trusted ?? []).flatMap((trusted, index) =>
      (['tools', 'allowed', 'denied'] as const).flatMap((name) =>
        (name === 'tools' ? toolGlobsAt : globsAt)([...at, 'paths', 'trusted', index, name], trusted[name]),
      ),
    ),
    ...Object.entries(toolsSettings).flatMap(([pattern, settings]) => [
      ...[...globFaults([pattern]), ...negations([pattern]), ...disputes([pattern])].map(({ message }) => ({
        path: [...at, 'toolsSettings', pattern],
        message,
      })),
      ...(['allowedServices', 'deniedServices', 'availableAgents', 'trustedAgents'] as const).flatMap((name) =>
        globsAt([...at, 'toolsSettings', pattern, name], settings[name]),
      ),
    ]),
  ];
}

/** `strict` is a list of domains: without one it would allow nothing, which `none` says, and `*` would be no list. */
function egressFaults(at: Path, egress: PolicySettings['egress']): FaultAt[] {
  if (egress?.mode !== 'strict') return [];
  const { allowedDomains = [] } = egress;
  if (allowedDomains.length > 0 && !allowedDomains.includes('*')) return [];
  const given = allowedDomains.length === 0 ? 'no domain' : '*';
  return [{ path: [...at, 'allowedDomains'], message: `expected the domains that the mode strict allows; received ${given}` }];
}

function hookFaults(at: Path, hooks: readonly { readonly match: readonly string[] }[] | null = []): FaultAt[] {
  return (hooks ?? []).flatMap(({ match }, index) => toolGlobsAt([...at, index, 'match'], match));
}

function globsAt(at: Path, patterns: readonly string[] | null = []): FaultAt[] {
  return located(at, globFaults(patterns ?? []));
}

/** Patterns of tools: none of them is negated. */
function toolGlobsAt(at: Path, patterns: readonly string[] | null = []): FaultAt[] {
  return located(at, [...globFaults(patterns ?? []), ...negations(patterns ?? [])]);
}

/**
 * Faults of tool patterns in an allowing list: a forbidden name covers all tools of that name, an allowed one must identify a
 * single tool.
 */
function toolsAt(at: Path, patterns: readonly string[] | null = []): FaultAt[] {
  return [...toolGlobsAt(at, patterns), ...located(at, disputes(patterns ?? []))];
}

/** A pattern that would forbid nothing, since only the tools of keys can be negated. */
function negations(patterns: readonly string[]): PatternFault[] {
  return patterns.flatMap((pattern, index) =>
    pattern.startsWith('!')
      ? [{ index, message: `expected the tools that are meant, in place of ${pattern}: only the tools of keys are negated` }]
      : [],
  );
}

function disputes(patterns: readonly string[]): PatternFault[] {
  return patterns.flatMap((pattern, index) => {
    const dispute = AGENT_NAMES.dispute(pattern);
    return dispute === undefined ? [] : [{ index, message: `expected a name that means one tool; ${pattern} is ${dispute}` }];
  });
}

function expressionsAt(at: Path, patterns: readonly string[] = []): FaultAt[] {
  return located(at, compileExpressions(patterns).faults);
}

function located(at: Path, faults: readonly PatternFault[]): FaultAt[] {
  return faults.map(({ index, message }) => ({ path: [...at, index], message }));
}
