import { Inject, Injectable } from '@nestjs/common';
import { PROFILE_LIMITS, type Limits, type PolicySettings } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ByAgent } from './by-agent.js';

type Settings = Pick<GatewayConfig, 'limits' | 'agents' | 'tenantRules' | 'policy'>;

/**
 * Limits of a caller: those of the profile, overridden field by field by the default, the tenant's entry and the agent's entry,
 * in this order.
 */
@Injectable()
export class LimitConfigService {
  private defaults: Limits;
  private byAgent: ByAgent<Limits>;

  constructor(@Inject(GATEWAY_CONFIG) settings: Settings) {
    this.defaults = { ...profileLimits(settings.policy), ...settings.limits };
    this.byAgent = merged(settings);
  }

  of(tenantId: string, agentId: string | undefined): Limits {
    return this.byAgent.of(tenantId, agentId) ?? this.defaults;
  }

  /** Prepares new limits. Calling the returned function activates them for the next call; it never throws. Counts stay. */
  prepare(settings: Settings): () => void {
    const defaults = { ...profileLimits(settings.policy), ...settings.limits };
    const byAgent = merged(settings);
    return () => {
      this.defaults = defaults;
      this.byAgent = byAgent;
    };
  }
}

function merged(settings: Settings): ByAgent<Limits> {
  const { limits, policy } = settings;
  return new ByAgent(settings, (layers) => {
    if (layers.every((layer) => layer.limits === undefined && layer.policy?.profile === undefined)) return undefined;
    const given = layers.reduce<Limits>((before, layer) => ({ ...before, ...layer.limits }), { ...limits });
    return { ...profileLimits(policy, ...layers.map((layer) => layer.policy)), ...given };
  });
}

function profileLimits(...settings: readonly (PolicySettings | undefined)[]): Limits | undefined {
  const profile = settings.findLast((it) => it?.profile !== undefined)?.profile;
  return profile === undefined ? undefined : PROFILE_LIMITS[profile];
}
