import { Injectable } from '@nestjs/common';
import { NO_GRANTS, POLICY_PROFILES, type Decision, type Principal, type SubmitCallBody } from '#contracts';
import { decide } from '#policy';
import { ToolRegistry } from '#tools';
import { mayUseTool } from '../auth/tool-patterns.js';
import { SessionStore } from '../sessions/session-store.service.js';
import type { JsonValue, JudgedCall } from './new-call.js';

/** The decision about a call that was refused before anybody asked the policy. */
const NOT_JUDGED: Decision = { effect: 'deny', reasons: [] };

/**
 * Finds out everything about a call before it exists, and changes nothing. Steps, the first refusal ends them:
 * resolve the tool → may the key use it → parse and validate the arguments → posture of the session → policy.
 */
@Injectable()
export class CallJudge {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly sessions: SessionStore,
  ) {}

  async judge(principal: Principal, body: SubmitCallBody): Promise<JudgedCall> {
    const call = { requestedTool: body.tool, args: body.arguments };
    const tool = this.tools.resolve(body.tool);
    if (tool !== undefined && !mayUseTool(principal, tool.name)) return { ...call, tool, ...denied(keyDecision(principal, tool.name)) };

    const prepared = this.tools.prepare(body.tool, body.arguments);
    if (!prepared.ok) {
      const { code, message, errors } = prepared.failure;
      const error = { code, message, retryable: false, ...(errors.length > 0 ? { errors } : {}) };
      return { ...call, ...(prepared.tool ? { tool: prepared.tool } : {}), decision: NOT_JUDGED, refusal: { outcome: 'failed', error } };
    }

    const posture = await this.sessions.posture(principal.tenantId, body.sessionId);
    const decision = decide({ tool: prepared.tool, args: prepared.args, posture, policy: POLICY_PROFILES.core, grants: NO_GRANTS, workspaceRoot: '/workspace' });
    const judged = { ...call, tool: prepared.tool, args: jsonOf(prepared.args), ...(prepared.purpose === undefined ? {} : { purpose: prepared.purpose }) };
    return decision.effect === 'deny' ? { ...judged, ...denied(decision) } : { ...judged, decision };
  }
}

/** The registry hands out copies of what was JSON at the door; walking them again would only prove that. */
function jsonOf(args: Record<string, unknown>): JsonValue {
  return args as JsonValue;
}

function denied(decision: Decision): Pick<JudgedCall, 'decision' | 'refusal'> {
  const why = decision.reasons.filter(({ effect }) => effect === 'deny').map(({ reason }) => reason);
  return { decision, refusal: { outcome: 'denied', error: { code: 'policy_denied', message: `Denied by policy: ${why.join('; ')}`, retryable: false } } };
}

function keyDecision({ keyId, tools = [] }: Principal, name: string): Decision {
  const reason = `the key ${keyId} may use ${tools.join(', ') || 'no tools'}; ${name} is not among them`;
  return { effect: 'deny', reasons: [{ axis: 'grants', rule: 'key-tools', effect: 'deny', reason }] };
}
