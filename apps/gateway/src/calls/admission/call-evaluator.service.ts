import { Inject, Injectable } from '@nestjs/common';
import {
  LIMITS,
  type AppliedHook,
  type Call,
  type Decision,
  type FileAccess,
  type JsonValue,
  type Principal,
  type SubmitCallBody,
  type ToolDescriptor,
} from '#contracts';
import type { SpokenCall } from '#dialects';
import { negationsIn } from '#patterns';
import { decide, fileAccessOf, forbiddingPattern } from '#policy';
import { ToolRegistry } from '#tool-sdk';
import { userOf } from '../../auth/user-of.js';
import { EffectivePolicyService, type EffectivePolicy } from './effective-policy.service.js';
import { StoredRules } from '../../governance/stored-rules.service.js';
import { ToolAvailabilityService } from '../../workers/tool-availability.service.js';
import { NOT_EVALUATED, type EvaluatedCall } from './evaluated-call.js';
import { executionIn, fromDialect, inDialect } from './dialect-call.js';
import { aliasedTool } from '../tool-aliases.js';
import { applyToolDefaults } from './apply-tool-defaults.js';

const MORE_DENIED: Decision = {
  effect: 'deny',
  reasons: [
    {
      axis: 'grants',
      rule: 'denials',
      effect: 'deny',
      reason: 'More paths are denied now than when the call was submitted. Submit it again',
    },
  ],
};

/** Wording by which models recognise a denial that other arguments can avoid. */
const FORBIDDEN_ARGUMENTS = 'Tool use was rejected because the arguments supplied are forbidden:';

/**
 * Evaluates a call before it exists, for submissions and quotes. Changes nothing. Steps, the first rejection ends them:
 *
 * 1. resolve an alias of the agent's configuration
 * 2. translate a call of a dialect
 * 3. resolve the tool
 * 4. the tool is available to this key, agent and session, and a worker serves it
 * 5. parse and validate the arguments
 * 6. policy
 */
