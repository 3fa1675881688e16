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
import { configPatternFaults } from '#policy';
import { ToolRegistry } from '#tool-sdk';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { submitterOf } from '../auth/submitter-of.js';
import { HookConfigService } from '../governance/hook-config.service.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { StoredRules } from '../governance/stored-rules.service.js';
import type { CallQueries } from '../platform/call-queries.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { CALL_QUERIES } from '../platform/tokens.js';
import { SessionStore } from '../sessions/session-store.service.js';
import { CallEvaluator } from './admission/call-evaluator.service.js';
import { EffectivePolicyService } from './admission/effective-policy.service.js';
import { CallReader } from './read/call-reader.service.js';
import { asSubmitted } from './replay-call.service.js';

const AT_ONCE = 16;
const PAGE = 200;
/** What no worker serves now is judged all the same. */
const RUNNABLE = { isRunnable: () => ({ ok: true }) };

type Changed = PolicyTestResult['changed'][number];
type Outcome = { readonly changed: Changed | undefined } | { readonly skipped: string };

/** Judges recorded calls by a configuration that is not in force, and tells which verdicts differ. Runs and changes nothing. */
@Injectable()
export class TestPolicyService {
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

  /** @throws ProblemError `invalid_request` that names the fields that are wrong */
  async test(principal: Principal, { config, filter, limit }: PolicyTestBody): Promise<PolicyTestResult> {
    const now = this.evaluatorBy(this.policies);
    const then = this.evaluatorBy(new PolicyConfigService(this.configOf(principal, config)));
    const result = { tested: 0, changed: [] as Changed[], skipped: [] as PolicyTestResult['skipped'] };
    const calls = await this.newest(principal, filter, limit);
    for (let at = 0; at < calls.length; at += AT_ONCE) {
      const group = calls.slice(at, at + AT_ONCE);
      const outcomes = await Promise.all(group.map((call) => this.compare(principal, call, now, then)));
      for (const [index, outcome] of outcomes.entries()) {
        if ('skipped' in outcome) result.skipped.push({ callId: group[index]?.id ?? '', reason: outcome.skipped });
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

  private async compare(principal: Principal, summary: CallSummary, now: CallEvaluator, then: CallEvaluator): Promise<Outcome> {
    const { id: callId, tool, preview } = summary;
    try {
      const call = await this.reader.read(principal, callId);
      if (call.erased) return { skipped: 'its content was erased' };
      const { agentId, sessionId, userId } = call;
      const submitter = submitterOf(this.apiKeys, principal.tenantId, await this.reader.submission(callId));
      const { spoken } = await this.reader.submissionInfo(principal, callId);
      const body = {
        tool,
        dialect: 'core',
        arguments: asSubmitted(call.arguments),
        priority: call.priority,
        timeouts: {},
        labels: {},
      } as const;
      const whose = { ...(agentId && { agentId }), ...(sessionId && { sessionId }), ...(userId && { userId }) };
      const [before, after] = await Promise.all([now, then].map(async (by) => by.evaluate(submitter, { ...body, ...whose }, spoken)));
      const unjudged = [before, after].find((evaluated) => evaluated?.decision.reasons.length === 0 && evaluated.rejection !== undefined);
      if (before === undefined || after === undefined || unjudged !== undefined)
        return { skipped: unjudged?.rejection?.error.message ?? 'it could not be judged' };
      const [was, is] = [verdictOf(before.decision), verdictOf(after.decision)];
      if (was.effect === is.effect) return { changed: undefined };
      const { userId: _user, ...shown } = whose;
      return { changed: { callId, tool, ...shown, preview, before: was, after: is } };
    } catch (error) {
      if (error instanceof ProblemError && error.code !== 'unavailable') return { skipped: error.detail };
      throw error;
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

  /** Agents of other tenants do not count, and are not checked. */
  private configOf({ tenantId }: Principal, parts: PolicyTestBody['config']): GatewayConfig {
    const { tenants: all } = parts;
    const own = isObject(all) && Object.hasOwn(all, tenantId) ? all[tenantId] : undefined;
    const agents = isObject(own) ? own['agents'] : undefined;
    const tenants = agents === undefined ? {} : { [tenantId]: { agents } };
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
