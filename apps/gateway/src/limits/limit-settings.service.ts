import { Inject, Injectable } from '@nestjs/common';
import type { Limits } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';

/** Which limits hold for whose calls: what an agent's own entry says replaces the default, field by field. */
@Injectable()
export class LimitSettings {
  private defaults: Limits;
  private byAgent: ReadonlyMap<string, Limits>;

  constructor(@Inject(GATEWAY_CONFIG) { limits = {}, agentLimits = {} }: Pick<GatewayConfig, 'limits' | 'agentLimits'>) {
    this.defaults = limits;
    this.byAgent = merged(limits, agentLimits);
  }

  of(agentId: string | undefined): Limits {
    return (agentId === undefined ? undefined : this.byAgent.get(agentId)) ?? this.defaults;
  }

  /** Holds from the next call on; what was counted stays counted. */
  replace(limits: Limits, agentLimits: Readonly<Record<string, Limits>>): void {
    this.defaults = limits;
    this.byAgent = merged(limits, agentLimits);
  }
}

function merged(limits: Limits, agentLimits: Readonly<Record<string, Limits>>): ReadonlyMap<string, Limits> {
  return new Map(Object.entries(agentLimits).map(([agent, own]) => [agent, { ...limits, ...own }]));
}