@Injectable()
export class CallEvaluator {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly policies: EffectivePolicyService,
    @Inject(ToolAvailabilityService) private readonly availability: Pick<ToolAvailabilityService, 'isRunnable'>,
    private readonly denials: StoredRules,
  ) {}

  /**
   * `spoken`: dialect form of a call whose tool and arguments are already canonical. Returns a promise only if the session has
   * to be read.
   * @throws ProblemError for an agent or user that the key may not act for
   */
  evaluate(principal: Principal, body: SubmitCallBody, spoken?: SpokenCall): Promise<EvaluatedCall> | EvaluatedCall {
    const policy = this.policies.of(principal, body);
    return policy instanceof Promise
      ? policy.then((rules) => this.evaluateSpoken(rules, principal, body, spoken))
      : this.evaluateSpoken(policy, principal, body, spoken);
  }

  private evaluateSpoken(rules: EffectivePolicy, principal: Principal, body: SubmitCallBody, spoken?: SpokenCall): EvaluatedCall {
    const named = spoken === undefined ? aliasedTool(rules.policy.toolAliases, body.tool) : undefined;
    if (named === undefined) return this.evaluateNamed(rules, principal, body, spoken);
    const evaluated = this.evaluateNamed(rules, principal, { ...body, tool: named });
    return evaluated.spoken === undefined ? { ...evaluated, requestedTool: body.tool } : evaluated;
  }

  private evaluateNamed(rules: EffectivePolicy, principal: Principal, body: SubmitCallBody, spoken?: SpokenCall): EvaluatedCall {
    if (spoken !== undefined) return inDialect({ ...this.evaluateBy(rules, principal, body, spoken), requestedTool: spoken.name, spoken });
    const { dialect = rules.dialect } = body;
    if (dialect === 'core') return this.evaluateBy(rules, principal, body);
    const canonical = fromDialect(this.tools.for(principal.tenantId), dialect, body, (tool) => rules.available(tool).ok);
    if ('refused' in canonical) {
      const userId = userOf(principal, body.userId, rules.sessionUser);
      const call = { requestedTool: body.tool, args: body.arguments, ...(userId === undefined ? {} : { userId }) };
      const unreachable = this.unreachable(rules, call, canonical.refused.tool);
      return unreachable === undefined
        ? { ...canonical.refused, ...call }
        : inDialect({ ...unreachable, spoken: canonical.refused.spoken });
    }
    if (canonical.spoken === undefined) return this.evaluateBy(rules, principal, canonical.body);
    const byTool = this.evaluateBy(rules, principal, canonical.body, canonical.spoken);
    const evaluated =
      (byTool.rejection === undefined ? this.forbiddenName(rules, principal, canonical.spoken.name, byTool) : undefined) ?? byTool;
    const { purpose = evaluated.purpose, timeoutMs } = canonical;
    const tool = evaluated.tool && this.timed(principal, evaluated.tool, timeoutMs);
    return inDialect({
      ...evaluated,
      requestedTool: canonical.spoken.name,
      spoken: canonical.spoken,
      ...(tool === undefined ? {} : { tool }),
      ...(purpose === undefined ? {} : { purpose }),
    });
  }

  /** Rejects a name that means different tools in the dialect and in Toolyard, if Toolyard's tool of that name is forbidden. */
  private forbiddenName(rules: EffectivePolicy, principal: Principal, name: string, evaluated: EvaluatedCall): EvaluatedCall | undefined {
    const own = this.tools.for(principal.tenantId).resolve(name);
    if (own === undefined || own.name === evaluated.tool?.name) return undefined;
    const pattern = forbiddingPattern([...rules.policy.exclude, ...rules.grants.deniedTools, ...negationsIn(principal.tools ?? [])], own);
    if (pattern === undefined) return undefined;
    const reason = `${name} is also ${own.name}, which is excluded from this agent's tools by "${pattern}"`;
    return { ...evaluated, ...denied({ effect: 'deny', reasons: [{ axis: 'grants', rule: 'availability', effect: 'deny', reason }] }) };
  }

  /** Tool with the run time of its dialect, unless the policy sets one. */
  private timed({ tenantId }: Principal, tool: ToolDescriptor, timeoutMs = tool.timeoutMs): ToolDescriptor {
    return this.tools.for(tenantId).resolve(tool.name)?.timeoutMs === tool.timeoutMs ? { ...tool, timeoutMs } : tool;
  }

  /** Rejection of a tool that is not available to the call or that no worker serves; undefined for any other tool. */
  private unreachable(
    rules: EffectivePolicy,
    call: Pick<EvaluatedCall, 'requestedTool' | 'args' | 'userId'>,
    tool: ToolDescriptor | undefined,
  ): EvaluatedCall | undefined {
    if (tool === undefined) return undefined;
    const { ok, reason = `${tool.name} is not available` } = rules.available(tool);
    if (!ok)
      return {
        ...call,
        tool,
        ...denied({ effect: 'deny', reasons: [{ axis: 'grants', rule: 'availability', effect: 'deny', reason }] }),
      };
    const ready = this.availability.isRunnable(tool);
    return ready.ok ? undefined : { ...call, tool, ...unavailable(ready.reason ?? `${tool.name} is not available`) };
  }

  private evaluateBy(rules: EffectivePolicy, principal: Principal, body: SubmitCallBody, spoken?: SpokenCall): EvaluatedCall {
    const userId = userOf(principal, body.userId, rules.sessionUser);
    const call = { requestedTool: body.tool, args: body.arguments, ...(userId === undefined ? {} : { userId }) };
    const { hooks, policy } = rules;
    const tools = this.tools.for(principal.tenantId);
    const unreachable = this.unreachable(rules, call, tools.resolve(body.tool));
    if (unreachable !== undefined) return unreachable;
    const prepared = applyToolDefaults(tools, body, policy);
    if (!prepared.ok) {
      const isUnknown = prepared.tool === undefined;
      const { code, message, errors } = isUnknown ? tools.notFound(body.tool, (tool) => rules.available(tool).ok) : prepared.failure;
      const error = { code, message, retryable: false, ...(errors.length > 0 ? { errors } : {}) };
      return {
        ...call,
        ...(prepared.tool ? { tool: prepared.tool } : {}),
        decision: NOT_EVALUATED,
        rejection: { outcome: 'failed', error },
      };
    }

    const { decision, facts } = decided(prepared.tool, prepared.args, rules, principal.keyId);
    const { profile } = policy;
    const execution = executionIn(spoken?.dialect ?? 'core', policy.execution);
    const evaluated: EvaluatedCall = {
      requestedTool: body.tool,
      tool: prepared.tool,
      args: jsonOf(prepared.args),
      userId,
      purpose: prepared.purpose,
      decision,
      files: decision.effect === 'deny' ? undefined : fileAccessOf(facts, decision),
      egress: prepared.tool.subjects.some(({ kind }) => kind === 'url') ? policy.egress : undefined,
      // Omits defaults.
      profile: profile === 'core' ? undefined : profile,
      resultBytes: execution.resultBytes === LIMITS.modelOutputBytes ? undefined : execution.resultBytes,
      resultTailBytes: execution.resultTailBytes,
      hooks: hooks.length === 0 ? undefined : hooksOf(prepared.tool, hooks, rules),
      limitedSession: rules.limitedSession === body.sessionId ? undefined : rules.limitedSession,
      sessionEpoch: rules.sessionEpoch === 0 ? undefined : rules.sessionEpoch,
    };
    return decision.effect === 'deny' ? { ...evaluated, ...denied(decision) } : evaluated;
  }

  /**
   * Reason why a call that waits for approval may not run even if approved: the posture, policy and denials that are active
   * now. Undefined if nothing denies it. `args`: arguments that would run; `files`: file access at submission. Its worker hides
   * the paths denied at submission, so a call that would need more hidden paths is denied.
   */
  async denialNow(
    principal: Principal,
    call: Pick<Call, 'tool' | 'sessionId'>,
    args: Record<string, unknown>,
    files: FileAccess,
  ): Promise<Refused | undefined> {
    const tool = this.tools.for(principal.tenantId).resolve(call.tool);
    if (tool === undefined) return undefined;
    const rules = await this.policies.of(principal, { sessionId: call.sessionId });
    const { ok, reason = `${tool.name} is not available` } = rules.available(tool);
    const unavailable: Decision = { effect: 'deny', reasons: [{ axis: 'grants', rule: 'availability', effect: 'deny', reason }] };
    if (!ok) return denied(unavailable).rejection;
    const { decision, facts } = decided(tool, args, rules, principal.keyId);
    if (decision.effect === 'deny') return denied(decision).rejection;
    const grown = await this.denials.haveGrown(files, fileAccessOf(facts, decision)?.denials);
    return grown ? denied(MORE_DENIED).rejection : undefined;
  }
}

