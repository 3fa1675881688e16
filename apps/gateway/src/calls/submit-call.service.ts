import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { CancelBody, ProblemError, type Call, type Principal, type Quote, type SubmitCallBody } from '#contracts';
import { EventHub, EventLog, EventLogFull } from '#event-log';
import { BullCallQueue } from '#queue';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { BeforeHooks, hooksApply, type BeforeHookResult } from './admission/before-hooks.service.js';
import { CallLimiter } from './admission/call-limiter.service.js';
import { FileDenials } from '../governance/file-denials.service.js';
import { ShutdownState } from '../platform/shutdown-state.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { LOGGER } from '../platform/tokens.js';
import { ToolAvailabilityService } from '../workers/tool-availability.service.js';
import { acceptedCall } from './admission/accepted-call.js';
import { CallReader } from './read/call-reader.service.js';
import { CallEvaluator } from './admission/call-evaluator.service.js';
import { CancelCallService } from './cancel-call.service.js';
import { dispatchCall } from './admission/dispatch-call.js';
import { eventOrigin } from '../platform/event-origin.js';
import { idempotencyScope } from './admission/idempotency.js';
import { newCall, type EvaluatedCall } from './admission/new-call.js';
import { ChildCallService, type CallLineage } from './admission/child-call.service.js';
import { quoteOf } from './admission/quote.js';
import { redactSubmission } from './admission/redact-call.js';
import { idempotencyKeyReused, rejectionProblem, wasRejected } from '../platform/http/rejection.js';
import { watchedCall } from './read/watched-call.js';

export interface SubmitOptions {
  readonly idempotencyKey?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Answer when the call has ended, at most that long. */
  readonly waitMs?: number | undefined;
  readonly replayOf?: string | undefined;
  /** Of a replay: who submitted the calls before it. */
  readonly requesters?: readonly string[] | undefined;
  /** The batch that the call belongs to. */
  readonly batchId?: string | undefined;
  /** Cancel the call when the caller goes away during the wait. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** Asked for only when something would otherwise go on for nobody: aborted when the caller has gone away. */
  readonly clientDisconnectSignal?: (() => AbortSignal) | undefined;
}

export interface Submission {
  readonly call: Call;
  /** False when the same submission was accepted before. */
  readonly created: boolean;
}

/** How old the state of the queue in a quote may be: by the time it is read it has changed anyway. */
const QUOTED_MS = 20;

const ORPHANED = CancelBody.parse({ reason: 'The call that made it does not run any more' });

const ABANDONED = CancelBody.parse({ reason: 'The client that waited for it went away' });

