import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  ConfigFile,
  ProblemError,
  type CallSummary,
  type Decision,
  type PolicyTestBody,
  type PolicyTestResult,
  type Principal,
  type Verdict,
} from '#contracts';
import { ConfigError } from '#platform';
import { configPatternFaults, TOO_LONG } from '#policy';
import { ToolRegistry } from '#tool-sdk';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { submitterOf } from '../auth/submitter-of.js';
import { HookConfigService } from '../governance/hook-config.service.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { StoredRules } from '../governance/stored-rules.service.js';
import type { CallQueries } from '../platform/call-queries.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { TenantTurns } from '../platform/tenant-turns.js';
import { CALL_QUERIES } from '../platform/tokens.js';
import { SessionStore } from '../sessions/session-store.service.js';
import { CallEvaluator } from './admission/call-evaluator.service.js';
import type { EvaluatedCall } from './admission/evaluated-call.js';
import { EffectivePolicyService } from './admission/effective-policy.service.js';
import { CallReader } from './read/call-reader.service.js';
import { asSubmitted } from './replay-call.service.js';

const AT_ONCE = 16;
const PAGE = 200;
/** Time after which the remaining calls are skipped. */
const MOST_MS = 5_000;
/** A test blocks the gateway while it evaluates: at most one per tenant. */
const TURNS = { atOnce: 1, allAtOnce: 4, waiting: 0, what: 'tests of a policy' };
/** Evaluated parts of a tenant's settings. */
const EVALUATED_PARTS: ReadonlySet<string> = new Set(['policy', 'posture', 'agents']);
/** Availability of tools that no worker serves now; their calls are evaluated too. */
const RUNNABLE = { isRunnable: () => ({ ok: true }) };

type Changed = PolicyTestResult['changed'][number];
type Outcome = { readonly changed: Changed | undefined } | { readonly skipped: string };
/** Outcome of a call under both configurations. */
type Evaluation = () => Promise<Outcome>;

const LATE: Outcome = { skipped: `not evaluated within ${MOST_MS / 1_000} s: ask for fewer calls` };

/** Evaluates recorded calls by an inactive configuration and lists the changed decisions. Runs and changes nothing. */
@Injectable()
export class TestPolicyService {
  private readonly turns = new TenantTurns(TURNS);

