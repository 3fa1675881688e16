import { z } from 'zod';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  KEPT_WITH_CALL_SECONDS,
  CancelBody,
  ProblemError,
  SubmitCallBody,
  type Call,
  type CallEventOf,
  type DecisionReason,
  type Principal,
  type ToolAnswer,
} from '#contracts';
import { argumentRefs, BlobStore, CallStore } from '#event-log';
import { keys, partitionOf, partitionOfRoot, type RedisConnection } from '#redis';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { CallReader } from '../calls/read/call-reader.service.js';
import { gatewayKey } from '../calls/admission/idempotency.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { SessionStore } from '../sessions/session-store.service.js';
import { sessionOf, type ToolCall, type ToolHandler } from './tool-call.js';

/** Most concurrent runs of a session; each takes a slot of a worker. */
const MOST_RUNNING = 4;
/** Most remembered runs of a session, including ended ones. Only ended ones are dropped. */
const MOST_KNOWN = 100;
const NO_BUDGET = { depth: 0, tokens: 0, modelMs: 0, calls: 0 };
const STOPPED = CancelBody.parse({ reason: 'Stopped by the session' });
const SESSION_ENDED = CancelBody.parse({ reason: 'The session has ended' });

const StartArguments = z.object({ run_ms: z.number().int() });
const StopArguments = z.object({ task_id: z.string() });

/**
 * Background runs: separate calls that a running call starts with its own tool and arguments, and that outlive it. They belong
 * to its session, which lists and stops them, and end with it. Each is evaluated like any call of the key.
 */
@Injectable()
export class BackgroundTools implements OnApplicationBootstrap {
  readonly handlers: Readonly<Record<string, ToolHandler>> = {
    shell: (call) => this.start(call),
    shell_stop: (call) => this.stop(call),
  };

  constructor(
    private readonly calls: CallStore,
    private readonly reader: CallReader,
    private readonly blobs: BlobStore,
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly sessions: SessionStore,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.sessions.onEnd.add((principal, sessionId) => this.stopAll(principal, sessionId));
  }

  /** Starts the call again as a background run. Idempotent. */
  private async start(asking: ToolCall): Promise<ToolAnswer> {
    const { callId, principal } = asking;
    const { run_ms: runMs } = StartArguments.parse(asking.args);
    const {
      sessionId,
      principal: { tenantId },
    } = sessionOf(asking);
    const key = keys.backgroundRuns(partitionOf(callId), tenantId, sessionId);
    const submitted = await this.reader.submission(callId);
    const call = await this.reader.read(principal, callId);
    await this.reserve(key, callId);
    try {
      const { parentCallId, agentBudget, labels } = submitted.data;
      const body = SubmitCallBody.parse({
        tool: call.tool,
        dialect: 'core',
        arguments: JSON.stringify(await this.argumentsOf(call)),
        sessionId,
        agentId: asking.agentId,
        userId: asking.userId,
        parentCallId,
        labels,
      });
      // Exceeds the longest time that callers may request.
      const timeouts = { ...body.timeouts, runMs, totalMs: runMs + this.config.defaultQueueMs };
      const options = {
        idempotencyKey: gatewayKey('background', callId),
        startedBy: { callId, allowed: allowedWith(call, submitted) },
        ...(parentCallId === undefined ? {} : { byAgent: { budget: agentBudget ?? NO_BUDGET } }),
      };
      const { call: run } = await this.submitCall.submit(principal, { ...body, timeouts }, options);
      await this.keep(key, run.id, callId);
      const { epoch } = await this.sessions.state(tenantId, sessionId);
      if (epoch !== (submitted.data.sessionEpoch ?? 0)) await this.cancelCall.cancel(principal, run.id, SESSION_ENDED);
      return started(run);
    } finally {
      await this.redis.zrem(key, callId);
    }
  }

