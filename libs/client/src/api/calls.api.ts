import { z } from 'zod';
import {
  BulkResult,
  Call,
  CallCount,
  CallPage,
  LIMITS,
  Quote,
  type BulkCancelInput,
  type BulkReplayInput,
  type CallEvent,
  type CallFilterInput,
  type CallSummary,
  type CancelBody,
  type DecisionBody,
  type ListCallsInput,
  type ReplayBody,
  type SubmitCallBody,
} from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { newIdempotencyKey } from '../http/idempotency-key.js';
import { streamCall, type CallStreamSources } from '../stream/call-stream.js';
import { readEvents } from '../stream/server-frame.js';
import type { WatchOptions } from '../stream/watch.js';
import { pathOf } from './path.js';
import { waitUntil } from './wait-until.js';

/** A call to submit, as `POST /v1/calls` takes it. */
export type Submission = z.input<typeof SubmitCallBody>;

export interface SubmitOptions extends RequestOptions {
  /** Without one the client makes one, unless session and `toolCallId` make a repetition recognisable already. */
  readonly idempotencyKey?: string | undefined;
  /** Answer when the call has ended, at most that long; at most a minute. */
  readonly waitMs?: number | undefined;
  /** With `waitMs`: the gateway cancels the call when this program goes away or gives up during the wait. Needs the scope `cancel`. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** Which calls, as `GET /v1/calls` takes it; several values of a field mean any of them. */
export type ListCallsFilter = Omit<ListCallsInput, 'limit'> & { readonly limit?: number };

/** Calls: submit, look, wait, list, cancel, decide, replay. Every method rejects with a ToolyardError. */
export class CallsApi {
  constructor(
    private readonly http: HttpTransport,
    private readonly watch: CallStreamSources['watch'],
  ) {}

  /**
   * Submits one call, and again while no answer comes: the Idempotency-Key makes that safe. A refused call rejects with its
   * problem, which has `callId` and a `result` for the model.
   */
  submit(submission: Submission, options: SubmitOptions = {}): Promise<Call> {
    const recognisable = submission.sessionId !== undefined && submission.toolCallId !== undefined;
    return this.http.json({ method: 'POST', path: '/v1/calls', body: submission, repeatable: true, ...asked(options, recognisable) }, Call);
  }

  /** Submits and waits for the end, however long that takes; `timeoutMs` or `signal` end the waiting, not the call. */
  async run(submission: Submission, options: SubmitOptions = {}): Promise<Call> {
    return waitUntil(
      options,
      (more) => this.submit(submission, { ...options, ...more }),
      (call) => call.status === 'ended',
      ({ id }, more) => this.get(id, more),
    );
  }

  /** `waitMs`: answers when the call has ended, at most that long. */
  get(callId: string, { waitMs, ...options }: RequestOptions & { readonly waitMs?: number | undefined } = {}): Promise<Call> {
    const query = { wait: waitMs === undefined ? undefined : seconds(waitMs) };
    return this.http.json({ method: 'GET', path: pathOf`/v1/calls/${callId}`, query, waitMs, repeatable: true, ...options }, Call);
  }

  /** Resolves with the ended call. */
  wait(callId: string, options: RequestOptions = {}): Promise<Call> {
    return waitUntil(
      options,
      (more) => this.get(callId, { ...options, ...more }),
      (call) => call.status === 'ended',
      ({ id }, more) => this.get(id, more),
    );
  }

  /** One page, newest first. */
  list(query: ListCallsFilter = {}, options: RequestOptions = {}): Promise<CallPage> {
    return this.http.json({ method: 'GET', path: '/v1/calls', query, repeatable: true, ...options }, CallPage);
  }

  /** All that match, page by page, newest first. */
  async *all(query: Omit<ListCallsFilter, 'cursor'> = {}, options: RequestOptions = {}): AsyncGenerator<CallSummary, void, undefined> {
    for (let cursor: string | undefined; ;) {
      const page: CallPage = await this.list({ ...query, ...(cursor === undefined ? {} : { cursor }) }, options);
      yield* page.calls;
      cursor = page.nextCursor;
      if (cursor === undefined) return;
    }
  }

  count(filter: CallFilterInput = {}, options: RequestOptions = {}): Promise<CallCount> {
    return this.http.json({ method: 'GET', path: '/v1/calls:count', query: filter, repeatable: true, ...options }, CallCount);
  }

