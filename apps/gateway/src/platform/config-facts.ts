import type { GatewayConfig } from './gateway.config.js';

/** How many keys, agents and hooks a config file defines. */
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