/** THE use case: every door submits here, and here is the order of steps for one call. */
@Injectable()
export class SubmitCallService {
  constructor(
    private readonly judge: CallEvaluator,
    private readonly log: EventLog,
    private readonly reader: CallReader,
    private readonly hub: EventHub,
    private readonly queue: BullCallQueue,
    private readonly drain: ShutdownState,
    private readonly limiter: CallLimiter,
    private readonly hooks: BeforeHooks,
    private readonly parents: ChildCallService,
    private readonly cancelCall: CancelCallService,
    private readonly safety: RedactionConfigService,
    private readonly readiness: ToolAvailabilityService,
    private readonly apiKeys: ApiKeyStore,
    private readonly denials: FileDenials,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * 0. of a call that another call makes: that one runs, and gives it session, agent and what is left of its time
   * 1. judge: resolve the tool, may the key use it, validate the arguments, posture, policy
   * 2. id, and what makes a repetition recognisable
   * 3. hooks before the call, when there are any: they may refuse it, or rewrite the arguments, which are judged again.
   *    They may take long: the key must still be good after them
   * 4. limits: budgets, rates, concurrency, sizes; counted here, given back when the call is not accepted
   *    and secrets taken out of what is stored and shown: the worker gets them beside the log
   * 5. watch for the End, when the caller waits: before anything can end
   * 6. accept in the log: durable from here on, queued, waiting for a person, or refused
   * 7. dispatch, written right behind the accept unless only its answer tells whether there is a new call; not awaited,
   *    since the log's timers dispatch again what got lost
   * 8. answer
   *
   * A refused call is a call too: the ProblemError carries its id and a result for the model. Rejects with
   * `idempotency_key_reused` for the same key with another body.
   */
  async submit(principal: Principal, asked: SubmitCallBody, options: SubmitOptions = {}): Promise<Submission> {
    const { idempotencyKey, traceparent, waitMs, replayOf, requesters, batchId } = options;
    const { body, family } = await this.withFamily(principal, asked);
    const admissible = await this.judge.evaluate(principal, body);

    const { rootId, idempotency: identity } = idempotencyScope(body, idempotencyKey, replayOf);
    const callId = family === undefined ? this.log.newCallId(principal.tenantId, rootId) : this.log.newCallIdBeside(family.parentCallId);
    const hooked = await this.hooked(principal, body, callId, admissible, options.clientDisconnectSignal);
    if (hooked.judged.hooks !== undefined && batchId === undefined) this.requireKey(principal, undefined);
    const admission = await this.limiter.acquire({ principal, body, callId, lineage: family, idempotency: identity, ...hooked });
    let mayBeWritten = false;
    let unwatch = () => {};
    try {
      const { idempotency, retryAfterMs, resultBytes } = admission;
      const shown = redactSubmission(this.safety, body, admission.judged);
      const { files } = shown.evaluated;
      const author = eventOrigin(this.config.name, principal);
      const call = newCall({
        callId,
        principal,
        body: shown.body,
        evaluated: shown.evaluated,
        secret: shown.secret,
        safety: shown.safety,
        origin: author,
        traceparent,
        idempotencyKey: idempotencyKey === undefined ? undefined : this.safety.identifier(idempotencyKey),
        idempotency,
        replayOf,
        requesters,
        resultBytes,
        batchId,
        lineage: family,
        files: files && (await this.denials.keep(files)),
        config: this.config,
      });

      const watch = waitMs === undefined ? undefined : this.hub.watch(callId, { timeoutMs: waitMs, signal: this.drain.signal });
      if (watch !== undefined) unwatch = this.watched(watch, principal);
      const dispatch = () => dispatchCall(this.queue, { callId, attempt: 1 }, call.submitted, principal.tenantId);
      const surelyQueued = call.followUp === undefined && call.idempotency === undefined;
      if (family !== undefined) await this.parents.registerChild(family.parentCallId, callId);
      mayBeWritten = true;
      const answer = await this.log.accept(call, surelyQueued ? dispatch : undefined);
      if ('callId' in answer) await admission.release();
      if (answer.code === 'IDEM_MISMATCH') throw idempotencyKeyReused(idempotencyKey);
      if ('callId' in answer) return { call: await this.acceptedBefore(principal, answer.callId, options), created: false };

      const accepted = acceptedCall(call, shown.evaluated.args, answer.time);
      if (accepted.status === 'ended') throw rejectionProblem(accepted, retryAfterMs);
      if (accepted.status === 'queued' && !surelyQueued) dispatch();
      if (family !== undefined) await this.cancelOrphan(principal, callId, family);
      if (watch === undefined) return { call: accepted, created: true };
      const seen = await this.whileWanted(principal, callId, watch.ended, options);
      this.requireKey(principal, callId);
      return { call: watchedCall(seen) ?? (await this.readOr(accepted, principal)), created: true };
    } catch (error) {
      if (!mayBeWritten || wroteNothing(error)) await admission.release();
      throw error;
    } finally {
      unwatch();
    }
  }

  /** The answer is not waited for any longer when the key may not submit any more. Returns how to end the watch. */
  private watched(watch: ReturnType<EventHub['watch']>, principal: Principal): () => void {
    const unwatchKey = this.apiKeys.watch(principal, 'submit', () => watch.cancel());
    return () => {
      unwatchKey();
      watch.cancel();
    };
  }

  /** The call is accepted: a failure here must not turn that into an error. No child has more time than its parent had left. */
  private async cancelOrphan(principal: Principal, callId: string, family: CallLineage): Promise<void> {
    try {
      if (await this.parents.isOrphan(principal, family)) await this.cancelCall.cancel(principal, callId, ORPHANED);
    } catch (error) {
      this.logger.warn({ callId, err: error }, 'could not look whether the parent of a call still runs');
    }
  }

  /** The same steps up to the log, which is not touched: what a submission would meet now. */
  async quote(principal: Principal, asked: SubmitCallBody): Promise<Quote> {
    const { body, family } = await this.withFamily(principal, asked);
    const allowed = await this.judge.evaluate(principal, body);
    const judged = await this.limiter.peek({ principal, body, callId: 'quote', judged: allowed, lineage: family });
    const depth = judged.tool === undefined ? undefined : await this.queue.stats(judged.tool.pool, QUOTED_MS);
    return quoteOf(judged, depth, judged.tool === undefined ? undefined : this.readiness.slotsOf(judged.tool.pool));
  }

  /** Nothing at all when no hook concerns the call. Callers such as batches never go away. */
  private hooked(
    principal: Principal,
    body: SubmitCallBody,
    callId: string,
    judged: EvaluatedCall,
    gone: SubmitOptions['clientDisconnectSignal'] = () => new AbortController().signal,
  ): Promise<BeforeHookResult> | BeforeHookResult {
    const { hooks } = judged;
    return hooks === undefined || !hooksApply(judged, hooks)
      ? { judged }
      : this.hooks.run({ principal, body, callId, judged, signal: gone() }, hooks);
  }

  private withFamily(
    principal: Principal,
    body: SubmitCallBody,
  ): Promise<{ body: SubmitCallBody; family?: CallLineage }> | { body: SubmitCallBody; family?: CallLineage } {
    return body.parentCallId === undefined ? { body } : this.parents.resolveLineage(principal, body, body.parentCallId);
  }

  /** Throws when the key was lost meanwhile: while hooks were asked, or, with `callId`, while its caller waited for a call that goes on. */
  private requireKey(principal: Principal, callId: string | undefined): void {
    const refusal = this.apiKeys.rejection(principal, 'submit');
    if (refusal === undefined) return;
    throw new ProblemError(refusal.code, refusal.detail, callId === undefined ? {} : { callId });
  }

  /** Waits, and cancels the call when the caller goes away meanwhile and wished that. */
  private async whileWanted<T>(principal: Principal, callId: string, waiting: Promise<T>, options: SubmitOptions): Promise<T> {
    const { cancelOnDisconnect = false, clientDisconnectSignal: gone } = options;
    if (!cancelOnDisconnect || gone === undefined) return waiting;
    const signal = gone();
    // Nobody is there to hear of a failure; the call has its deadlines.
    const abandon = () => void this.cancelCall.cancel(principal, callId, ABANDONED).catch(() => {});
    if (signal.aborted) abandon();
    signal.addEventListener('abort', abandon, { once: true });
    return waiting.finally(() => signal.removeEventListener('abort', abandon));
  }

  /** The call is accepted whatever happens now: a Redis that went away meanwhile must not turn the answer into an error. */
  private readOr(accepted: Call, principal: Principal): Promise<Call> {
    return this.reader.read(principal, accepted.id).catch(() => accepted);
  }

  /** The answer to a repetition is what the first submission would be answered now. */
  private async acceptedBefore(principal: Principal, callId: string, options: SubmitOptions): Promise<Call> {
    const { waitMs } = options;
    const call =
      waitMs === undefined
        ? await this.reader.read(principal, callId)
        : await this.whileWanted(principal, callId, this.reader.readEnded(principal, callId, waitMs, 'submit'), options);
    if (wasRejected(call)) throw rejectionProblem(call);
    return call;
  }
}

/** The log refused the call as it was: of this submission there is nothing. */
function wroteNothing(error: unknown): boolean {
  return error instanceof EventLogFull || error instanceof RangeError;
}
