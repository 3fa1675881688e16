import { Inject, Injectable } from '@nestjs/common';
import type { AppliedHook, Hook, SessionHook } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ByAgent } from './by-agent.js';

export type HookSettings = Pick<GatewayConfig, 'hooks' | 'agents' | 'sessionHooks'>;

interface ConfigSnapshot {
  readonly everybody: readonly AppliedHook[];
  readonly byAgent: ByAgent<readonly AppliedHook[]>;
  readonly sessionCommands: boolean;
}

/** The hooks in force. A new edition holds from the next call on; a call that was accepted keeps the ones it was accepted with. */
@Injectable()
export class HookConfigService {
  private active: ConfigSnapshot;

  constructor(@Inject(GATEWAY_CONFIG) settings: HookSettings) {
    this.active = snapshotOf(settings);
  }

  /** Whether sessions may bring commands along. */
  get sessionCommands(): boolean {
    return this.active.sessionCommands;
  }

  /** In the order in which they run: everybody's, the agent's, the session's. Commands of a session count only while they are allowed. */
  of(tenantId: string, agentId: string | undefined, session: readonly SessionHook[] = []): readonly AppliedHook[] {
    const { everybody, byAgent, sessionCommands } = this.active;
    const operators = byAgent.of(tenantId, agentId) ?? everybody;
    if (session.length === 0) return operators;
    const allowed = session.filter(({ command }) => command === undefined || sessionCommands);
    return [...operators, ...allowed.map((hook): AppliedHook => ({ ...hook, by: 'session', secrets: false }))];
  }

  /** The settings made ready; in force when the answer is called, which never fails. */
  prepare(settings: HookSettings): () => void {
    const edition = snapshotOf(settings);
    return () => void (this.active = edition);
  }
}

function snapshotOf({ hooks = [], agents = {}, sessionHooks }: HookSettings): ConfigSnapshot {
  const everybody = hooks.map(byOperator);
  const byAgent = new ByAgent(agents, (agent) => (agent.hooks === undefined ? undefined : [...everybody, ...agent.hooks.map(byOperator)]));
  return { everybody, byAgent, sessionCommands: sessionHooks?.commands ?? false };
}

function byOperator(hook: Hook): AppliedHook {
  return { ...hook, by: 'operator' };
}
