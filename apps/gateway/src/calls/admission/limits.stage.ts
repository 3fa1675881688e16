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

/** How deep calls may make calls by default. */
const TREE_DEPTH = 3;
/** A call may end a little after its time; one whose End no gateway saw is found when its limit is full. */
const WATCH_SLACK_MS = 60_000;
/** When to submit again for a tool that no worker can run: workers report every few seconds. */
const UNAVAILABLE_MS = 5_000;

/**
 * The limits of calls: what needs no counter first (sizes, depth of the queue), then everything that counts, in one
 * script run. A call without limits costs nothing here. A dry run counts nothing.
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

  /** Rejects when Redis has to be asked and is out of reach. */
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

  /** A call that no worker can run now, or that was rejected for a transient reason, keeps no key: the same request may pass later. */
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

  /** Watches for the End from before the call exists. If this process dies, the next full limit finds that the call has ended. */
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

  /** Keeps the key only when a call has it already: a repetition is answered as the first submission was, however full the limits are. */
  private async dropNewKey(submission: Submission): Promise<void> {
    const { principal, callId, idempotency } = submission;
    if (idempotency === undefined) return;
    const key = keys.idempotency(partitionOf(callId), principal.tenantId, idempotency.scopedKey);
    if ((await this.redis.exists(key)) !== 1) submission.idempotency = undefined;
  }
}

/** Limits that are answered without Redis. */
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
