import { Inject, Injectable } from '@nestjs/common';
import type { AppliedHook, Hook, SessionHook } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ByAgent } from './by-agent.js';

export type HookSettings = Pick<GatewayConfig, 'hooks' | 'agents' | 'tenantRules' | 'sessionHooks'>;

interface ConfigSnapshot {
  readonly forAllAgents: readonly AppliedHook[];
  readonly byAgent: ByAgent<readonly AppliedHook[]>;
  readonly sessionCommands: boolean;
}

/** The active hooks. A new config applies from the next call on; an accepted call keeps the hooks it was accepted with. */
@Injectable()
export class HookConfigService {
  private active: ConfigSnapshot;

  constructor(@Inject(GATEWAY_CONFIG) settings: HookSettings) {
    this.active = snapshotOf(settings);
  }

  /** Whether sessions may have command hooks. */
  get sessionCommands(): boolean {
    return this.active.sessionCommands;
  }

  /** In the order in which they run: for all, the tenant's, the agent's, the session's. Commands of a session count only while allowed. */
  of(tenantId: string, agentId: string | undefined, session: readonly SessionHook[] = []): readonly AppliedHook[] {
    const { forAllAgents, byAgent, sessionCommands } = this.active;
    const operators = byAgent.of(tenantId, agentId) ?? forAllAgents;
    if (session.length === 0) return operators;
    const allowed = session.filter(({ command }) => command === undefined || sessionCommands);
    return [...operators, ...allowed.map((hook): AppliedHook => ({ ...hook, by: 'session', secrets: false }))];
  }

  /** Prepares new settings. Calling the returned function activates them; it never throws. */
  prepare(settings: HookSettings): () => void {
    const snapshot = snapshotOf(settings);
    return () => void (this.active = snapshot);
  }
}

function snapshotOf(settings: HookSettings): ConfigSnapshot {
  const { hooks = [], sessionHooks } = settings;
  const forAllAgents = hooks.map(byOperator);
  const byAgent = new ByAgent(settings, (layers) => {
    const further = layers.flatMap((layer) => layer.hooks ?? []);
    return further.length === 0 ? undefined : [...forAllAgents, ...further.map(byOperator)];
  });
  return { forAllAgents, byAgent, sessionCommands: sessionHooks?.commands ?? false };
}

function byOperator(hook: Hook): AppliedHook {
  return { ...hook, by: 'operator' };
}
