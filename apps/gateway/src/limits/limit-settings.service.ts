import { Inject, Injectable } from '@nestjs/common';
import type { Limits } from '#contracts';
import { type AgentsByTenant, GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { ByAgent } from '../policy/by-agent.js';

/** Which limits hold for whose calls: what an agent's own entry says replaces the default, field by field. */
@Injectable()
export class LimitSettings {
  private defaults: Limits;
  private byAgent: ByAgent<Limits>;

  constructor(@Inject(GATEWAY_CONFIG) { limits = {}, agents = {} }: Pick<GatewayConfig, 'limits' | 'agents'>) {
    this.defaults = limits;
    this.byAgent = merged(limits, agents);
  }

  of(tenantId: string, agentId: string | undefined): Limits {
    return this.byAgent.of(tenantId, agentId) ?? this.defaults;
  }

  /** The limits made ready; in force for the next call when the answer is called, which never fails. What was counted stays counted. */
  prepare({ limits = {}, agents = {} }: Pick<GatewayConfig, 'limits' | 'agents'>): () => void {
    const byAgent = merged(limits, agents);
    return () => {
      this.defaults = limits;
      this.byAgent = byAgent;
    };
  }
}

function merged(limits: Limits, agents: AgentsByTenant): ByAgent<Limits> {
  return new ByAgent(agents, ({ limits: own }) => (own === undefined ? undefined : { ...limits, ...own }));
}
