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

/** Each takes a slot of a worker. */
const MOST_RUNNING = 4;
/** Runs that a session knows, ended ones among them. Only ended ones are forgotten. */
const MOST_KNOWN = 100;
const NO_BUDGET = { depth: 0, tokens: 0, modelMs: 0, calls: 0 };
const STOPPED = CancelBody.parse({ reason: 'Stopped by the session' });
const SESSION_ENDED = CancelBody.parse({ reason: 'The session has ended' });

const StartArguments = z.object({ run_ms: z.number().int() });
const StopArguments = z.object({ task_id: z.string() });

/**
 * Background runs: calls of their own that a running call starts with its own tool and arguments, and that outlive it.
 * They are of its session, which lists and stops them, and end with it. Each is judged like any call of the key.
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

  /** Starts the call again as a background run, once however often this is asked. */
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
      // Longer than callers may ask for.
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

  /** @throws ProblemError for a run that is none of the session */
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

  /** In one step with the end of the reservation, so that no run counts twice. */
  private async keep(key: string, callId: string, starter: string): Promise<void> {
    await this.redis.multi().zadd(key, Date.now(), callId).zrem(key, starter).expire(key, KEPT_WITH_CALL_SECONDS).exec();
  }

  /** Counts the call as a run until it is one: of several at once none exceeds the limit. @throws ProblemError */
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

  /** As they ran, secrets and all. */
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

/** What the rules asked about the call, where a person has allowed it. */
function allowedWith({ approval }: Call, { data }: CallEventOf<'call.submitted'>): DecisionReason[] {
  return approval?.decided?.decision === 'allow' ? data.decision.reasons.filter(({ effect }) => effect === 'ask') : [];
}

/** A run that is not stored any more. */
function unlessNotThere(error: unknown): void {
  if (!(error instanceof ProblemError) || error.code !== 'resource_not_found') throw error;
}