  /** Cancels what fits the filter and has not ended; go on with the `cursor` of the answer while it has one. */
  cancelMany(body: BulkCancelInput, options: RequestOptions = {}): Promise<BulkResult> {
    return this.http.json({ method: 'POST', path: '/v1/calls:cancel', body, repeatable: true, ...options }, BulkResult);
  }

  /** Runs what fits the filter and has ended again; go on with the `cursor` of the answer while it has one. */
  replayMany(body: BulkReplayInput, options: SubmitOptions = {}): Promise<BulkResult> {
    const request = { method: 'POST', path: '/v1/calls:replay', body, repeatable: true, ...asked(options, false) } as const;
    return this.http.json(request, BulkResult);
  }

  /** What a submission would meet now; changes nothing. */
  quote(submission: Submission, options: RequestOptions = {}): Promise<Quote> {
    return this.http.json({ method: 'POST', path: '/v1/calls:quote', body: submission, repeatable: true, ...options }, Quote);
  }

  /** Safe to repeat. Resolves with the call as it is then; wait for its end to know how it stopped. */
  cancel(callId: string, body: z.input<typeof CancelBody> = {}, options: RequestOptions = {}): Promise<Call> {
    return this.http.json({ method: 'POST', path: pathOf`/v1/calls/${callId}/cancel`, body, repeatable: true, ...options }, Call);
  }

  /** A person's answer. Not repeated by itself: the second would meet a decided call. */
  decide(callId: string, body: z.input<typeof DecisionBody>, options: RequestOptions = {}): Promise<Call> {
    return this.http.json({ method: 'POST', path: pathOf`/v1/calls/${callId}/decision`, body, repeatable: false, ...options }, Call);
  }

  /** Runs it again as a new call, with the same arguments unless new ones are given. */
  replay(callId: string, body: ReplayBody = {}, options: SubmitOptions = {}): Promise<Call> {
    return this.http.json(
      { method: 'POST', path: pathOf`/v1/calls/${callId}/replay`, body, repeatable: true, ...asked(options, false) },
      Call,
    );
  }

  /** All events so far, oldest first, page by page. */
  async events(callId: string, options: RequestOptions = {}): Promise<CallEvent[]> {
    const path = pathOf`/v1/calls/${callId}/events`;
    const all: CallEvent[] = [];
    for (let cursor: string | undefined; ;) {
      const request = { method: 'GET', path, query: { cursor }, repeatable: true, ...options } as const;
      const { events, nextCursor } = await this.http.json(request, EventList);
      all.push(...readEvents(events));
      if (nextCursor === undefined) return all;
      cursor = nextCursor;
    }
  }

  /**
   * Every event of a call in order, each once, until its End: of one that was submitted before, or of one that is submitted
   * here. Survives cuts; give the `id` of an event as `cursor` to go on after it. A call that is refused throws its problem.
   * When the events do not add up to what End says, `stream_incomplete` is thrown after the End.
   */
  async *stream(
    call: string | Submission,
    options: WatchOptions & Pick<SubmitOptions, 'idempotencyKey' | 'traceparent'> = {},
  ): AsyncGenerator<CallEvent, void, undefined> {
    const { idempotencyKey, traceparent, signal } = options;
    const callId = typeof call === 'string' ? call : (await this.submit(call, { idempotencyKey, traceparent, signal })).id;
    yield* streamCall(callId, { watch: this.watch, events: (id, more) => this.events(id, more) }, options);
  }

  /** The whole output of an ended call, where `result` was cut for the model. `from` and `to` are bytes, `to` included. */
  async output(callId: string, { from, to, ...options }: RequestOptions & { from?: number; to?: number } = {}): Promise<Uint8Array> {
    const headers: Record<string, string> = from === undefined && to === undefined ? {} : { range: `bytes=${from ?? 0}-${to ?? ''}` };
    const path = pathOf`/v1/calls/${callId}/output`;
    return this.http.bytes({ method: 'GET', path, headers, repeatable: true, ...options }, 'text/plain');
  }
}

const EventList = z.object({ events: z.array(z.unknown()), nextCursor: z.string().optional() });

function asked({ idempotencyKey, waitMs, cancelOnDisconnect = false, traceparent, ...options }: SubmitOptions, recognisable: boolean) {
  const key = idempotencyKey ?? (recognisable ? undefined : newIdempotencyKey());
  const headers = {
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(waitMs === undefined ? {} : { prefer: `wait=${seconds(waitMs)}${cancelOnDisconnect ? ', cancel-on-disconnect' : ''}` }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return { headers, waitMs, ...options };
}

function seconds(ms: number): number {
  return Math.min(LIMITS.waitSeconds, Math.ceil(ms / 1000));
}
