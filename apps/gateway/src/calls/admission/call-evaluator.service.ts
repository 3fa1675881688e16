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
import type { DialectForm, MisunderstoodCall } from '#dialects';
import { negationsIn } from '#patterns';
import { decide, fileAccessOf, forbiddingPattern } from '#policy';
import { ToolRegistry } from '#tool-sdk';
import { userOf } from '../../auth/user-of.js';
import { EffectivePolicyService, type EffectivePolicy } from './effective-policy.service.js';
import { StoredRules } from '../../governance/stored-rules.service.js';
import { ToolAvailabilityService } from '../../workers/tool-availability.service.js';
import { NOT_EVALUATED, type EvaluatedCall } from './evaluated-call.js';
import { canonicalCall, executionIn, withDialectText, type CanonicalCall } from './canonical-call.js';
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
 * 1. resolve an alias of the agent's configuration, and translate a call of a dialect (`canonicalCall`)
 * 2. resolve the tool, which must be available to this key, agent and session, and served by a worker
 * 3. parse and validate the arguments
 * 4. policy
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
   * `dialectForm`: set for a call whose tool and arguments are already canonical. Returns a promise only if the session has to
   * be read.
   * @throws ProblemError for an agent or user that the key may not act for
   */
  evaluate(principal: Principal, body: SubmitCallBody, dialectForm?: DialectForm): Promise<EvaluatedCall> | EvaluatedCall {
    const policy = this.policies.of(principal, body);
    return policy instanceof Promise
      ? policy.then((rules) => this.evaluateBy(rules, principal, body, dialectForm))
      : this.evaluateBy(policy, principal, body, dialectForm);
  }

  private evaluateBy(rules: EffectivePolicy, principal: Principal, body: SubmitCallBody, dialectForm?: DialectForm): EvaluatedCall {
    const call =
      dialectForm === undefined
        ? canonicalCall(this.tools.for(principal.tenantId), body, {
            dialect: body.dialect ?? rules.dialect,
            aliases: rules.policy.toolAliases,
            isOffered: (tool) => rules.available(tool).ok,
          })
        : { body, requestedTool: dialectForm.name, dialectForm };
    return withDialectText(this.evaluateCanonical(rules, principal, call), call.fault);
  }

  /** Rejects a name that means different tools in the dialect and in Toolyard, if Toolyard's tool of that name is forbidden. */
  private forbiddenName(rules: EffectivePolicy, principal: Principal, name: string, meant: ToolDescriptor): Decision | undefined {
    const own = this.tools.for(principal.tenantId).resolve(name);
    if (own === undefined || own.name === meant.name) return undefined;
    const pattern = forbiddingPattern([...rules.policy.exclude, ...rules.grants.deniedTools, ...negationsIn(principal.tools ?? [])], own);
    return pattern === undefined
      ? undefined
      : notAvailable(`${name} is also ${own.name}, which is excluded from this agent's tools by "${pattern}"`);
  }

  /** Rejection of a tool that is not available to the call or that no worker serves; undefined for any other tool. */
  private unreachable(rules: EffectivePolicy, tool: ToolDescriptor): Rejected | undefined {
    const { ok, reason = `${tool.name} is not available` } = rules.available(tool);
    if (!ok) return denied(notAvailable(reason));
    const ready = this.availability.isRunnable(tool);
    return ready.ok ? undefined : unavailable(ready.reason ?? `${tool.name} is not available`);
  }

  private evaluateCanonical(
    rules: EffectivePolicy,
    principal: Principal,
    { body, requestedTool, dialectForm, purpose, timeoutMs, fault }: CanonicalCall,
  ): EvaluatedCall {
    const userId = userOf(principal, body.userId, rules.sessionUser);
    const call = { requestedTool, dialectForm, args: body.arguments, userId, purpose };
    const { hooks, policy } = rules;
    const tools = this.tools.for(principal.tenantId);
    const named = fault?.code === 'not_found' ? undefined : tools.resolve(body.tool);
    const unreachable = named && this.unreachable(rules, named);
    if (unreachable !== undefined) return { ...call, tool: named, ...unreachable };
    if (fault !== undefined) return { ...call, tool: named, ...failed(fault) };
    const prepared = applyToolDefaults(tools, body, policy);
    if (!prepared.ok) {
      const isUnknown = prepared.tool === undefined;
      const failure = isUnknown ? tools.notFound(body.tool, (tool) => rules.available(tool).ok) : prepared.failure;
      return { ...call, tool: prepared.tool, ...failed(failure) };
    }

    const { decision: byPolicy, facts } = decided(prepared.tool, prepared.args, rules, principal.keyId);
    const forbidden = dialectForm && this.forbiddenName(rules, principal, dialectForm.name, prepared.tool);
    const decision = byPolicy.effect === 'deny' ? byPolicy : (forbidden ?? byPolicy);
    // A run time that the policy sets is stronger than the dialect's.
    const isTimed = timeoutMs !== undefined && prepared.tool.timeoutMs === named?.timeoutMs;
    const { profile } = policy;
    const execution = executionIn(dialectForm?.dialect ?? 'core', policy.execution);
    const evaluated: EvaluatedCall = {
      ...call,
      tool: isTimed ? { ...prepared.tool, timeoutMs } : prepared.tool,
      args: jsonOf(prepared.args),
      purpose: purpose ?? prepared.purpose,
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
  ): Promise<EvaluatedCall['rejection']> {
    const tool = this.tools.for(principal.tenantId).resolve(call.tool);
    if (tool === undefined) return undefined;
    const rules = await this.policies.of(principal, { sessionId: call.sessionId });
    const { ok, reason = `${tool.name} is not available` } = rules.available(tool);
    if (!ok) return denied(notAvailable(reason)).rejection;
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

type Rejected = Required<Pick<EvaluatedCall, 'decision' | 'rejection'>>;

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

function notAvailable(reason: string): Decision {
  return { effect: 'deny', reasons: [{ axis: 'grants', rule: 'availability', effect: 'deny', reason }] };
}

/** Rejection for a tool without a worker. Not a denial: the same call may run later. */
function unavailable(reason: string): Rejected {
  return {
    decision: { effect: 'deny', reasons: [{ axis: 'facts', rule: 'readiness', effect: 'deny', reason }] },
    rejection: { outcome: 'failed', error: { code: 'unavailable', message: reason, retryable: true } },
  };
}

/** Rejection for a name that no tool has, or for invalid arguments. */
function failed({ code, message, errors }: Pick<MisunderstoodCall, 'code' | 'message' | 'errors'>): Rejected {
  const error = { code, message, retryable: false, ...(errors.length > 0 ? { errors: [...errors] } : {}) };
  return { decision: NOT_EVALUATED, rejection: { outcome: 'failed', error } };
}

function denied(decision: Decision): Rejected {
  const denials = decision.reasons.filter(({ effect }) => effect === 'deny');
  const why = denials.map(({ reason }) => reason).join('; ');
  const error = { code: 'policy_denied', message: `Denied by policy: ${why}`, retryable: false } as const;
  const mendable = denials.every(({ axis }) => axis === 'risk');
  return { decision, rejection: { outcome: 'denied', error, ...(mendable ? { text: `${FORBIDDEN_ARGUMENTS} ${why}` } : {}) } };
}
