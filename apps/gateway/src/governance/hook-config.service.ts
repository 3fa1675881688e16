import { Inject, Injectable } from '@nestjs/common';
import type { AppliedHook, Hook, SessionHook } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ByAgent, ownEntry } from './by-agent.js';

export type HookSettings = Pick<GatewayConfig, 'hooks' | 'agents' | 'tenantRules' | 'sessionHooks'>;

interface ConfigSnapshot {
  readonly forAllAgents: readonly AppliedHook[];
  readonly byAgent: ByAgent<readonly AppliedHook[]>;
  readonly sessionCommands: (tenantId: string) => boolean;
}

/** Active hooks. A new config applies from the next call on; an accepted call keeps its hooks. */
@Injectable()
export class HookConfigService {
  private active: ConfigSnapshot;

  constructor(@Inject(GATEWAY_CONFIG) settings: HookSettings) {
    this.active = snapshotOf(settings);
  }

  /** True if sessions of the tenant may have command hooks. */
  allowsCommands(tenantId: string): boolean {
    return this.active.sessionCommands(tenantId);
  }

  /**
   * Hooks in the order of their runs: general, the tenant's, the agent's, the session's. Commands of a session count only while
   * allowed.
   */
  of(tenantId: string, agentId: string | undefined, session: readonly SessionHook[] = []): readonly AppliedHook[] {
    const { forAllAgents, byAgent } = this.active;
    const operators = byAgent.of(tenantId, agentId) ?? forAllAgents;
    if (session.length === 0) return operators;
    const withCommands = this.allowsCommands(tenantId);
    const allowed = session.filter(({ command }) => command === undefined || withCommands);
    return [...operators, ...allowed.map((hook): AppliedHook => ({ ...hook, by: 'session', secrets: false }))];
  }

  /** Prepares new settings. Calling the returned function activates them; it never throws. */
  prepare(settings: HookSettings): () => void {
    const snapshot = snapshotOf(settings);
    return () => void (this.active = snapshot);
  }
}

function snapshotOf(settings: HookSettings): ConfigSnapshot {
  const { hooks = [], sessionHooks, tenantRules } = settings;
  const forAllAgents = hooks.map(byOperator);
  const byAgent = new ByAgent(settings, (layers) => {
    const further = layers.flatMap((layer) => layer.hooks ?? []);
    return further.length === 0 ? undefined : [...forAllAgents, ...further.map(byOperator)];
  });
  const sessionCommands = (tenantId: string) => ownEntry(tenantRules, tenantId)?.sessionHooks?.commands ?? sessionHooks?.commands ?? false;
  return { forAllAgents, byAgent, sessionCommands };
}

function byOperator(hook: Hook): AppliedHook {
  return { ...hook, by: 'operator' };
}
