import { randomBytes, randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulidx';
import type { EndData } from '#contracts';
import { createRedis, partitionOf, partitionOfRoot, type RedisConnection, ReplicaBarrier, ReplicaNumber } from '#redis';
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
  /**
   * Number of replicas to wait for. Default: all that Sentinel knows, else one. Only with all of them a failover loses nothing:
   * until its end the old master continues with the remaining replicas.
   */
  readonly replicas?: number | undefined;
  /** Connection for WAIT with `replicated`, which blocks all other commands on it. Default: the connection of the log. */
  readonly waitConnection?: RedisConnection;
  /** Wait of one try for the replicas before the transition is sent again. Default 1000. */
  readonly replicaTimeoutMs?: number;
  /**
   * Dispatches a call that a transition of this log has made due. Without it, or if this process dies first, the reconciler
   * dispatches the call after two seconds.
   */
  readonly onWoken?: (call: WokenCall) => void;
  /**
   * Limit of bytes of the open calls of a tenant in one partition: above it accepts reject with `EventLogTenantFull`, above
   * twice as many also what suspensions keep, inputs and edited arguments. Default: none.
   */
  readonly tenantCallBytes?: number;
  /** Time after which a transition rejects with `EventLogUnavailable`. Default: retried for ever (workers). */
  readonly deadlineMs?: number;
  /**
   * Called with Redis's error text when Redis begins to refuse writes because it cannot save them, and with undefined when it
   * accepts them again.
   */
  readonly onDiskFault?: (refusal: string | undefined) => void;
}

type Input<M extends keyof EventLogWriter> = Parameters<EventLogWriter[M]>[0];

/** The writer of the log over Redis. The creator of the connection closes it, unless `open` made it from a URL. */
export class EventLog implements EventLogWriter {
  private readonly batcher: TransitionBatcher;
  private readonly blobs: BlobStore;
  private readonly ulid = monotonicFactory(pooledRandom());
  /** Claims are named by process and count, so that a repeated claim is recognized. */
  private readonly claimPrefix = randomBytes(6).toString('base64url');
  private claims = 0;
  /** Token of all claims made on dequeue. A repeated claim is granted only to the same worker, see `claim`. */
  private readonly dequeueToken = `${this.claimPrefix}.taken`;
  private owned: RedisConnection | undefined;

  constructor(
    redis: RedisConnection,
    private readonly options: EventLogOptions,
  ) {
    const { durability = 'local', replicas, replicaTimeoutMs = 1_000, waitConnection = redis, deadlineMs, onDiskFault } = options;
    this.batcher = new TransitionBatcher(redis, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(onDiskFault === undefined ? {} : { onDiskFault }),
      ...(durability === 'local'
        ? {}
        : { replicas: new ReplicaBarrier(waitConnection, new ReplicaNumber(waitConnection, replicas), replicaTimeoutMs) }),
    });
    this.blobs = new BlobStore(redis);
  }

  /** Checks that this Redis holds a log of this format, or starts one. `close` closes a connection made here from a URL. */
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

  /** Makes an id in the partition of another call. */
  newCallIdBeside(callId: string): string {
    return `${partitionOf(callId)}-${this.ulid()}`;
  }

  async accept(call: NewCall, sent?: () => void): Promise<AcceptAnswer> {
    // Stores the value before the event that refers to it. After a rejected accept the value expires by itself.
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

  async claim(input: Input<'claim'>, dequeueClaim?: DequeueClaim): Promise<Claimed | Rejection> {
    const token = dequeueClaim === undefined ? (input.token ?? `${this.claimPrefix}.${(this.claims++).toString(36)}`) : this.dequeueToken;
    const claim = () => to.claimTransition(input, token);
    const granted = parseClaim(
      dequeueClaim?.kind === 'answered'
        ? { now: Number(dequeueClaim.shared), answer: dequeueClaim.own }
        : await this.batcher.submit(claim()),
    );
    // A `once` call starts only after replicas have its Start. Claims are idempotent.
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
    return this.apply(to.giveInputTransition(input, this.options.tenantCallBytes));
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
    return this.apply(to.heldTransition(input, this.options.tenantCallBytes));
  }

  async decideApproval(input: Input<'decideApproval'>): Promise<Applied | Rejection> {
    const { end } = input;
    return this.apply(to.decideTransition(input), (tool) => end && emitEnded(tool, end));
  }

  async deferDispatch(input: Input<'deferDispatch'>): Promise<{ code: 'OK' } | Rejection> {
    const answer = await this.apply(to.deferTransition(input));
    return isApplied(answer) ? { code: 'OK' } : answer;
  }

  /** Waits for transitions under way. Idempotent. */
  async close(): Promise<void> {
    await this.batcher.close();
    const connection = this.owned;
    this.owned = undefined;
    await connection?.quit().catch(() => connection.disconnect());
  }

  /** Calls `onApplied` with the extra text of an OK, not of a REPLAY: its first answer counted already. */
  private async apply(transition: Transition, onApplied?: (extra: string) => void, sent?: () => void): Promise<Applied | Rejection> {
    const reply = await this.batcher.submit(transition, sent);
    if (reply.answer === 'FULL') throw new EventLogTenantFull();
    const { extra: note, woken, ...answer } = parseAnswer(reply);
    if (!isApplied(answer)) return emitRejected(transition.operation, asRejection(answer));
    if (woken !== undefined) this.options.onWoken?.(woken);
    onApplied?.(note ?? '');
    return answer;
  }

  /** Deletes the values of the rejected call beside the log. @throws EventLogTenantFull */
  private async refuse({ callId }: NewCall): Promise<never> {
    await Promise.allSettled((['arguments', 'secret-arguments'] as const).map((ref) => this.blobs.delete(callId, ref)));
    throw new EventLogTenantFull();
  }

  /** Stores large and secret arguments within the deadline of a transition. */
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

/** Rejects after the deadline. The timer is unreferenced, so that it does not delay a shutdown. */
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

/** Numbers in [0, 1) from the system's randomness, drawn 1 KiB at a time: an id needs sixteen of them. */
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
