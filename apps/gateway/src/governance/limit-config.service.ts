import { Inject, Injectable } from '@nestjs/common';
import { PROFILE_LIMITS, type Limits, type PolicySettings } from '#contracts';
import { type AgentsByTenant, GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ByAgent } from './by-agent.js';

type Settings = Pick<GatewayConfig, 'limits' | 'agents' | 'policy'>;

/** Which limits hold for whose calls: those of the profile, replaced field by field by the default, and that by the agent's own entry. */
@Injectable()
export class LimitConfigService {
  private defaults: Limits;
  private byAgent: ByAgent<Limits>;

  constructor(@Inject(GATEWAY_CONFIG) { limits = {}, agents = {}, policy }: Settings) {
    this.defaults = { ...profileLimits(policy), ...limits };
    this.byAgent = merged(limits, agents, policy);
  }

  of(tenantId: string, agentId: string | undefined): Limits {
    return this.byAgent.of(tenantId, agentId) ?? this.defaults;
  }

  /** Prepares new limits. Calling the returned function activates them for the next call; it never throws. Counts stay. */
  prepare({ limits = {}, agents = {}, policy }: Settings): () => void {
    const defaults = { ...profileLimits(policy), ...limits };
    const byAgent = merged(limits, agents, policy);
    return () => {
      this.defaults = defaults;
      this.byAgent = byAgent;
    };
  }
}

function merged(limits: Limits, agents: AgentsByTenant, policy: PolicySettings | undefined): ByAgent<Limits> {
  return new ByAgent(agents, ({ limits: own, policy: theirs }) =>
    own === undefined && theirs?.profile === undefined ? undefined : { ...profileLimits(policy, theirs), ...limits, ...own },
  );
}

function profileLimits(...settings: readonly (PolicySettings | undefined)[]): Limits | undefined {
  const profile = settings.findLast((it) => it?.profile !== undefined)?.profile;
  return profile === undefined ? undefined : PROFILE_LIMITS[profile];
}
