import { Inject, Injectable } from '@nestjs/common';
import { CancelBody, errorEntry, ProblemError, type Call, type CallError, type Principal, type SubmitCallBody } from '#contracts';
import { BlobStore, CallStore, EventLog, isApplied, type CallSnapshot } from '#event-log';
import { BullCallQueue } from '#queue';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { agentRejection } from '../auth/agent-of.js';
import { userRejection } from '../auth/user-of.js';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { ApprovalEvaluator } from '../approvals/approval-evaluator.service.js';
import { CallReader } from '../calls/read/call-reader.service.js';
import { dispatchCall } from '../calls/admission/dispatch-call.js';
import { eventOrigin } from '../platform/event-origin.js';
import { gatewayKey } from '../calls/admission/idempotency.js';
import type { EvaluatedCall } from '../calls/admission/evaluated-call.js';
import { endBeforeStart } from '../calls/admission/new-call.js';
import { UnrunCalls } from '../calls/admission/unrun-calls.service.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { BeforeHooks, StoppedByPerson } from '../calls/admission/before-hooks.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { NotificationChannel } from '../platform/notification-channel.service.js';
import type { DeferredApproval } from '../approvals/approval-deferrals.service.js';
import type { BatchDefinition, BatchRecord } from './batch-record.js';
import { BatchStore } from './batch-store.service.js';

export interface SubmittedByBatch {
  readonly callId: string;
  /** Set for a call of this submission; the state of any other has to be read. */
  readonly status?: Call['status'];
}

/**
 * Operations of a batch on its calls. Any gateway may repeat them: the same call of the same batch is one submission, whether
 * it runs or is only recorded.
 */
@Injectable()
export class BatchCalls {
  constructor(
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly hooks: BeforeHooks,
    private readonly unrun: UnrunCalls,
    private readonly log: EventLog,
    private readonly store: CallStore,
    private readonly queue: BullCallQueue,
    private readonly blobs: BlobStore,
    private readonly apiKeys: ApiKeyStore,
    private readonly reader: CallReader,
    private readonly evaluator: ApprovalEvaluator,
    private readonly batches: BatchStore,
    private readonly notifications: NotificationChannel,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  head(callId: string): Promise<CallSnapshot | undefined> {
    return this.store.snapshot(callId);
  }

  /** Reason why the batch may submit nothing more: its key was revoked, or lost the scope, the agent or the user. Undefined if it may. */
  rejection({ doc }: BatchRecord): ProblemError | undefined {
    const now = this.principalOf(doc);
    return this.apiKeys.rejection(doc.principal, 'submit') ?? agentRejection(now, doc.agentId) ?? userRejection(now, doc.userId);
  }

  /**
   * Submitted call, also if it was rejected. `newId` is called with the id of a new call before the call can end. Rejects if
   * the submission must be retried later.
   */
  async submit(batch: BatchRecord, index: number, newId: (callId: string) => void): Promise<SubmittedByBatch> {
    const { id, traceparent } = batch.doc;
    const stopped = new BatchCancelSignal(id, this.batches, this.notifications);
    const options = {
      idempotencyKey: idempotencyKeyOf(batch, index),
      batchId: id,
      traceparent,
      newId,
      clientDisconnectSignal: () => stopped.signal(),
    };
    try {
      const { call, created } = await this.submitCall.submit(this.principalOf(batch.doc), bodyOf(batch, index), options);
      return { callId: call.id, ...(created ? { status: call.status } : {}) };
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (error.facts.callId !== undefined) return { callId: error.facts.callId };
      if (errorEntry(error.code).retryable) throw error;
      return { callId: await this.record(batch, index, KEY_LOST.has(error.code) ? denied(error.detail) : failure(error.detail)) };
    } finally {
      stopped.close();
    }
  }

  /** Records a call that cannot be submitted because of an internal error, which is logged. */
  recordInternalError(batch: BatchRecord, index: number): Promise<string> {
    return this.record(batch, index, failure('The call could not be submitted: something went wrong inside'));
  }

  /** Records a call that its batch did not run, without its arguments, since they were not validated. */
  recordSkipped(batch: BatchRecord, index: number, text: string): Promise<string> {
    return this.record(batch, index, { outcome: 'cancelled', error: cancelled(text) });
  }

  /** Records a call with its current rejection, or with `text`, and never runs it. */
  async recordRejected(batch: BatchRecord, index: number, text: string): Promise<string> {
    const { rejection } = await this.hooks.dryRun(batch.doc.principal, bodyOf(batch, index), batch.doc.id);
    return this.record(batch, index, rejection ?? { outcome: 'cancelled', error: cancelled(text) });
  }

  /** Ends a call that waits for a person or for the others of its batch. Does nothing if the call no longer waits. */
  async cancelPending(batch: BatchRecord, callId: string, text: string): Promise<void> {
    const head = await this.store.snapshot(callId);
    if (head?.status !== 'waiting_approval') return;
    const guard = { by: 'command', version: head.version, commandId: `skip:${batch.doc.id}` } as const;
    const data = { ...endBeforeStart('cancelled', cancelled(text)), stopped: { how: 'not_started', tookMs: 0 } } as const;
    await this.log.end({ callId, guard, data, author: eventOrigin(this.config.name, batch.doc.principal) });
    await this.blobs.delete(callId, 'secret-arguments').catch(() => {}); // Also expires.
  }

  /**
   * Releases an approved call in the name of the approver, or ends it as denied if the active policy denies it. Does nothing if
   * it has ended; rejects if the log refuses, until the approval expires.
   */
  async releaseApproved(batch: BatchRecord, callId: string, { actor, actorname, ...approval }: DeferredApproval): Promise<void> {
    const { id, principal } = batch.doc;
    const head = await this.store.snapshot(callId);
    if (head?.status !== 'waiting_approval') return;
    const author = { ...eventOrigin(this.config.name, principal), actor, actorname };
    const call = await this.reader.read(principal, callId);
    const denial = await this.evaluator.denialNow(call, await this.reader.submissionInfo(principal, callId), approval.edited);
    if (denial !== undefined) {
      const guard = { by: 'command', version: head.version, commandId: `deny:${id}` } as const;
      const data = { ...endBeforeStart('denied', denial.error, denial.text), stopped: { how: 'not_started', tookMs: 0 } } as const;
      const ended = await this.log.end({ callId, guard, data, author });
      if (!isApplied(ended)) throw new Error(`The log refused the denial of ${callId}: ${ended.code}`);
      await this.blobs.delete(callId, 'secret-arguments').catch(() => {}); // Also expires.
      return;
    }
    const answer = await this.log.decideApproval({
      callId,
      guard: { by: 'command', version: head.version, commandId: `release:${id}` },
      data: { decision: 'allow', ...approval },
      author,
    });
    if (!isApplied(answer)) throw new Error(`The log refused the approval of ${callId}: ${answer.code}`);
    // Deletes the submitted arguments, which no attempt of an edited call reads.
    if (approval.edited !== undefined) await this.blobs.delete(callId, 'secret-arguments').catch(() => {});
    dispatchCall(this.queue, { callId, attempt: head.attempt + 1 }, head, head.meta.tenantId);
  }

  async cancel(batch: BatchRecord, callId: string, reason: string): Promise<void> {
    await this.cancelCall.cancel(batch.doc.principal, callId, CancelBody.parse({ reason }));
  }

  /** Current state of the key. After a revocation, the key at submission, for records only. */
  private principalOf({ principal }: BatchDefinition): Principal {
    return this.apiKeys.current(principal) ?? principal;
  }

  private record(batch: BatchRecord, index: number, rejection: NonNullable<EvaluatedCall['rejection']>): Promise<string> {
    const { principal, id, traceparent } = batch.doc;
    const options = { idempotencyKey: idempotencyKeyOf(batch, index), traceparent, batchId: id };
    return this.unrun.record(principal, bodyOf(batch, index), rejection, options);
  }
}

/** Aborts running hooks of a call when its batch is cancelled. Free until `signal` is read. */
class BatchCancelSignal {
  private readonly cancelled = new AbortController();
  private unsubscribe = () => {};

