import type { Posture } from '#contracts';
import type { GatewayConfig } from './gateway.config.js';

/** Numbers of keys, agents and hooks in a config file. */
export interface ConfigFacts {
  readonly path: string;
  readonly keys: number;
  readonly agents: number;
  readonly hooks: number;
}

/** Undefined without a config file. */
export function configFactsOf({ file, keys, agents = {}, tenantRules = {}, hooks = [] }: GatewayConfig): ConfigFacts | undefined {
  if (file === undefined) return undefined;
  const perAgent = Object.values(agents).flatMap((byName) => Object.values(byName));
  return {
    path: file.path,
    keys: keys.filter(({ id }) => id !== 'bootstrap').length,
    agents: perAgent.length,
    hooks: [{ hooks }, ...Object.values(tenantRules), ...perAgent].reduce((sum, it) => sum + (it.hooks?.length ?? 0), 0),
  };
}

/** Tenant or agent with a posture other than the default. */
export interface OwnPosture {
  readonly tenant: string;
  readonly agent?: string;
  readonly posture: Posture;
}

/** Postures in the config file, tenants before their agents. */
export function ownPosturesOf({ defaultPosture, agents = {}, tenantRules = {} }: GatewayConfig): OwnPosture[] {
  return [...new Set([...Object.keys(tenantRules), ...Object.keys(agents)])].flatMap((tenant) => {
    const own = tenantRules[tenant]?.posture;
    const ofAgents = Object.entries(agents[tenant] ?? {}).flatMap(([agent, { posture }]): OwnPosture[] =>
      posture === undefined ? [] : [{ tenant, agent, posture: { ...defaultPosture, ...own, ...posture } }],
    );
    return [...(own === undefined ? [] : [{ tenant, posture: { ...defaultPosture, ...own } }]), ...ofAgents];
  });
}
