import { z } from 'zod';
import {
  EXPORT_TYPES,
  ROUTES,
  type BodyInputOf,
  type BulkResult,
  type Erasure,
  type Call,
  type CallCount,
  type CallDebugLog,
  type CallFacets,
  type CallEvent,
  type CallPage,
  type CallSummary,
  type QueryInputOf,
  type Quote,
} from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';
import { streamCall, type CallStreamSources } from '../stream/call-stream.js';
import { readEvents, type NumberedCallEvent } from '../stream/server-frame.js';
import type { WatchOptions } from '../stream/watch.js';
import { submitInput, waitSeconds, type SubmitOptions, type WaitOptions } from './submit-options.js';
import { waitUntil } from './wait-until.js';

/** Call to submit, in the form of `POST /v1/calls`. */
export type Submission = BodyInputOf<typeof ROUTES.submitCall>;

/** Filter of calls, in the form of `GET /v1/calls`; several values of a field match any of them. */
export type ListCallsFilter = QueryInputOf<typeof ROUTES.listCalls>;

/** Calls: submit, read, wait, list, cancel, decide, replay. Every method rejects with a ToolyardError. */
export class CallsApi {
  constructor(
    private readonly http: HttpTransport,
    private readonly watch: CallStreamSources['watch'],
  ) {}

  /**
   * Submits one call. Retries while no response comes: the Idempotency-Key makes that safe. A rejected call rejects with its
   * problem, which has `callId` and a `result` for the model.
   */
  submit(submission: Submission, options: SubmitOptions = {}): Promise<Call> {
    const makeKey = submission.sessionId === undefined || submission.toolCallId === undefined;
    return this.http.request(ROUTES.submitCall, { body: submission, ...submitInput(options, { makeKey }) });
  }

  /** Submits and waits for the end, without a time limit of its own. `timeoutMs` and `signal` end the wait, not the call. */
  async run(submission: Submission, options: SubmitOptions = {}): Promise<Call> {
    return waitUntil(
      options,
      (poll) => this.submit(submission, { ...options, ...poll }),
      (call) => call.status === 'ended',
      ({ id }, poll) => this.get(id, poll),
    );
  }

  get(callId: string, { waitMs, ...options }: WaitOptions = {}): Promise<Call> {
    const query = { wait: waitMs === undefined ? undefined : waitSeconds(waitMs) };
    return this.http.request(ROUTES.getCall, { params: { id: callId }, query, waitMs, ...options });
  }

  /** Resolves with the ended call. */
  wait(callId: string, options: RequestOptions = {}): Promise<Call> {
    return waitUntil(
      options,
      (poll) => this.get(callId, { ...options, ...poll }),
      (call) => call.status === 'ended',
      ({ id }, poll) => this.get(id, poll),
    );
  }

  /** Page of calls, newest first, or by risk with `sort`. */
  list(query: ListCallsFilter = {}, options: RequestOptions = {}): Promise<CallPage> {
    return this.http.request(ROUTES.listCalls, { query, ...options });
  }

  /** All matching calls, page by page, in the order of `sort`. */
  async *all(query: Omit<ListCallsFilter, 'cursor'> = {}, options: RequestOptions = {}): AsyncGenerator<CallSummary, void, undefined> {
    for (let cursor: string | undefined; ;) {
      const page: CallPage = await this.list({ ...query, cursor }, options);
      yield* page.calls;
      cursor = page.nextCursor;
      if (cursor === undefined) return;
    }
  }

  count(filter: QueryInputOf<typeof ROUTES.countCalls> = {}, options: RequestOptions = {}): Promise<CallCount> {
    return this.http.request(ROUTES.countCalls, { query: filter, ...options });
  }

  /** Values of the matching calls, with counts. */
  facets(filter: QueryInputOf<typeof ROUTES.facetCalls> = {}, options: RequestOptions = {}): Promise<CallFacets> {
    return this.http.request(ROUTES.facetCalls, { query: filter, ...options });
  }

