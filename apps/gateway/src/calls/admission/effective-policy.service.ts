import { Inject, Injectable } from '@nestjs/common';
import {
  NO_GRANTS,
  type AppliedHook,
  type Dialect,
  type PolicyConfig,
  Posture,
  Principal,
  SessionGrants,
  ToolDescriptor,
} from '#contracts';
import { availability, matchesTool, type Availability, type PatternAuthor } from '#policy';
import { agentOf } from '../../auth/agent-of.js';
import { isToolAllowed } from '../../auth/tool-patterns.js';
import { workspacePath } from '../../platform/workspace-path.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { HookConfigService } from '../../governance/hook-config.service.js';
import { postureIn, type SessionState } from '../../sessions/session-state.js';
import { SessionStore } from '../../sessions/session-store.service.js';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { PolicyConfigService } from '../../governance/policy-config.service.js';

/** Session and agent of a call, as far as policy needs them. */
export interface PolicySubject {
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** Inputs of a decision besides tool and arguments. */
export interface PolicyInputs {
  readonly posture: Posture;
  readonly policy: PolicyConfig;
  readonly grants: SessionGrants;
}

/** All inputs of a decision except tool and arguments. */
export interface EffectivePolicy extends PolicyInputs {
  /**
   * Inputs without the session's trust. Set if four eyes are required and the submitting key has changed the session: the call
   * must pass these too.
   */
  readonly withoutSession?: PolicyInputs;
  /** Author of the policy's expressions. */
  readonly patternsBy: PatternAuthor;
  /** Dialect of calls that name none: the session's, else the key's. */
  readonly dialect: Dialect;
  /** Number of times that the session was deleted. */
  readonly sessionEpoch: number;
  /** Session whose limits count the calls: the one that began the call's session, else the call's own. */
  readonly limitedSession: string | undefined;
  /** User of the session; undefined for none. */
  readonly sessionUser: string | undefined;
  readonly workspaceRoot: string;
  /** Hooks of the config, the agent and the session, in this order, for any tool. */
  readonly hooks: readonly AppliedHook[];
  /** Availability of a tool to this call; the same for the catalog and for the call. */
  readonly available: (tool: ToolDescriptor) => Availability;
  /** True for a tool that lists for models leave out until it is found. */
  readonly isDeferred: (tool: ToolDescriptor) => boolean;
}

/**
 * Combines the default policy, the agent's, the session's, and the tools of the key. A call may name only an agent that its key
 * may act for, so that a caller cannot choose another agent's policy.
 */
@Injectable()
export class EffectivePolicyService {
  private readonly workspaceRoot: string;

  constructor(
    private readonly policyConfig: PolicyConfigService,
    private readonly sessions: SessionStore,
    private readonly hookConfig: HookConfigService,
    private readonly apiKeys: ApiKeyStore,
    @Inject(GATEWAY_CONFIG) { workspaceRoot = '/workspace' }: GatewayConfig,
  ) {
    this.workspaceRoot = workspaceRoot;
  }

  /** Path of the session's workspace on workers. */
  workspaceOf(tenantId: string, sessionId: string | undefined): string {
    return workspacePath(this.workspaceRoot, { tenantId, ...(sessionId === undefined ? {} : { sessionId }) });
  }

  /**
   * Returns a promise only for a call with a session.
   * @throws ProblemError `forbidden` for an agent that the key may not act for
   */
  of(principal: Principal, { sessionId, agentId: named }: PolicySubject): Promise<EffectivePolicy> | EffectivePolicy {
    const subject = { sessionId, agentId: agentOf(principal, named) };
    const session = this.sessions.state(principal.tenantId, sessionId);
    return session instanceof Promise
      ? session.then((state) => this.resolve(state, principal, subject))
      : this.resolve(session, principal, subject);
  }

  private resolve(session: SessionState, principal: Principal, { sessionId, agentId }: PolicySubject): EffectivePolicy {
    const agent = this.policyConfig.of(principal.tenantId, agentId);
    const { tools, allowedTools: allowed = [] } = session;
    const policy = allowed.length === 0 ? agent.policy : { ...agent.policy, allowedTools: [...agent.policy.allowedTools, ...allowed] };
    return {
      posture: postureIn(session, agent.posture),
      policy,
      grants: session.grants,
      patternsBy: this.policyConfig.patternsBy,
      ...(this.policyConfig.requiresFourEyes(principal.tenantId) &&
      session.changedBy.some((keyId) => this.apiKeys.isSamePerson(keyId, principal.keyId))
        ? { withoutSession: { posture: agent.posture, policy: agent.policy, grants: denialsOf(session.grants) } }
        : {}),
      dialect: session.dialect ?? principal.dialect ?? 'core',
      sessionEpoch: session.epoch,
      limitedSession: session.startedBy?.sessionId ?? sessionId,
      sessionUser: session.userId,
      hooks: this.hookConfig.of(principal.tenantId, agentId, session.hooks),
      workspaceRoot: this.workspaceOf(principal.tenantId, sessionId),
      isDeferred: (tool) => policy.deferredTools.some((pattern) => matchesTool(pattern, tool)),
      available: (tool) => {
        if (!isToolAllowed(principal, tool)) return keyLacks(principal, tool.name);
        if (tools !== undefined && !tools.some((pattern) => matchesTool(pattern, tool)))
          return { ok: false, reason: `${tool.name} is not among this session's tools (${tools.join(', ') || 'none'})` };
        return availability(tool, policy, session.grants);
      },
    };
  }
}

function denialsOf({ deniedTools, deniedPaths, literalPaths }: SessionGrants): SessionGrants {
  const denied = { ...NO_GRANTS, deniedTools, deniedPaths };
  return literalPaths === undefined ? denied : { ...denied, literalPaths: { ...literalPaths, allowed: { read: [], write: [] } } };
}

function keyLacks({ keyId, tools = [] }: Principal, name: string): Availability {
  return { ok: false, reason: `the key ${keyId} may use ${tools.join(', ') || 'no tools'}; ${name} is not among them` };
}