  constructor(
    @Inject(CALL_QUERIES) private readonly queries: CallQueries,
    private readonly reader: CallReader,
    private readonly apiKeys: ApiKeyStore,
    private readonly tools: ToolRegistry,
    private readonly sessions: SessionStore,
    private readonly hookConfig: HookConfigService,
    private readonly denials: StoredRules,
    private readonly policies: PolicyConfigService,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  /**
   * Evaluates the calls one after the other, with a turn of the event loop between them, until the time is over or `disconnect`
   * aborts.
   *
   * @throws ProblemError `invalid_request` that names the wrong fields, `too_many_requests` while another test of the tenant
   * runs
   */
  test(principal: Principal, body: PolicyTestBody, disconnect: AbortSignal): Promise<PolicyTestResult> {
    return this.turns.run(principal.tenantId, () => this.run(principal, body, disconnect));
  }

  private async run(principal: Principal, { config, filter, limit }: PolicyTestBody, disconnect: AbortSignal): Promise<PolicyTestResult> {
    const deadline = AbortSignal.any([AbortSignal.timeout(MOST_MS), disconnect]);
    const now = this.evaluatorBy(this.policies);
    const then = this.evaluatorBy(new PolicyConfigService({ ...this.configOf(principal, config), patternsBy: 'user' }));
    const result = { tested: 0, changed: [] as Changed[], skipped: [] as PolicyTestResult['skipped'] };
    const calls = await this.newest(principal, filter, limit);
    for (let at = 0; at < calls.length; at += AT_ONCE) {
      const group = deadline.aborted ? [] : calls.slice(at, at + AT_ONCE);
      const evaluations = await Promise.all(group.map((call) => this.evaluationOf(principal, call, now, then)));
      for (const [index, { id: callId }] of calls.slice(at, at + AT_ONCE).entries()) {
        await setImmediate();
        const outcome = deadline.aborted ? LATE : ((await evaluations[index]?.()) ?? LATE);
        if ('skipped' in outcome) result.skipped.push({ callId, reason: outcome.skipped });
        else result.tested += 1;
        if ('changed' in outcome && outcome.changed !== undefined) result.changed.push(outcome.changed);
      }
    }
    return result;
  }

  private evaluatorBy(policies: PolicyConfigService): CallEvaluator {
    const { sessions, hookConfig, apiKeys, config } = this;
    return new CallEvaluator(
      this.tools,
      new EffectivePolicyService(policies, sessions, hookConfig, apiKeys, config),
      RUNNABLE,
      this.denials,
    );
  }

  /** Reads a recorded call and prepares its evaluation. */
  private async evaluationOf(principal: Principal, summary: CallSummary, now: CallEvaluator, then: CallEvaluator): Promise<Evaluation> {
    const { id: callId, tool, preview } = summary;
    try {
      const call = await this.reader.read(principal, callId);
      if (call.erased) return () => Promise.resolve({ skipped: 'its content was erased' });
      const { agentId, sessionId, userId } = call;
      const submitter = submitterOf(this.apiKeys, principal.tenantId, await this.reader.submission(callId));
      const { dialectForm } = await this.reader.submissionInfo(principal, callId);
      const body = {
        tool,
        dialect: 'core',
        arguments: asSubmitted(call.arguments),
        priority: call.priority,
        timeouts: {},
        labels: {},
      } as const;
      const whose = { ...(agentId && { agentId }), ...(sessionId && { sessionId }), ...(userId && { userId }) };
      const { userId: _user, ...shown } = whose;
      return () =>
        skipping(async () => {
          const before = await now.evaluate(submitter, { ...body, ...whose }, dialectForm);
          await setImmediate();
          const after = await then.evaluate(submitter, { ...body, ...whose }, dialectForm);
          const why = notEvaluated(before) ?? notEvaluated(after);
          if (why !== undefined) return { skipped: why };
          const [was, is] = [verdictOf(before.decision), verdictOf(after.decision)];
          return { changed: was.effect === is.effect ? undefined : { callId, tool, ...shown, preview, before: was, after: is } };
        });
    } catch (error) {
      return () =>
        skipping(() => {
          throw error;
        });
    }
  }

  private async newest({ tenantId }: Principal, filter: PolicyTestBody['filter'], limit: number): Promise<CallSummary[]> {
    const found: CallSummary[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.queries.page(tenantId, {
        ...filter,
        limit: Math.min(PAGE, limit - found.length),
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.calls);
      cursor = page.nextCursor;
      if (cursor === undefined || found.length >= limit) return found;
    }
  }

  /** Configuration of the tenant. Agents of other tenants are ignored, and not validated. */
  private configOf({ tenantId }: Principal, parts: PolicyTestBody['config']): GatewayConfig {
    const { tenants: all } = parts;
    const own = isObject(all) && Object.hasOwn(all, tenantId) ? all[tenantId] : undefined;
    const given = isObject(own) ? Object.entries(own).filter(([name]) => EVALUATED_PARTS.has(name)) : [];
    const tenants = given.length === 0 ? {} : { [tenantId]: Object.fromEntries(given) };
    const parsed = ConfigFile.safeParse({ ...parts, tenants });
    const faults = parsed.success ? configPatternFaults(parsed.data) : parsed.error.issues;
    if (!parsed.success || faults.length > 0) throw wrongConfig(faults);
    try {
      return this.config.withFile?.(parsed.data) ?? this.config;
    } catch (error) {
      if (error instanceof ConfigError) throw wrongConfig([{ path: [], message: error.message }]);
      throw error;
    }
  }
}

/** Reason why the call has no valid decision; undefined if it has one. */
function notEvaluated({ decision: { reasons }, rejection }: EvaluatedCall): string | undefined {
  if (reasons.length === 0 && rejection !== undefined) return rejection.error.message;
  return reasons.find(({ reason }) => reason.startsWith(TOO_LONG))?.reason;
}

async function skipping(evaluation: Evaluation): Promise<Outcome> {
  try {
    return await evaluation();
  } catch (error) {
    if (error instanceof ProblemError && error.code !== 'unavailable') return { skipped: error.detail };
    throw error;
  }
}

function verdictOf({ effect, reasons }: Decision): Verdict {
  return {
    effect,
    reasons: effect === 'allow' ? [] : reasons.filter((reason) => reason.effect === effect && reason.satisfiedBy === undefined),
  };
}

function wrongConfig(faults: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): ProblemError {
  const errors = faults.map(({ path, message }) => ({ pointer: `/config${path.map((part) => `/${String(part)}`).join('')}`, message }));
  const detail = errors.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ');
  return new ProblemError('invalid_request', detail, { errors });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