  /**
   * All events of the matching calls, as JSON lines or Parquet. Reading the stream fails if the export is incomplete;
   * cancelling it, or aborting `signal`, stops the gateway's work.
   */
  async export(query: QueryInputOf<typeof ROUTES.exportCalls> = {}, options: RequestOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const body = await this.http.stream(ROUTES.exportCalls, { query, ...options }, EXPORT_TYPES[query.format ?? 'jsonl']);
    return body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  /** Cancels matching calls that have not ended. While the result has a `cursor`, the next request needs it. */
  cancelMany(body: BodyInputOf<typeof ROUTES.cancelCalls>, options: RequestOptions = {}): Promise<BulkResult> {
    return this.http.request(ROUTES.cancelCalls, { body, ...options });
  }

  /** Replays matching calls that have ended. While the result has a `cursor`, the next request needs it. */
  replayMany(body: BodyInputOf<typeof ROUTES.replayCalls>, options: SubmitOptions = {}): Promise<BulkResult> {
    return this.http.request(ROUTES.replayCalls, { body, ...submitInput(options) });
  }

  /** Erases matching calls that have ended. While the result has a `cursor`, the next request needs it. */
  eraseMany(body: BodyInputOf<typeof ROUTES.eraseCalls>, options: RequestOptions = {}): Promise<BulkResult> {
    return this.http.request(ROUTES.eraseCalls, { body, ...options });
  }

  /** Erases the content of an ended call. A repetition returns the progress. */
  erase(callId: string, body: BodyInputOf<typeof ROUTES.eraseCall> = {}, options: RequestOptions = {}): Promise<Erasure> {
    return this.http.request(ROUTES.eraseCall, { params: { id: callId }, body, ...options });
  }

  /** Outcome of a submission at this moment; changes nothing. */
  quote(submission: Submission, options: RequestOptions = {}): Promise<Quote> {
    return this.http.request(ROUTES.quoteCall, { body: submission, ...options });
  }

  /** Cancels the call. Safe to repeat. Resolves with the current call; its End shows how it stopped. */
  cancel(callId: string, body: BodyInputOf<typeof ROUTES.cancelCall> = {}, options: RequestOptions = {}): Promise<Call> {
    return this.http.request(ROUTES.cancelCall, { params: { id: callId }, body, ...options });
  }

  /** Sends a person's decision. Not retried: a second request would find the call decided. */
  decide(callId: string, body: BodyInputOf<typeof ROUTES.decideApproval>, options: RequestOptions = {}): Promise<Call> {
    return this.http.request(ROUTES.decideApproval, { params: { id: callId }, body, ...options });
  }

  /** Gives the value that the call's tool requested (`waiting.input` of the call). The first value counts. */
  input(callId: string, body: BodyInputOf<typeof ROUTES.giveInput>, options: RequestOptions = {}): Promise<Call> {
    return this.http.request(ROUTES.giveInput, { params: { id: callId }, body, ...options });
  }

  /** Runs the call again as a new call, with the same or new arguments. */
  replay(callId: string, body: BodyInputOf<typeof ROUTES.replayCall> = {}, options: SubmitOptions = {}): Promise<Call> {
    return this.http.request(ROUTES.replayCall, { params: { id: callId }, body, ...submitInput(options) });
  }

  /** All events so far, oldest first; reads page by page. */
  async events(callId: string, options: RequestOptions = {}): Promise<CallEvent[]> {
    return (await this.numberedEvents(callId, options)).flatMap(({ event }) => event ?? []);
  }

  /** Steps of a call in the processes; needs the scope `admin`. */
  debugLog(callId: string, options: RequestOptions = {}): Promise<CallDebugLog> {
    return this.http.request(ROUTES.getCallDebugLog, { params: { id: callId }, ...options });
  }

  /** All events, including types that this version does not know. */
  private async numberedEvents(callId: string, options: RequestOptions): Promise<NumberedCallEvent[]> {
    const all: NumberedCallEvent[] = [];
    for (let cursor: string | undefined; ;) {
      const input = { params: { id: callId }, query: { cursor }, ...options };
      const { events, nextCursor } = await this.http.requestAs(EventList, ROUTES.getCallEvents, input);
      all.push(...readEvents(events));
      if (nextCursor === undefined) return all;
      cursor = nextCursor;
    }
  }

  /**
   * Every event of a call in order, each once, until its End. Accepts the id of a call, or a submission.
   *
   * Reconnects after interruptions. With the `id` of an event as `cursor` it continues after that event.
   *
   * @throws the problem of a rejected call; `stream_incomplete` after the End, if the events do not match it
   */
  async *stream(
    call: string | Submission,
    options: WatchOptions & Pick<SubmitOptions, 'idempotencyKey' | 'traceparent'> = {},
  ): AsyncGenerator<CallEvent, void, undefined> {
    const { idempotencyKey, traceparent, signal } = options;
    const callId = typeof call === 'string' ? call : (await this.submit(call, { idempotencyKey, traceparent, signal })).id;
    yield* streamCall(callId, { watch: this.watch, events: (id, more) => this.numberedEvents(id, more) }, options);
  }

  /** Complete output of an ended call whose `result` was cut for the model. `from` and `to` are bytes, `to` included. */
  async output(callId: string, { from, to, ...options }: RequestOptions & { from?: number; to?: number } = {}): Promise<Uint8Array> {
    const headers = { Range: from === undefined && to === undefined ? undefined : `bytes=${from ?? 0}-${to ?? ''}` };
    return this.http.bytes(ROUTES.getCallOutput, { params: { id: callId }, headers, ...options }, 'text/plain');
  }
}

/** Accepts events of newer versions, of which `readEvents` keeps only the numbers. */
const EventList = z.object({ events: z.array(z.unknown()), nextCursor: z.string().optional() });
