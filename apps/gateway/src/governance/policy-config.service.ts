import { Inject, Injectable } from '@nestjs/common';
import type { PolicyConfig, PolicySettings, Posture } from '#contracts';
import { resolvePolicy, type PatternAuthor } from '#policy';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ByAgent, ownEntry, type Layer } from './by-agent.js';

/** Policy and posture of an agent before changes by its session. */
export interface AgentPolicy {
  readonly policy: PolicyConfig;
  readonly posture: Posture;
}

export type RuleSettings = Pick<GatewayConfig, 'defaultPosture' | 'policy' | 'agents' | 'tenantRules' | 'fourEyes' | 'egress'> & {
  /** Author of the settings; the operator by default. */
  readonly patternsBy?: PatternAuthor;
};

interface ConfigSnapshot {
  readonly forAllAgents: AgentPolicy;
  readonly byAgent: ByAgent<AgentPolicy>;
  readonly fourEyes: (tenantId: string) => boolean;
  readonly patternsBy: PatternAuthor;
}

/** Active policy, computed once per config. A new config applies from the next call on; earlier decisions stay. */
@Injectable()
export class PolicyConfigService {
  private active: ConfigSnapshot;

  constructor(@Inject(GATEWAY_CONFIG) settings: RuleSettings) {
    this.active = snapshotOf(settings);
  }

  of(tenantId: string, agentId: string | undefined): AgentPolicy {
    return this.active.byAgent.of(tenantId, agentId) ?? this.active.forAllAgents;
  }

  /** True if a call of the tenant must be allowed with another key than its submitter's. */
  requiresFourEyes(tenantId: string): boolean {
    return this.active.fourEyes(tenantId);
  }

  get patternsBy(): PatternAuthor {
    return this.active.patternsBy;
  }

  /** Prepares new settings. Calling the returned function activates them; it never throws. */
  prepare(settings: RuleSettings): () => void {
    const snapshot = snapshotOf(settings);
    return () => void (this.active = snapshot);
  }
}

function snapshotOf(settings: RuleSettings): ConfigSnapshot {
  const { defaultPosture, policy, tenantRules, egress, patternsBy = 'operator' } = settings;
  const resolved = (...settings: readonly (PolicySettings | undefined)[]) => withPrivateHosts(egress?.allowHosts ?? [], settings);
  const byAgent = new ByAgent(settings, (layers) => ({
    policy: resolved(policy, ...layers.flatMap((layer) => [layer.policy, shorthands(layer)])),
    posture: layers.reduce((before, { posture }) => ({ ...before, ...posture }), defaultPosture),
  }));
  const fourEyes = (tenantId: string) => ownEntry(tenantRules, tenantId)?.approvals?.fourEyes ?? settings.fourEyes ?? false;
  return { forAllAgents: { policy: resolved(policy), posture: defaultPosture }, byAgent, fourEyes, patternsBy };
}

/**
 * Adds the hosts of EGRESS_ALLOW_HOSTS for every agent whose policy is open to the web. An agent with limited domains, or with
 * `privateHosts` in its policy, gets only the hosts of its policy.
 */
function withPrivateHosts(hosts: readonly string[], settings: readonly (PolicySettings | undefined)[]): PolicyConfig {
  const policy = resolvePolicy(...settings);
  const { mode, allowedDomains } = policy.egress;
  const isOpen = mode === 'default' && allowedDomains.includes('*');
  if (!isOpen || settings.some((it) => it?.egress?.privateHosts !== undefined)) return policy;
  return { ...policy, egress: { ...policy.egress, privateHosts: [...hosts] } };
}

/** Undefined fields override nothing. */
function shorthands({ tools, allowedTools, toolAliases }: Layer): PolicySettings {
  return { tools, allowedTools, toolAliases };
}
