import type { AgentSettings } from '#contracts';
import type { GatewayConfig } from '../platform/gateway.config.js';

/** Settings of an agent's or a tenant's entry. */
export type Layer = Pick<AgentSettings, 'policy' | 'posture' | 'tools' | 'allowedTools' | 'toolAliases' | 'limits' | 'hooks'>;

/** Value for each tenant and agent with an entry, computed once per config and looked up by tenant and name. */
export class ByAgent<T> {
  private readonly tenants = new Map<string, { readonly value: T | undefined; readonly agents: ReadonlyMap<string, T> }>();

  /** `valueOf` gets the present entries, the tenant's before the agent's; if it returns undefined, the general value applies. */
  constructor(
    { agents = {}, tenantRules = {} }: Pick<GatewayConfig, 'agents' | 'tenantRules'>,
    valueOf: (layers: readonly Layer[]) => T | undefined,
  ) {
    for (const tenant of new Set([...Object.keys(agents), ...Object.keys(tenantRules)])) {
      const rules = ownEntry(tenantRules, tenant);
      const below = rules === undefined ? [] : [rules];
      const named = Object.entries(ownEntry(agents, tenant) ?? {}).flatMap(([name, settings]): [string, T][] => {
        const value = valueOf([...below, settings]);
        return value === undefined ? [] : [[name, value]];
      });
      this.tenants.set(tenant, { value: rules && valueOf(below), agents: new Map(named) });
    }
  }

  /** Undefined if neither the agent nor the tenant has an entry. */
  of(tenantId: string, agentId: string | undefined): T | undefined {
    const tenant = this.tenants.get(tenantId);
    return (agentId === undefined ? undefined : tenant?.agents.get(agentId)) ?? tenant?.value;
  }
}

/** Entry of a tenant, by its name. */
export function ownEntry<V>(record: Readonly<Record<string, V>> | undefined, name: string): V | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
