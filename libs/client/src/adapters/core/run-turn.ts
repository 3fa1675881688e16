import type { Batch } from '#contracts';
import type { BatchesApi, BatchSubmission } from '../../api/batches.api.js';
import { newIdempotencyKey } from '../../http/idempotency-key.js';
import type { AgentSession } from './agent-session.js';
import { askAfter, askBefore, readable } from './callbacks.js';
import { BatchFollower, type FollowingClient } from './follow-batch.js';
import { throughOutage } from './through-outage.js';
import { readCall, type ReadCall, type ToolCall } from './tool-call.js';
import { answerOf, withWarning, type ToolAnswer } from './tool-answer.js';

/** Options for the calls of one answer of a model. */
export interface TurnOptions extends AgentSession {
  /** Order of the calls. Default: the session's, else `tiered`. */
  readonly strategy?: BatchSubmission['strategy'];
  readonly signal?: AbortSignal;
}

/** `calls` and `watch` are needed if `callbacks` have `update`. */
export type TurnClient = FollowingClient & { readonly batches: Pick<BatchesApi, 'submit' | 'get' | 'cancel'> };

/** Results of the calls of one answer. */
export interface Turn {
  /** Answers in the order of the calls. */
  readonly answers: readonly ToolAnswer[];
  /** Messages of people meanwhile (`toolyard steer`), once: for the next request to the model. */
  readonly steering: readonly string[];
}

const POLL_MS = 30_000;
const CANCEL_MS = 10_000;
/** Time for the last steps after the answers. */
const LAST_STEPS_MS = 1_000;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,200}$/;

/**
 * Runs all tool calls of one answer of a model as a batch, except those that the callback `before` rejects. A repeated turn of
 * a session gets the same batch.
 */
export async function runTurn(client: TurnClient, options: TurnOptions, calls: readonly ToolCall[]): Promise<Turn> {
  const { callbacks = {} } = options;
  const answers = new Map<ReadCall, ToolAnswer>();
  const asked: ReadCall[] = [];
  for (const read of calls.map(readCall)) {
    const checked = callbacks.before === undefined ? read : await askBefore(callbacks, callbacks.before, read.call);
    const now = 'call' in checked ? { ...read, call: checked.call } : read;
    asked.push(now);
    if ('refusal' in checked) answers.set(now, checked.refusal);
  }
  const submitted = asked.filter((read) => !answers.has(read));
  const turn = await runBatch(client, options, submitted);
  for (const [index, read] of submitted.entries()) {
    const answer = turn.answers[index];
    if (answer === undefined) continue;
    answers.set(read, await askAfter(callbacks, read.call, answer));
  }
  return { ...turn, answers: asked.flatMap((read) => answers.get(read) ?? []) };
}

async function runBatch(client: TurnClient, options: TurnOptions, calls: readonly ReadCall[]): Promise<Turn> {
  if (calls.length === 0) return { answers: [], steering: [] };
  const { sessionId, agentId, dialect, labels, strategy, signal, cancelOnAbort = true } = options;
  signal?.throwIfAborted();
  const batch = {
    sessionId,
    agentId,
    strategy,
    calls: calls.map(({ call: { name, id, arguments: args } }) => ({
      tool: name,
      arguments: args,
      toolCallId: id,
      dialect,
      ...(labels === undefined ? {} : { labels: { ...labels } }),
    })),
  };
  const idempotencyKey = keyOf(calls[0]?.call.id);
  let current = await throughOutage(() => client.batches.submit(batch, { idempotencyKey }), options);
  const follower = current.status === 'ended' ? undefined : followerOf(client, options, current, calls);
  try {
    while (current.status !== 'ended')
      current = await throughOutage(() => client.batches.get(current.id, { waitMs: POLL_MS, signal }), options);
    await follower?.end(LAST_STEPS_MS);
  } catch (error) {
    await follower?.stop();
    if (signal?.aborted !== true) throw error;
    if (cancelOnAbort) await client.batches.cancel(current.id, { reason: 'The agent was aborted' }, { timeoutMs: CANCEL_MS });
    throw signal.reason;
  }
  return {
    answers: current.results.map((result, index) => withWarning(answerOf(result, result.callId), calls[index]?.warning)),
    steering: current.steering.map(({ message }) => message),
  };
}

/** Undefined without a callback for steps. Ignores the result of `update`: a turn gives answers only. */
function followerOf(client: TurnClient, { callbacks }: TurnOptions, batch: Batch, calls: readonly ReadCall[]): BatchFollower | undefined {
  const update = callbacks?.update;
  if (update === undefined) return undefined;
  return new BatchFollower(
    client,
    batch,
    calls.map(({ call }) => call.id),
    (index, step) => void (calls[index] && update(readable(calls[index].call), step)),
  );
}

/**
 * Idempotency key of the turn. An id that is invalid in a header gives no such key: a repetition then finds the calls of the
 * first execution, not the batch.
 */
function keyOf(id: string | undefined): string {
  return id !== undefined && VISIBLE_ASCII.test(id) ? `turn:${id}` : newIdempotencyKey();
}