/** Decision by these rules, and its facts. If the session does not count for the submitting key, the stricter of both decisions. */
function decided(
  tool: ToolDescriptor,
  args: Record<string, unknown>,
  { posture, policy, grants, patternsBy, workspaceRoot, withoutSession }: EffectivePolicy,
  keyId: string,
): { readonly decision: Decision; readonly facts: Parameters<typeof decide>[0] } {
  const facts = { tool, args, posture, policy, grants, patternsBy, workspaceRoot };
  const decision = decide(facts);
  if (withoutSession === undefined) return { decision, facts };
  const own = { tool, args, patternsBy, workspaceRoot, ...withoutSession };
  const without = decide(own);
  if (STRICTNESS.indexOf(without.effect) < STRICTNESS.indexOf(decision.effect)) return { decision, facts };
  const reason = `Four eyes: the key ${keyId} has changed this session itself, so what it trusts does not count for calls of this key`;
  const reasons: Decision['reasons'] = [...without.reasons, { axis: 'grants', rule: 'four_eyes', effect: without.effect, reason }];
  return { decision: { ...without, reasons }, facts: own };
}

const STRICTNESS = ['allow', 'ask', 'deny'] as const;

type Refused = NonNullable<EvaluatedCall['rejection']>;

/** Hooks that match the tool. Evaluation only lists them; `BeforeHooks` runs them. */
function hooksOf(
  tool: ToolDescriptor,
  hooks: readonly AppliedHook[],
  { policy, workspaceRoot }: Pick<EffectivePolicy, 'policy' | 'workspaceRoot'>,
): EvaluatedCall['hooks'] {
  const applied = hooks.filter(({ match }) => forbiddingPattern(match, tool) !== undefined);
  return applied.length === 0 ? undefined : { applied, profile: policy.profile, order: policy.hookOrder, cwd: workspaceRoot };
}

function jsonOf(args: Record<string, unknown>): JsonValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the registry returns copies of what was parsed from JSON
  return args as JsonValue;
}

/** Rejection for a tool without a worker. Not a denial: the same call may run later. */
function unavailable(reason: string): Pick<EvaluatedCall, 'decision' | 'rejection'> {
  return {
    decision: { effect: 'deny', reasons: [{ axis: 'facts', rule: 'readiness', effect: 'deny', reason }] },
    rejection: { outcome: 'failed', error: { code: 'unavailable', message: reason, retryable: true } },
  };
}

function denied(decision: Decision): { readonly decision: Decision; readonly rejection: Refused } {
  const denials = decision.reasons.filter(({ effect }) => effect === 'deny');
  const why = denials.map(({ reason }) => reason).join('; ');
  const error = { code: 'policy_denied', message: `Denied by policy: ${why}`, retryable: false } as const;
  const mendable = denials.every(({ axis }) => axis === 'risk');
  return { decision, rejection: { outcome: 'denied', error, ...(mendable ? { text: `${FORBIDDEN_ARGUMENTS} ${why}` } : {}) } };
}
