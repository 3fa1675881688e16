import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  ProblemError,
  type Call,
  type CallEventOf,
  type ListEventsQuery,
  type Principal,
  type FileAccess,
  type Scope,
  type SubmittedData,
  type TokenRights,
  type Waiting,
} from '#contracts';
import type { DialectForm } from '#dialects';
import { callLost, CallStore, EventHub, upcastEvent, type CallSnapshot, type EventPage } from '#event-log';
import { BullCallQueue, type QueuePosition } from '#queue';
import { backoffMs } from '#timing';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';

export interface SubmissionInfo {
  readonly requester: string;
  /** Rights of the requester's token; undefined for an API key. */
  readonly submitter?: TokenRights | undefined;
  /** Requesters of the call and of the calls that it replays. */
  readonly requesters: readonly string[];
  readonly hookSet: string | undefined;
  /** Dialect form of the call. */
  readonly dialectForm: DialectForm | undefined;
  /** File access by the decision at submission; empty for the workspace only. */
  readonly files: FileAccess;
  /** Number of times that the session was deleted. */
  readonly sessionEpoch: number;
}

/** Together some seconds. */
const READ_ATTEMPTS = 7;

/** Reads calls from the log. Ids of another tenant are answered like unknown ones. */
@Injectable()
export class CallReader {
  constructor(
    private readonly store: CallStore,
    private readonly hub: EventHub,
    private readonly shutdown: ShutdownState,
    private readonly queue: BullCallQueue,
    private readonly apiKeys: ApiKeyStore,
  ) {}

  async head(principal: Principal, callId: string): Promise<CallSnapshot> {
    const head = await this.store.snapshot(callId);
    if (head?.meta.tenantId !== principal.tenantId) throw callNotFound();
    return head;
  }

  async read(principal: Principal, callId: string): Promise<Call> {
    const call = await this.store.read(callId);
    if (call?.tenantId !== principal.tenantId) throw callNotFound();
    return call.waiting?.reason === 'queued' ? this.withQueuePosition(call) : call;
  }

  /** Adds the numbers that explain the wait, unless the queue is unreachable or the call has just been dequeued. */
  private async withQueuePosition(call: Call): Promise<Call> {
    try {
      const head = await this.store.snapshot(call.id);
      if (head?.status !== 'queued' || call.waiting === undefined) return call;
      const place = await this.queue.position(head.queue, { callId: call.id, attempt: head.attempt + 1 });
      return place === undefined ? call : { ...call, waiting: explainWait(call.waiting, head.pool, place) };
    } catch {
      return call;
    }
  }

  /**
   * Resolves with the call when it has ended, when the time is over, or when this process drains. Rejects with
   * `unauthenticated` or `forbidden` if the key or its `scope` is revoked meanwhile.
   */
  async readEnded(principal: Principal, callId: string, waitMs: number, scope: Scope = 'read'): Promise<Call> {
    return this.waited(principal, callId, waitMs, { scope, isDone: ({ status }) => status === 'ended' });
  }

  /** Like `readEnded`, but also resolves when the tool requests input in an attempt after `asksAfter`. */
  async readEndedOrAsking(principal: Principal, callId: string, waitMs: number, asksAfter: number): Promise<Call> {
    const isDone = ({ status, waiting }: Call) => status === 'ended' || (waiting?.input?.attempt ?? 0) > asksAfter;
    return this.waited(principal, callId, waitMs, { scope: 'submit', isDone, orInput: true });
  }

  private async waited(
    principal: Principal,
    callId: string,
    timeoutMs: number,
    { scope, isDone, orInput }: { readonly scope: Scope; readonly isDone: (call: Call) => boolean; readonly orInput?: boolean },
  ): Promise<Call> {
    const watch = this.hub.watch(callId, { timeoutMs, orInput, signal: this.shutdown.signal });
    const unwatchKey = this.apiKeys.watch(principal, scope, () => watch.cancel());
    try {
      const now = await this.read(principal, callId);
      if (isDone(now)) return now;
      await watch.ended;
      const refusal = this.apiKeys.rejection(principal, scope);
      if (refusal !== undefined) throw refusal;
      return await this.readAgain(principal, callId);
    } finally {
      unwatchKey();
      watch.cancel();
    }
  }

  /**
   * Reads a call that was in the log before. Rejects with `call_lost` if it is no longer there. Tries some times while Redis is
   * unreachable: the wait for an event may be over before each connection has found the next master.
   */
  async readAgain(principal: Principal, callId: string): Promise<Call> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.read(principal, callId);
      } catch (error) {
        if (isNotFound(error)) throw callLost(callId);
        if (error instanceof ProblemError || failures === READ_ATTEMPTS) throw error;
        await delay(backoffMs(failures, { firstMs: 50, maxMs: 1_000 }));
      }
    }
  }

  async events(principal: Principal, callId: string, query: ListEventsQuery): Promise<EventPage> {
    await this.head(principal, callId);
    return this.store.eventPage(callId, query);
  }

  /** Submission: the first event of the call. The caller has checked that the principal may read the call. */
  async submission(callId: string): Promise<CallEventOf<'call.submitted'>> {
    const [first] = await this.store.events(callId, { limit: 1 });
    const event = first === undefined ? undefined : upcastEvent(first.json);
    if (event?.type === 'call.submitted') return event;
    throw new Error(`The events of ${callId} do not begin with its submission`);
  }

  /** Facts of the submission in the first event. Rejects with `not_found` for a call of another tenant. */
  async submissionInfo(principal: Principal, callId: string): Promise<SubmissionInfo> {
    await this.head(principal, callId);
    const [first] = await this.store.events(callId, { limit: 1 });
    if (first === undefined) throw callNotFound();
    const event = upcastEvent(first.json);
    const data: Partial<SubmittedData> = event.type === 'call.submitted' ? event.data : {};
    const { hooks: hookSet, files = {}, sessionEpoch = 0, requesters = [], submitter } = data;
    const all = [...new Set([event.actor, ...requesters])];
    return { requester: event.actor, submitter, requesters: all, hookSet, files, sessionEpoch, dialectForm: dialectFormOf(data) };
  }

  /** Whole output of an ended call: the stored output if the result was cut, else the result's content, one item per line. */
  async output(principal: Principal, callId: string): Promise<Buffer> {
    const call = await this.read(principal, callId);
    if (call.status !== 'ended')
      throw new ProblemError('conflict', `The call is ${call.status}: its output is there when it has ended`, { callId });
    const whole = await this.store.blob(callId, 'output');
    const shown = () => (call.result?.content ?? []).map((item) => (item.type === 'text' ? item.text : JSON.stringify(item))).join('\n');
    return whole ?? Buffer.from(shown());
  }
}

function dialectFormOf({ dialect, dialectHints: hints = {}, requestedTool, tool = '' }: Partial<SubmittedData>): DialectForm | undefined {
  return dialect === undefined ? undefined : { dialect, name: requestedTool ?? tool, hints };
}

function explainWait(waiting: Waiting, pool: string, { ahead, waiting: queueDepth, active }: QueuePosition): Waiting {
  const detail = `Waits for a free worker of pool ${pool}: ${ahead} of ${queueDepth} waiting calls are before it, ${active} run.`;
  return { ...waiting, detail, queueDepth, position: ahead + 1, running: active };
}

function isNotFound(error: unknown): boolean {
  return error instanceof ProblemError && error.code === 'resource_not_found';
}

function callNotFound(): ProblemError {
  return new ProblemError('resource_not_found', 'No call with this id');
}