  /** @throws ProblemError if the run belongs to another session */
  private async stop(asking: ToolCall): Promise<ToolAnswer> {
    const { task_id } = StopArguments.parse(asking.args);
    const {
      sessionId,
      principal: { tenantId },
    } = sessionOf(asking);
    const known = await this.redis.zscore(keys.backgroundRuns(partitionOf(asking.callId), tenantId, sessionId), task_id);
    if (known === null)
      throw new ProblemError(
        'resource_not_found',
        `This session has no background run ${task_id.slice(0, 100)}. Use shell_list to see those it has.`,
      );
    await this.cancelCall.cancel(asking.principal, task_id, STOPPED);
    return { kind: 'output', content: [{ type: 'text', text: 'The run is asked to stop.' }] };
  }

  private async stopAll(principal: Principal, sessionId: string): Promise<void> {
    const key = this.keyOf(principal.tenantId, sessionId);
    const runs = await this.redis.zrangebyscore(key, '-inf', '+inf');
    const cancels = runs.map((callId) => this.cancelCall.cancel(principal, callId, SESSION_ENDED).catch(unlessNotThere));
    await Promise.all(cancels);
    await this.redis.del(key);
  }

  /** Stores the run and removes its reservation atomically, so that no run counts twice. */
  private async keep(key: string, callId: string, starter: string): Promise<void> {
    await this.redis.multi().zadd(key, Date.now(), callId).zrem(key, starter).expire(key, KEPT_WITH_CALL_SECONDS).exec();
  }

  /** Reserves a place for the run, so that concurrent starts do not exceed the limit. @throws ProblemError */
  private async reserve(key: string, callId: string): Promise<void> {
    await this.redis.zadd(key, Date.now(), callId);
    const known = await this.redis.zrangebyscore(key, '-inf', '+inf');
    const heads = await Promise.all(known.map((it) => this.calls.snapshot(it)));
    const running = heads.flatMap((head) => (head === undefined || head.status === 'ended' ? [] : [head.callId]));
    const forgotten = known.filter((it) => !running.includes(it)).slice(0, Math.max(0, known.length - MOST_KNOWN));
    if (forgotten.length > 0) await this.redis.zrem(key, ...forgotten);
    if (running.length <= MOST_RUNNING) return;
    await this.redis.zrem(key, callId);
    const others = running.filter((it) => it !== callId).join(', ');
    throw new ProblemError('quota_exceeded', `The session has ${MOST_RUNNING} background runs at once already: stop one of ${others}`);
  }

  /** Arguments of the run, including secrets. */
  private async argumentsOf(call: Call): Promise<unknown> {
    if (call.argumentsRedacted !== true) return call.arguments;
    const { argumentsDigest = '' } = call.approval?.decided?.edited ?? {};
    const { secret } = argumentRefs({ argumentsEdited: argumentsDigest !== '', argumentsDigest });
    const bytes = await this.blobs.get(call.id, secret);
    if (bytes === undefined) throw new ProblemError('conflict', 'The arguments of the call are not stored any more', { callId: call.id });
    const salted: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof salted === 'object' && salted !== null && 'arguments' in salted ? salted.arguments : {};
  }

  private keyOf(tenantId: string, sessionId: string): string {
    return keys.backgroundRuns(partitionOfRoot(tenantId, sessionId, this.config.partitions), tenantId, sessionId);
  }
}

function started({ id, status }: Call): ToolAnswer {
  const isAsked = status === 'waiting_approval';
  const state = isAsked ? 'A person is asked whether the command may run in the background' : 'The command runs in the background';
  const text = `${state}. Task id: ${id}. Read it with shell_output, end it with shell_stop.`;
  return { kind: 'output', content: [{ type: 'text', text }], details: { taskId: id, isAsked } };
}

/** Reasons that required approval, if a person has allowed the call. */
function allowedWith({ approval }: Call, { data }: CallEventOf<'call.submitted'>): DecisionReason[] {
  return approval?.decided?.decision === 'allow' ? data.decision.reasons.filter(({ effect }) => effect === 'ask') : [];
}

/** Ignores a run that is no longer stored. */
function unlessNotThere(error: unknown): void {
  if (!(error instanceof ProblemError) || error.code !== 'resource_not_found') throw error;
}
