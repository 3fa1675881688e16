import type { ConfigFile, PolicySettings, PutSessionBody } from '#contracts';
import { AGENT_NAMES } from '#dialects';
import { compileExpressions, globFaults, type PatternFault } from '#patterns';

/** A pattern that is refused: where it is in what was given, and what was expected. */
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
export function configPatternFaults({ keys, policy, agents, tenants, hooks, safety }: ConfigFile): FaultAt[] {
  return [
    ...keys.flatMap((key, index) => (['tools', 'agents'] as const).flatMap((name) => globsAt(['keys', index, name], key[name]))),
    ...policyFaults(['policy'], policy),
    ...hookFaults(['hooks'], hooks),
    ...globsAt(['safety', 'provenance', 'trusted'], safety.provenance.trusted),
    ...agentFaults(['agents'], agents, policy),
    ...Object.entries(tenants).flatMap(([tenant, { policy: own = {}, hooks: theirHooks, agents: theirs }]) => [
      ...policyFaults(['tenants', tenant, 'policy'], own, policy),
      ...hookFaults(['tenants', tenant, 'hooks'], theirHooks),
      ...agentFaults(['tenants', tenant, 'agents'], theirs, { ...policy, egress: { ...policy.egress, ...own.egress } }),
    ]),
  ];
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
    ...globsAt([...at, 'exclude'], policy.exclude),
    ...(['tools', 'include', 'allowedTools'] as const).flatMap((name) => toolsAt([...at, name], policy[name])),
    ...(['allowedCommands', 'deniedCommands'] as const).flatMap((name) => expressionsAt([...at, 'commands', name], commands?.[name])),
    ...(paths?.trusted ?? []).flatMap((trusted, index) =>
      (['tools', 'allowed', 'denied'] as const).flatMap((name) => globsAt([...at, 'paths', 'trusted', index, name], trusted[name])),
    ),
    ...Object.entries(toolsSettings).flatMap(([pattern, settings]) => [
      ...[...globFaults([pattern]), ...disputes([pattern])].map(({ message }) => ({ path: [...at, 'toolsSettings', pattern], message })),
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
  return (hooks ?? []).flatMap(({ match }, index) => globsAt([...at, index, 'match'], match));
}

function globsAt(at: Path, patterns: readonly string[] | null = []): FaultAt[] {
  return located(at, globFaults(patterns ?? []));
}

/** Patterns of tools in a list that allows: what forbids means all tools of a name, what allows has to mean one. */
function toolsAt(at: Path, patterns: readonly string[] | null = []): FaultAt[] {
  return located(at, [...globFaults(patterns ?? []), ...disputes(patterns ?? [])]);
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