  constructor(
    private readonly id: string,
    private readonly batches: BatchStore,
    private readonly notifications: NotificationChannel,
  ) {}

  signal(): AbortSignal {
    this.unsubscribe = this.notifications.subscribe(this.id, () => void this.check());
    void this.check();
    return this.cancelled.signal;
  }

  close(): void {
    this.unsubscribe();
  }

  /** Never rejects: without an answer hooks run until their timeouts. */
  private async check(): Promise<void> {
    const { stop } = await this.batches.progress(this.id, []).catch(() => ({ stop: undefined }));
    if (stop?.reason === 'cancelled') this.cancelled.abort(new StoppedByPerson('the batch was cancelled'));
  }
}

/** Errors of a key that was revoked, or lost the agent or the tool, while hooks ran. */
const KEY_LOST: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden']);

function denied(message: string): NonNullable<EvaluatedCall['rejection']> {
  return { outcome: 'denied', error: { code: 'policy_denied', message: `Denied by policy: ${message}`, retryable: false } };
}

function failure(message: string): NonNullable<EvaluatedCall['rejection']> {
  return { outcome: 'failed', error: { code: 'internal', message, retryable: false } };
}

function cancelled(message: string): CallError {
  return { code: 'cancelled', message, retryable: false };
}

function idempotencyKeyOf({ doc }: BatchRecord, index: number): string {
  return gatewayKey('batch', doc.id, index);
}

function bodyOf({ doc, calls }: BatchRecord, index: number): SubmitCallBody {
  const call = calls[index];
  if (call === undefined) throw new RangeError(`The batch ${doc.id} has no call ${index}`);
  const { sessionId, agentId, userId } = doc;
  return {
    ...call,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(userId === undefined ? {} : { userId }),
  };
}
