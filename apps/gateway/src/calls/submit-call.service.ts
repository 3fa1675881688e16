import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { CancelBody, ProblemError, type Call, type Principal, type Quote, type SubmitCallBody } from '#contracts';
import type { StoredEvent } from '#event-log';
import { BullCallQueue } from '#queue';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { idempotencyKeyReused, rejectionProblem, wasRejected } from '../platform/http/rejection.js';
import { LOGGER } from '../platform/tokens.js';
import { ToolAvailabilityService } from '../workers/tool-availability.service.js';
import { AdmissionTracer } from './admission/admission-tracer.service.js';
import { ChildCallService, type CallLineage } from './admission/child-call.service.js';
import { AdmissionPipeline } from './admission/pipeline.js';
import { quoteOf } from './admission/quote.js';
import { Submission, type SubmitOptions } from './admission/submission.js';
import { CancelCallService } from './cancel-call.service.js';
import { CallReader } from './read/call-reader.service.js';
import { watchedCall } from './read/watched-call.js';

export interface SubmittedCall {
  readonly call: Call;
  /** False if the same submission was accepted before. */
  readonly created: boolean;
}

/** Longest age of the queue's state in a quote, which changes before it is read anyway. */
const QUOTED_MS = 20;

const PARENT_ENDED = CancelBody.parse({ reason: 'The call that made it does not run any more' });
const CLIENT_DISCONNECTED = CancelBody.parse({ reason: 'The client that waited for it went away' });

/**
 * Submits a call, for every transport. `admission/pipeline.ts` lists the steps until the call is in the log; then follows the
 * problem of a rejected call, the accepted call, or its result if the caller waits.
 *
 * A rejected call is recorded too: its ProblemError has the call's id and a result for the model.
 */
@Injectable()
export class SubmitCallService {
  constructor(
    private readonly pipeline: AdmissionPipeline,
    private readonly tracer: AdmissionTracer,
    private readonly reader: CallReader,
    private readonly queue: BullCallQueue,
    private readonly children: ChildCallService,
    private readonly cancelCall: CancelCallService,
    private readonly availability: ToolAvailabilityService,
    private readonly apiKeys: ApiKeyStore,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws ProblemError with the call's id if it was rejected; `idempotency_key_reused` for the same key with another body */
  submit(principal: Principal, body: SubmitCallBody, options: SubmitOptions = {}): Promise<SubmittedCall> {
    const submission = new Submission(principal, body, options);
    if (!this.tracer.isEnabled) return this.admitAndAnswer(submission);
    return this.tracer.trace(submission, () => this.admitAndAnswer(submission));
  }

  /** Outcome of a submission at this moment. Counts, stores and traces nothing. */
  async quote(principal: Principal, body: SubmitCallBody): Promise<Quote> {
    const submission = new Submission(principal, body, {}, true);
    await this.pipeline.run(submission);
    const { evaluated } = submission;
    if (evaluated.tool === undefined) return quoteOf(evaluated, undefined, undefined);
    const { pool } = evaluated.tool;
    return quoteOf(evaluated, await this.queue.stats(pool, QUOTED_MS), this.availability.slotsOf(pool));
  }

  private async admitAndAnswer(submission: Submission): Promise<SubmittedCall> {
    try {
      await this.pipeline.run(submission);
      const { principal, options, accepted, lineage, ended } = submission;
      if ('repeatedCallId' in accepted) {
        if (accepted.logCode === 'IDEM_MISMATCH') throw idempotencyKeyReused(options.idempotencyKey);
        return { call: await this.replayedSubmission(principal, accepted.repeatedCallId, options), created: false };
      }
      const { call } = accepted;
      if (call.status === 'ended') throw rejectionProblem(call, submission.retryAfterMs);
      if (lineage !== undefined) await this.cancelOrphan(principal, call.id, lineage, options.byAgent !== undefined);
      return { call: ended === undefined ? call : await this.result(submission, call, ended), created: true };
    } finally {
      submission.unwatch?.();
    }
  }

  private async result({ principal, options }: Submission, call: Call, ended: NonNullable<Submission['ended']>): Promise<Call> {
    const seen: readonly StoredEvent[] | undefined = await this.cancelOnDisconnect(principal, call.id, ended, options);
    const lost = this.apiKeys.rejection(principal, 'submit');
    if (lost !== undefined) throw new ProblemError(lost.code, lost.detail, { callId: call.id });
    // The call is accepted, so an unreachable Redis must not turn the answer into an error.
    const ofUnreachable = (error: unknown) => {
      if (error instanceof ProblemError && error.code === 'call_lost') throw error;
      return call;
    };
    return watchedCall(seen) ?? (await this.reader.readAgain(principal, call.id).catch(ofUnreachable));
  }

  /** Cancels a child that was accepted after its parent ended. Never rejects: the child is accepted, and its deadlines hold. */
  private async cancelOrphan(principal: Principal, callId: string, lineage: CallLineage, byAgent: boolean): Promise<void> {
    try {
      if (await this.children.isParentTerminal(principal, lineage, byAgent)) await this.cancelCall.cancel(principal, callId, PARENT_ENDED);
    } catch (error) {
      this.logger.warn({ callId, err: error }, 'could not check whether the parent call still runs');
    }
  }

  /** Waits, and cancels the call if the client disconnects and requested that. */
  private async cancelOnDisconnect<T>(principal: Principal, callId: string, waiting: Promise<T>, options: SubmitOptions): Promise<T> {
    const { cancelOnDisconnect = false, clientDisconnectSignal } = options;
    if (!cancelOnDisconnect || clientDisconnectSignal === undefined) return waiting;
    const signal = clientDisconnectSignal();
    // Ignores failures: no client is left to report them to, and the call's deadlines hold.
    const cancel = () => void this.cancelCall.cancel(principal, callId, CLIENT_DISCONNECTED).catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    return waiting.finally(() => signal.removeEventListener('abort', cancel));
  }

  /** Answer to a repeated submission: the current state of the call. */
  private async replayedSubmission(principal: Principal, callId: string, options: SubmitOptions): Promise<Call> {
    const { waitMs } = options;
    const call =
      waitMs === undefined
        ? await this.reader.read(principal, callId)
        : await this.cancelOnDisconnect(principal, callId, this.reader.readEnded(principal, callId, waitMs, 'submit'), options);
    if (wasRejected(call)) throw rejectionProblem(call);
    return call;
  }
}
