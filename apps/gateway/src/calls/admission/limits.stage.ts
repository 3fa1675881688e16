import { Inject, Injectable } from '@nestjs/common';
import type { Limits, Pool, ToolDescriptor } from '#contracts';
import { EventHub } from '#event-log';
import {
  argumentBytesResult,
  CallLimits,
  costResult,
  limitChecks,
  queueDepthResult,
  treeDepthResult,
  type LimitResult,
  type LimitCheck,
} from '#limits';
import { BullCallQueue } from '#queue';
import { keys, partitionOf, type RedisConnection } from '#redis';
import { agentOf } from '../../auth/agent-of.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import type { AdmissionStage, Submission } from './submission.js';
import { applyLimitResults } from './apply-limit-results.js';
import { LimitConfigService } from '../../governance/limit-config.service.js';

/** Default of the deepest level of child calls. */
const TREE_DEPTH = 3;
/** Grace after the call's time for its End. If no gateway sees the End, the next check of a full limit finds the ended call. */
const WATCH_SLACK_MS = 60_000;
/** Retry delay for a tool that no worker serves: workers report every few seconds. */
const UNAVAILABLE_MS = 5_000;

/**
 * Applies the limits of calls: first limits without counters (sizes, depth of the queue), then all counters in one script.
 * Calls without limits need no Redis request. A dry run counts nothing.
 */
@Injectable()
export class LimitsStage implements AdmissionStage {
  readonly name = 'limits';

  constructor(
    private readonly settings: LimitConfigService,
    private readonly counts: CallLimits,
    private readonly queue: BullCallQueue,
    private readonly hub: EventHub,
    private readonly shutdown: ShutdownState,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'defaultTotalMs'>,
  ) {}

  /** Rejects if Redis is needed and unreachable. */
  run(submission: Submission): void | Promise<void> {
    const { principal, body, evaluated } = submission;
    const limits = this.settings.of(principal.tenantId, agentOf(principal, body.agentId));
    submission.resultBytes = limits.resultBytes;
    if (evaluated.rejection !== undefined) return this.keepRejection(submission, evaluated.rejection.error.code === 'unavailable');
    if (evaluated.tool === undefined) return;
    const checks = checksOf(submission, evaluated.tool, limits);
    const fixed = fixedLimits(submission, limits);
    if (checks.length > 0 || fixed.length > 0 || limits.queueDepth !== undefined)
      return this.apply(submission, checks, fixed, evaluated.tool.pool, limits.queueDepth);
  }

  /**
   * Drops the idempotency key of a call that no worker can run now or that was rejected for a transient reason, so that the
   * same request may pass later.
   */
  private keepRejection(submission: Submission, isUnavailable: boolean): void | Promise<void> {
    if (submission.isDryRun) return;
    if (isUnavailable) submission.retryAfterMs = UNAVAILABLE_MS;
    if (isUnavailable || submission.transient) return this.dropNewKey(submission);
  }

  private async apply(
    submission: Submission,
    checks: readonly LimitCheck[],
    fixed: readonly LimitResult[],
    pool: Pool,
    queueDepth: number | undefined,
  ): Promise<void> {
    const { principal, callId, evaluated, isDryRun } = submission;
    const { tenantId } = principal;
    const uncounted =
      queueDepth === undefined ? fixed : [...fixed, queueDepthResult(pool, await this.queue.waitingCount(pool), queueDepth)];
    const isRejected = uncounted.some(({ rejection }) => rejection !== undefined);
    const isCounted = checks.length > 0 && (isDryRun || !isRejected);
    const counted = !isCounted
      ? []
      : isDryRun
        ? await this.counts.peek(tenantId, callId, checks)
        : await this.counts.consume(tenantId, callId, checks);
    const result = applyLimitResults(evaluated, [...uncounted, ...counted]);
    submission.evaluated = result.evaluated;
    if (isDryRun) return;
    submission.retryAfterMs = result.retryAfterMs;
    if (result.rejection !== undefined) await this.dropNewKey(submission);
    else if (checks.length > 0) this.trackOpenCall(submission, checks);
  }

  /** Watches for the End before the call exists. If this process dies, the next check of a full limit finds the ended call. */
  private trackOpenCall(submission: Submission, checks: readonly LimitCheck[]): void {
    const { principal, callId, body } = submission;
    const { tenantId } = principal;
    const watch = checks.some(({ kind }) => kind === 'open')
      ? this.hub.watch(callId, {
          signal: this.shutdown.signal,
          timeoutMs: (body.timeouts.totalMs ?? this.config.defaultTotalMs) + WATCH_SLACK_MS,
        })
      : undefined;
    void watch?.ended.then((seen) => (seen === undefined ? undefined : this.counts.releaseOpen(tenantId, callId, checks))).catch(() => {});
    submission.release = async () => {
      watch?.cancel();
      await this.counts.release(tenantId, callId, checks).catch(() => {});
    };
  }

  /** Drops the key unless a call already has it: a repetition gets the answer of the first submission, however full the limits are. */
  private async dropNewKey(submission: Submission): Promise<void> {
    const { principal, callId, idempotency } = submission;
    if (idempotency === undefined) return;
    const key = keys.idempotency(partitionOf(callId), principal.tenantId, idempotency.scopedKey);
    if ((await this.redis.exists(key)) !== 1) submission.idempotency = undefined;
  }
}

/** Results of limits that need no Redis request. */
function fixedLimits({ evaluated: { args }, lineage }: Submission, limits: Limits): LimitResult[] {
  const answers: LimitResult[] = [];
  if (lineage !== undefined) answers.push(treeDepthResult(lineage.depth, limits.treeDepth ?? TREE_DEPTH));
  if (limits.costPerDayCents !== undefined) answers.push(costResult(limits.costPerDayCents));
  if (limits.argumentBytes !== undefined) answers.push(argumentBytesResult(Buffer.byteLength(JSON.stringify(args)), limits.argumentBytes));
  return answers;
}

function checksOf({ principal, body, lineage, evaluated }: Submission, tool: ToolDescriptor, limits: Limits): LimitCheck[] {
  const { tenantId, keyId } = principal;
  const { limitedSession: sessionId = body.sessionId } = evaluated;
  const call = { tenantId, keyId, agentId: agentOf(principal, body.agentId), sessionId, tool: tool.name, tier: tool.tier };
  return limitChecks(call, limits, lineage);
}
