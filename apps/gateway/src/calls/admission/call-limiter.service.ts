import { Inject, Injectable } from '@nestjs/common';
import type { Limits, Principal, SubmitCallBody } from '#contracts';
import { EventHub, type NewCall } from '#event-log';
import {
  argumentBytesResult,
  CallLimits,
  costResult,
  limitChecks,
  queueDepthResult,
  treeDepthResult,
  type CallTree,
  type LimitResult,
  type LimitCheck,
} from '#limits';
import { BullCallQueue } from '#queue';
import { keys, partitionOf, type RedisConnection } from '#redis';
import { agentOf } from '../../auth/agent-of.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import type { EvaluatedCall } from './new-call.js';
import { applyLimitResults } from './apply-limit-results.js';
import { LimitConfigService } from '../../governance/limit-config.service.js';

/** How deep calls may make calls where nothing is said. */
const TREE_DEPTH = 3;
/** A call may end a little after its time; one that nobody saw ending is found when its limit is full. */
const WATCH_SLACK_MS = 60_000;
/** When to ask again for a tool that no worker can run: workers tell how they are every few seconds. */
const UNAVAILABLE_MS = 5_000;

export interface LimitRequest {
  readonly principal: Principal;
  readonly body: SubmitCallBody;
  readonly callId: string;
  readonly judged: EvaluatedCall;
  /** Of a call that another call makes. */
  readonly lineage?: CallTree | undefined;
  readonly idempotency?: NewCall['idempotency'] | undefined;
  /** It was refused for something that may pass, and keeps no key either. */
  readonly transient?: boolean | undefined;
}

/** What became of a call at its limits. */
export interface Admission {
  /** With what the limits say among its reasons, and refused when one of them is full. */
  readonly judged: EvaluatedCall;
  /** A call that limits refuse, or that nobody can run now, keeps no key, so that the same request may pass later. */
  readonly idempotency?: NewCall['idempotency'] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly resultBytes?: number | undefined;
  /** To be called when the call was not accepted after all: nothing of it counts. Never rejects. */
  release(): Promise<void>;
}

/**
 * The limits of calls, at the end of judging: what is free of charge first (sizes, depth of the queue), then everything
 * that counts, in one script run. A call without limits costs nothing here.
 */
@Injectable()
export class CallLimiter {
  constructor(
    private readonly settings: LimitConfigService,
    private readonly counts: CallLimits,
    private readonly queue: BullCallQueue,
    private readonly hub: EventHub,
    private readonly shutdown: ShutdownState,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'defaultTotalMs'>,
  ) {}

  /** Counts the call. Rejects when Redis is out of reach and has to be asked. */
  async acquire(request: LimitRequest): Promise<Admission> {
    const { principal, callId, judged, idempotency } = request;
    const limits = this.settings.of(request.principal.tenantId, agentOf(request.principal, request.body.agentId));
    const unlimited = { judged, idempotency, resultBytes: limits.resultBytes, release: async () => {} };
    if (judged.rejection?.error.code === 'unavailable')
      return { ...unlimited, retryAfterMs: UNAVAILABLE_MS, idempotency: await this.existingIdempotencyKey(principal, callId, idempotency) };
    if (judged.rejection !== undefined && request.transient === true)
      return { ...unlimited, idempotency: await this.existingIdempotencyKey(principal, callId, idempotency) };
    if (judged.rejection !== undefined || judged.tool === undefined) return unlimited;

    const checks = checksOf(request, limits);
    const asked = this.staticLimits(request, limits);
    const uncounted = asked instanceof Promise ? await asked : asked;
    if (checks.length === 0 && uncounted.length === 0) return unlimited;
    const refused = uncounted.some(({ rejection }) => rejection !== undefined);
    const counted = refused || checks.length === 0 ? [] : await this.counts.consume(principal.tenantId, callId, checks);
    const after = applyLimitResults(judged, [...uncounted, ...counted]);
    if (after.refusal !== undefined)
      return { ...unlimited, ...after, idempotency: await this.existingIdempotencyKey(principal, callId, idempotency) };
    return { ...unlimited, ...after, ...(checks.length === 0 ? {} : this.trackOpenCall(request, checks)) };
  }

  /** What the limits would say now. Nothing is counted. */
  async peek(request: LimitRequest): Promise<EvaluatedCall> {
    const { principal, callId, judged } = request;
    if (judged.rejection !== undefined || judged.tool === undefined) return judged;
    const limits = this.settings.of(request.principal.tenantId, agentOf(request.principal, request.body.agentId));
    const asked = this.staticLimits(request, limits);
    const uncounted = asked instanceof Promise ? await asked : asked;
    const checks = checksOf(request, limits);
    const counted = checks.length === 0 ? [] : await this.counts.peek(principal.tenantId, callId, checks);
    return applyLimitResults(judged, [...uncounted, ...counted]).judged;
  }

  private staticLimits({ judged: { args, tool }, lineage: family }: LimitRequest, limits: Limits): Promise<LimitResult[]> | LimitResult[] {
    const answers: LimitResult[] = [];
    if (family !== undefined) answers.push(treeDepthResult(family.depth, limits.treeDepth ?? TREE_DEPTH));
    if (limits.costPerDayCents !== undefined) answers.push(costResult(limits.costPerDayCents));
    if (limits.argumentBytes !== undefined)
      answers.push(argumentBytesResult(Buffer.byteLength(JSON.stringify(args)), limits.argumentBytes));
    const { queueDepth } = limits;
    if (queueDepth === undefined || tool === undefined) return answers;
    return this.queue.waitingCount(tool.pool).then((waiting) => [...answers, queueDepthResult(tool.pool, waiting, queueDepth)]);
  }

  /** Watches for the End from before the call exists. Should this process die, the next full limit finds out by itself. */
  private trackOpenCall(
    { principal: { tenantId }, callId, body }: LimitRequest,
    checks: readonly LimitCheck[],
  ): Pick<Admission, 'release'> {
    const watch = checks.some(({ kind }) => kind === 'open')
      ? this.hub.watch(callId, {
          signal: this.shutdown.signal,
          timeoutMs: (body.timeouts.totalMs ?? this.config.defaultTotalMs) + WATCH_SLACK_MS,
        })
      : undefined;
    void watch?.ended.then((seen) => (seen === undefined ? undefined : this.counts.releaseOpen(tenantId, callId, checks))).catch(() => {});
    return {
      release: async () => {
        watch?.cancel();
        await this.counts.release(tenantId, callId, checks).catch(() => {});
      },
    };
  }

  /** A repetition is answered as the first submission was, however full the limits are by now. */
  private async existingIdempotencyKey(
    principal: Principal,
    callId: string,
    idempotency: NewCall['idempotency'],
  ): Promise<NewCall['idempotency']> {
    if (idempotency === undefined) return undefined;
    const key = keys.idempotency(partitionOf(callId), principal.tenantId, idempotency.scopedKey);
    return (await this.redis.exists(key)) === 1 ? idempotency : undefined;
  }
}

function checksOf({ principal, body, judged, lineage: family }: LimitRequest, limits: Limits): LimitCheck[] {
  const { tool } = judged;
  if (tool === undefined) return [];
  const { tenantId, keyId } = principal;
  const call = { tenantId, keyId, agentId: agentOf(principal, body.agentId), sessionId: body.sessionId, tool: tool.name, tier: tool.tier };
  return limitChecks(call, limits, family);
}
