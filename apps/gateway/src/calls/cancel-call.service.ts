import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type Call, type CancelBody, type Principal, type Stopped } from '#contracts';
import {
  argumentRefs,
  BlobStore,
  CallStore,
  EventLog,
  isApplied,
  upcastEvent,
  type Applied,
  type CallSnapshot,
  type CommandGuard,
  type Rejection,
} from '#event-log';
import { BullCallQueue } from '#queue';
import { keys } from '#redis';
import { telemetry } from '#observability';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { CallReader } from './read/call-reader.service.js';
import { eventOrigin } from '../platform/event-origin.js';
import { endBeforeStart } from './admission/new-call.js';
import { CallTracer } from './call-tracer.service.js';
import { ChildCallService } from './admission/child-call.service.js';

/** Most tries: updates change a call's version all the time, and each try reads it again. */
const TRIES = 20;

/**
 * Cancels a call in any state. Steps: read the snapshot → decide by its status → write on the version that was read → cancel
 * its child calls → read the call. Safe to repeat: an ended or ending call is returned as it is.
 * - waiting or queued: ends at once, and its job leaves the queue;
 * - running: the worker gets the request, stops the tool within the grace period, and writes the End.
 */
@Injectable()
export class CancelCallService {
  constructor(
    private readonly reader: CallReader,
    private readonly log: EventLog,
    private readonly store: CallStore,
    private readonly parents: ChildCallService,
    private readonly blobs: BlobStore,
    private readonly redaction: RedactionConfigService,
    private readonly queue: BullCallQueue,
    private readonly tracer: CallTracer,
    private readonly durable: DurableWrites,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  async cancel(principal: Principal, callId: string, request: CancelBody): Promise<Call> {
    if (!this.tracer.isEnabled) return this.cancelUntraced(principal, callId, request);
    const before = await this.reader.head(principal, callId);
    return this.tracer.cancel(before, () => this.cancelUntraced(principal, callId, request));
  }

  private async cancelUntraced(principal: Principal, callId: string, request: CancelBody): Promise<Call> {
    for (let tries = 0; tries < TRIES; tries++) {
      const head = await this.reader.head(principal, callId);
      const answer = isStopped(head) ? await this.confirm(head) : await this.write(principal, head, request);
      if (answer.code !== 'OK' && answer.code !== 'REPLAY' && answer.code !== 'ENDED') continue;
      await this.cancelChildren(principal, callId, request);
      return this.cancelled(principal, callId);
    }
    throw new ProblemError('conflict', 'The call changed faster than it could be cancelled; the same request may be repeated', { callId });
  }

  /** Confirms an earlier request that too few replicas had: the repetition is answered once they have it. */
  private async confirm({ callId }: CallSnapshot): Promise<{ code: 'ENDED' | 'LOST' }> {
    await this.durable.confirm(keys.call(callId));
    const head = await this.store.snapshot(callId);
    return { code: head !== undefined && isStopped(head) ? 'ENDED' : 'LOST' };
  }

  /** Cancels child calls, also of an ended call. Admission bounds the depth. */
  private async cancelChildren(principal: Principal, callId: string, request: CancelBody): Promise<void> {
    const children = await this.parents.childrenOf(callId);
    await Promise.all(children.map((child) => this.cancel(principal, child, request).catch(unlessNotThere)));
  }

  private async cancelled(principal: Principal, callId: string): Promise<Call> {
    const call = await this.reader.read(principal, callId);
    // Deletes secret arguments at once; otherwise they expire.
    const { argumentsDigest = '' } = call.approval?.decided?.edited ?? {};
    const { secret } = argumentRefs({ argumentsEdited: argumentsDigest !== '', argumentsDigest });
    if (call.argumentsRedacted && call.status === 'ended') await this.blobs.delete(callId, secret).catch(() => {});
    return call;
  }

  private async write(principal: Principal, head: CallSnapshot, body: CancelBody): Promise<Applied | Rejection> {
    const { graceMs } = body;
    const reason = body.reason === undefined ? undefined : this.redaction.of(principal.tenantId).text(body.reason);
    const guard: CommandGuard = { by: 'command', version: head.version, commandId: randomUUID() };
    const common = { callId: head.callId, guard, author: eventOrigin(this.config.name, principal) };
    if (head.status === 'running')
      return this.log.requestCancel({ ...common, data: { graceMs, ...(reason === undefined ? {} : { reason }) } });

    const end = endBeforeStart(
      'cancelled',
      { code: 'cancelled', message: reason === undefined ? 'Cancelled' : `Cancelled: ${reason}`, retryable: false },
      head.status === 'waiting_approval' ? 'Tool use was cancelled by the user' : 'Cancelled',
    );
    const stopped = { how: await this.howEnded(head), tookMs: 0 };
    const answer = await this.log.end({ ...common, data: { ...end, attempts: head.attempt, stopped } });
    if (isApplied(answer)) telemetry.cancelled.emit({ tool: head.meta.tool, ...stopped });
    // Not awaited: a worker that dequeues the job finds the call ended.
    if (isApplied(answer) && head.status === 'queued')
      void this.queue.removeJob(head.queue, { callId: head.callId, attempt: head.attempt + 1 }).catch(() => {});
    return answer;
  }

  /** State of the tool of a call that does not run. Between attempts, the worker of the last one may have been lost. */
  private async howEnded(head: CallSnapshot): Promise<Stopped['how']> {
    if (head.attempt === 0) return 'not_started';
    const [last] = await this.store.events(head.callId, { afterSeq: (head.lifecycleSeqs.at(-1) ?? 0) - 1, limit: 1 });
    // A tool ends its attempt before its request for input.
    if (last?.type === 'call.input_requested' || last?.type === 'call.input_given') return 'stopped';
    if (last?.type !== 'call.retry') return 'unknown';
    const event = upcastEvent(last.json);
    return event.type === 'call.retry' && event.data.reason !== 'worker_lost' ? 'stopped' : 'unknown';
  }
}

function isStopped({ status, cancelRequested }: CallSnapshot): boolean {
  return status === 'ended' || cancelRequested;
}

/** Ignores a child that was registered and never accepted. */
function unlessNotThere(error: unknown): void {
  if (!(error instanceof ProblemError) || error.code !== 'resource_not_found') throw error;
}
