import type { AgentSettings } from '#contracts';
import type { AgentsByTenant } from '../platform/gateway.config.js';

/** A value for each agent, computed once for a config and looked up by tenant and name. */
export class ByAgent<T> {
  private readonly tenants: ReadonlyMap<string, ReadonlyMap<string, T>>;

  /** Agents for which `valueOf` returns undefined are left out. */
  constructor(agents: AgentsByTenant, valueOf: (settings: AgentSettings) => T | undefined) {
    this.tenants = new Map(
      Object.entries(agents).map(([tenant, named]) => {
        const values = Object.entries(named).flatMap(([name, settings]): [string, T][] => {
          const value = valueOf(settings);
          return value === undefined ? [] : [[name, value]];
        });
        return [tenant, new Map(values)];
      }),
    );
  }

  /** Undefined for agents without an entry, and for calls of no agent. */
  of(tenantId: string, agentId: string | undefined): T | undefined {
    return agentId === undefined ? undefined : this.tenants.get(tenantId)?.get(agentId);
  }
}
