import { randomBytes, randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulidx';
import type { EndData } from '#contracts';
import { createRedis, partitionOf, partitionOfRoot, type RedisConnection, ReplicaBarrier } from '#redis';
import { telemetry } from '#observability';
import { EventLogFull, EventLogTenantFull, EventLogUnavailable } from './event-log-errors.js';
import type {
  DequeueClaim,
  DequeueClaimHook,
  AcceptAnswer,
  Applied,
  WorkerIdentity,
  Claimed,
  EventLogWriter,
  NewCall,
  Rejection,
  WokenCall,
} from './event-log.port.js';
import { ensureLogMetadata } from './log-metadata.js';
import { BlobStore } from './read/blob-store.js';
import { claimOnDequeue } from './stream/claim-on-dequeue.js';
import { isApplied, parseAnswer, parseClaim, asRejection } from './stream/transition-answer.js';
import { TransitionBatcher } from './stream/transition-batcher.js';
import type { Transition } from './stream/transition.js';
import * as to from './stream/to-transition.js';

export interface EventLogOptions {
  /** Fixed for an installation; see `ensureLogMetadata`. */
  readonly partitions: number;
  /** `replicated`: accepts, ends, cancels, decisions and claims of calls with effect `once` are answered when replicas have them too. Default `local`. */
  readonly durability?: 'local' | 'replicated';
  /** How many; default 1. Only with all of them does a planned failover lose nothing: until it is over, the old master goes on with those left to it. */
  readonly replicas?: number;
  /** Where WAIT is sent with `replicated`; it blocks all other commands of its connection. Default: the connection of the log. */
  readonly waitConnection?: RedisConnection;
  /** How long one try waits for the replicas before the transition is asked for again. Default 1000. */
  readonly replicaTimeoutMs?: number;
  /**
   * Called for each call that a transition of this log has made due: dispatch it. Without it, or when this process dies first, the
   * reconciler dispatches it after two seconds.
   */
  readonly onWoken?: (call: WokenCall) => void;
  /**
   * Bytes that the open calls of a tenant in one partition may have; beyond, accepts reject with `EventLogTenantFull`, and suspensions
   * with a state beyond twice as many. Default: any.
   */
  readonly tenantCallBytes?: number;
  /** After it a transition rejects with `EventLogUnavailable`. Without it (workers) it is tried for ever. */
  readonly deadlineMs?: number;
  /** Called when Redis begins to refuse writes because it cannot save them, with what it says, and with undefined when it takes them again. */
  readonly onDiskFault?: (refusal: string | undefined) => void;
}

type Input<M extends keyof EventLogWriter> = Parameters<EventLogWriter[M]>[0];

/** The writer of the log over Redis. The creator of the connection closes it, unless `open` made it from a URL. */
export class EventLog implements EventLogWriter {
  private readonly batcher: TransitionBatcher;
  private readonly blobs: BlobStore;
  private readonly ulid = monotonicFactory(pooledRandom());
  /** Claims are named by process and count, so that a claim asked again is known as the same. */
  private readonly claimPrefix = randomBytes(6).toString('base64url');
  private claims = 0;
  /** Of all claims made when a job was taken: such a one is granted again only to whom it was granted, see `claim`. */
  private readonly dequeueToken = `${this.claimPrefix}.taken`;
  private owned: RedisConnection | undefined;

  constructor(
    redis: RedisConnection,
    private readonly options: EventLogOptions,
  ) {
    const { durability = 'local', replicas = 1, replicaTimeoutMs = 1_000, waitConnection = redis, deadlineMs, onDiskFault } = options;
    this.batcher = new TransitionBatcher(redis, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(onDiskFault === undefined ? {} : { onDiskFault }),
      ...(durability === 'replicated' ? { replicas: new ReplicaBarrier(waitConnection, { replicas, ms: replicaTimeoutMs }) } : {}),
    });
    this.blobs = new BlobStore(redis);
  }

  /** Checks that this Redis holds a log of this form, or starts one. A connection made here from a URL is closed by `close`. */
  static async open(redis: string | RedisConnection, options: EventLogOptions): Promise<EventLog> {
    const connection = typeof redis === 'string' ? createRedis(redis, { name: 'event-log' }) : redis;
    try {
      await ensureLogMetadata(connection, options.partitions);
    } catch (error) {
      if (typeof redis === 'string') connection.disconnect();
      throw error;
    }
    const log = new EventLog(connection, options);
    if (typeof redis === 'string') log.owned = connection;
    return log;
  }

  newCallId(tenantId: string, rootId?: string): string {
    const ulid = this.ulid();
    return `${partitionOfRoot(tenantId, rootId ?? ulid, this.options.partitions)}-${ulid}`;
  }

  /** An id in the partition of another call. */
  newCallIdBeside(callId: string): string {
    return `${partitionOf(callId)}-${this.ulid()}`;
  }

  async accept(call: NewCall, sent?: () => void): Promise<AcceptAnswer> {
    // First the value, then the event that points at it. Left over by a refused accept, it expires by itself.
    if (call.argumentsBlob !== undefined || call.secretArguments !== undefined) await this.storeArguments(call);
    const accepted = await this.batcher.submit(to.acceptTransition(call, this.options.tenantCallBytes), sent);
    if (accepted.answer === 'FULL') return this.refuse(call);
    const { woken, ...answer } = parseAnswer(accepted);
    if (woken !== undefined) this.options.onWoken?.(woken);
    if ('callId' in answer) return answer;
    if (!isApplied(answer)) throw new Error(`transition.lua answered ${answer.code} to an accept.`);
    const { tool } = call.meta;
    telemetry.callSubmitted.emit({ tool, pool: call.submitted.pool, risk: call.submitted.decision.risk });
    if (call.followUp?.kind === 'refused') emitEnded(tool, call.followUp.data);
    return answer;
  }

  async claim(input: Input<'claim'>, taken?: DequeueClaim): Promise<Claimed | Rejection> {
    const token = taken === undefined ? (input.token ?? `${this.claimPrefix}.${(this.claims++).toString(36)}`) : this.dequeueToken;
    const claim = () => to.claimTransition(input, token);
    const granted = parseClaim(
      taken?.kind === 'answered' ? { now: Number(taken.shared), answer: taken.own } : await this.batcher.submit(claim()),
    );
    // What must not run twice begins only when its Start cannot get lost. Asked again, the claim is answered the same.
    const isToWait = this.options.durability === 'replicated' && 'submitted' in granted && granted.submitted.effect === 'once';
    const answer = isToWait ? parseClaim(await this.batcher.submit({ ...claim(), durable: true })) : granted;
    if (!('submitted' in answer)) emitRejected('claim', answer);
    return answer;
  }

  claimOnDequeue(claimant: WorkerIdentity): DequeueClaimHook {
    return claimOnDequeue(claimant, this.dequeueToken);
  }

  update(input: Input<'update'>): Promise<Applied | Rejection> {
    return this.apply(to.updateTransition(input));
  }

  progress(input: Input<'progress'>): Promise<Applied | Rejection> {
    return this.apply(to.progressTransition(input));
  }

  hook(input: Input<'hook'>): Promise<Applied | Rejection> {
    return this.apply(to.hookTransition(input));
  }

  turn(input: Input<'turn'>): Promise<Applied | Rejection> {
    return this.apply(to.turnTransition(input));
  }

  async renew(input: Input<'renew'>): Promise<{ code: 'OK'; cancelRequested: boolean } | Rejection> {
    let cancelRequested = false;
    const answer = await this.apply(to.renewTransition(input), (note) => (cancelRequested = note === '1'));
    return isApplied(answer) ? { code: 'OK', cancelRequested } : answer;
  }

  retry(input: Input<'retry'>): Promise<Applied | Rejection> {
    return this.apply(to.retryTransition(input), (tool) => telemetry.retried.emit({ tool, reason: input.data.reason }));
  }

  suspend(input: Input<'suspend'>): Promise<Applied | Rejection> {
    return this.apply(to.suspendTransition(input, this.options.tenantCallBytes), (tool) =>
      telemetry.retried.emit({ tool, reason: 'suspended' }),
    );
  }

  requestInput(input: Input<'requestInput'>): Promise<Applied | Rejection> {
    return this.apply(to.requestInputTransition(input, this.options.tenantCallBytes), (tool) =>
      telemetry.retried.emit({ tool, reason: 'suspended' }),
    );
  }

  giveInput(input: Input<'giveInput'>): Promise<Applied | Rejection> {
    return this.apply(to.giveInputTransition(input));
  }

  async wake(callId: string): Promise<{ code: 'OK' } | Rejection> {
    const answer = await this.apply(to.wakeTransition(callId));
    return isApplied(answer) ? { code: 'OK' } : answer;
  }

  end(input: Input<'end'>, sent?: () => void): Promise<Applied | Rejection> {
    return this.apply(to.endTransition(input), (tool) => emitEnded(tool, input.data), sent);
  }

  requestCancel(input: Input<'requestCancel'>): Promise<Applied | Rejection> {
    return this.apply(to.cancelTransition(input));
  }

  holdApproval(input: Input<'holdApproval'>): Promise<Applied | Rejection> {
    return this.apply(to.heldTransition(input));
  }

  async decideApproval(input: Input<'decideApproval'>): Promise<Applied | Rejection> {
    const { end } = input;
    return this.apply(to.decideTransition(input), (tool) => end && emitEnded(tool, end));
  }

  async deferDispatch(input: Input<'deferDispatch'>): Promise<{ code: 'OK' } | Rejection> {
    const answer = await this.apply(to.deferTransition(input));
    return isApplied(answer) ? { code: 'OK' } : answer;
  }

  /** Waits for what is under way. Idempotent. */
  async close(): Promise<void> {
    await this.batcher.close();
    const connection = this.owned;
    this.owned = undefined;
    await connection?.quit().catch(() => connection.disconnect());
  }

  /** `onApplied` is called with what the script adds to an OK, not for a REPLAY: its first answer counted already. */
  private async apply(transition: Transition, onApplied?: (extra: string) => void, sent?: () => void): Promise<Applied | Rejection> {
    const given = await this.batcher.submit(transition, sent);
    if (given.answer === 'FULL') throw new EventLogTenantFull();
    const { extra: note, woken, ...answer } = parseAnswer(given);
    if (!isApplied(answer)) return emitRejected(transition.operation, asRejection(answer));
    if (woken !== undefined) this.options.onWoken?.(woken);
    onApplied?.(note ?? '');
    return answer;
  }

  /** Deletes the values that the call has beside the log, which take room. @throws EventLogTenantFull */
  private async refuse({ callId }: NewCall): Promise<never> {
    await Promise.allSettled((['arguments', 'secret-arguments'] as const).map((ref) => this.blobs.delete(callId, ref)));
    throw new EventLogTenantFull();
  }

  /** Bounded like the transition that needs it. */
  private async storeArguments({ callId, argumentsBlob, secretArguments }: NewCall): Promise<void> {
    const { deadlineMs } = this.options;
    const puts: Promise<void>[] = [];
    if (argumentsBlob !== undefined) puts.push(this.blobs.put(callId, 'arguments', Buffer.from(argumentsBlob)));
    if (secretArguments !== undefined) {
      const { text, ttlMs } = secretArguments;
      puts.push(this.blobs.put(callId, 'secret-arguments', Buffer.from(text), Math.ceil(ttlMs / 1000)));
    }
    const stored = Promise.all(puts);
    try {
      await (deadlineMs === undefined ? stored : Promise.race([stored, rejectAfter(deadlineMs)]));
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('OOM')) throw new EventLogFull();
      throw error;
    }
  }
}

/** Rejects when the time is over. Unreferenced: it holds up no shutdown. */
function rejectAfter(deadlineMs: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new EventLogUnavailable(`Redis did not store the arguments within ${deadlineMs} ms.`)), deadlineMs).unref();
  });
}

function emitRejected(transition: string, answer: Rejection): Rejection {
  telemetry.transitionRefused.emit({ transition, code: answer.code });
  return answer;
}

function emitEnded(tool: string, { outcome, error }: EndData): void {
  telemetry.callEnded.emit({ tool, outcome, ...(error ? { code: error.code } : {}) });
}

/** Numbers in [0, 1) from the system's randomness, drawn 1 KiB at a time: the factory asks for one byte sixteen times an id. */
function pooledRandom(): () => number {
  const pool = new Uint8Array(1024);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    return (pool[next++] ?? 0) / 256;
  };
}
