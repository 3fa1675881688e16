import type { Call } from '#contracts';
import { newIdempotencyKey } from '../../http/idempotency-key.js';
import type { CallsApi } from '../../api/calls.api.js';
import { ToolyardError } from '../../toolyard-error.js';
import type { AgentSession } from './agent-session.js';
import { callProgress } from './call-progress.js';
import { askAfter, askBefore, readable } from './callbacks.js';
import { readCall, type SubmittableCall, type ToolCall } from './tool-call.js';
import { throughOutage } from './through-outage.js';
import { answerOf, refusalOf, withWarning, type ToolAnswer, type ToolProgress } from './tool-answer.js';

type CallsClient = { readonly calls: Pick<CallsApi, 'submit' | 'get' | 'cancel' | 'stream'> };
/** Longest wait of one request at the gateway: shorter than the idle timeout of common proxies. */
const POLL_MS = 30_000;
const CANCEL_MS = 10_000;
/** Time for the last steps after the answer. */
const LAST_STEPS_MS = 1_000;

/**
 * Runs a tool call and waits for its end, also for a person's approval.
 *
 * 1. repairs the arguments
 * 2. calls the callback `before`
 * 3. submits; the gateway answers a repetition with the first call
 * 4. waits for the end, through restarts of gateways
 * 5. on abort: cancels the call, unless the session disables it
 *
 * A rejected call has an answer for the model. @throws ToolyardError if the request itself fails, and the signal's reason on
 * abort
 */
export async function runToolCall(client: CallsClient, session: AgentSession, call: ToolCall, signal?: AbortSignal): Promise<ToolAnswer> {
  for await (const step of steps(client, session, call, { signal, follow: session.callbacks?.update !== undefined }))
    if (step.status === 'ended') return step;
  throw new ToolyardError('protocol', `The call of ${call.name} has no answer`);
}

/** Like `runToolCall`, with the steps before the end. A stream that fails or hangs costs the steps, not the answer. */
export async function* followToolCall(
  client: CallsClient,
  session: AgentSession,
  call: ToolCall,
  signal?: AbortSignal,
): AsyncGenerator<ToolProgress | ToolAnswer, void, undefined> {
  yield* steps(client, session, call, { signal, follow: true });
}

async function* steps(
  client: CallsClient,
  session: AgentSession,
  asked: ToolCall,
  options: { readonly signal: AbortSignal | undefined; readonly follow: boolean },
): AsyncGenerator<ToolProgress | ToolAnswer, void, undefined> {
  const { callbacks = {} } = session;
  const { call: read, warning } = readCall(asked);
  const checked = callbacks.before === undefined ? { call: read } : await askBefore(callbacks, callbacks.before, read);
  if ('refusal' in checked) return yield checked.refusal;
  const { call } = checked;
  for await (const step of submittedSteps(client, session, call, options)) {
    if (step.status !== 'ended') {
      if (callbacks.update?.(readable(call), step) !== false) yield step;
      continue;
    }
    yield await askAfter(callbacks, call, withWarning(step, warning));
  }
}

async function* submittedSteps(
  client: CallsClient,
  session: AgentSession,
  call: SubmittableCall,
  { signal, follow }: { readonly signal: AbortSignal | undefined; readonly follow: boolean },
): AsyncGenerator<ToolProgress | ToolAnswer, void, undefined> {
  const submitted = await submit(client, session, call, signal);
  if (!('id' in submitted)) return yield submitted;
  const over = new AbortController();
  let patience: ReturnType<typeof setTimeout> | undefined;
  try {
    const answer = waitForEnd(client, session, submitted, signal);
    // The answer does not depend on the stream, which ends with the call or soon after it. Failures are thrown below.
    void answer.then(
      () => (patience = setTimeout(() => over.abort(), LAST_STEPS_MS)),
      () => over.abort(),
    );
    if (follow && submitted.status !== 'ended') yield* callProgress(client.calls, submitted.id, over.signal);
    yield await answer;
  } catch (error) {
    throw await afterAbort(client, session, submitted.id, { signal, error });
  } finally {
    clearTimeout(patience);
    over.abort();
  }
}

/** Submits the call. Ignores the signal: the id of a call that may exist is needed to cancel it. */
async function submit(
  client: CallsClient,
  session: AgentSession,
  call: SubmittableCall,
  signal: AbortSignal | undefined,
): Promise<Call | ToolAnswer> {
  signal?.throwIfAborted();
  const { sessionId, agentId, dialect, labels, outageMs } = session;
  const submission = {
    tool: call.name,
    arguments: call.arguments,
    sessionId,
    agentId,
    dialect,
    ...(labels === undefined ? {} : { labels: { ...labels } }),
    toolCallId: call.id,
  };
  // Makes the request repeatable without the model's id; one key for all repetitions.
  const idempotencyKey = call.id === undefined ? newIdempotencyKey() : undefined;
  try {
    return await throughOutage(() => client.calls.submit(submission, { idempotencyKey }), { signal, outageMs });
  } catch (error) {
    const refusal = error instanceof ToolyardError ? refusalOf(error) : undefined;
    if (refusal === undefined) throw error;
    return refusal;
  }
}

async function waitForEnd(
  client: CallsClient,
  { outageMs }: AgentSession,
  submitted: Call,
  signal: AbortSignal | undefined,
): Promise<ToolAnswer> {
  let call = submitted;
  while (call.status !== 'ended')
    call = await throughOutage(() => client.calls.get(submitted.id, { waitMs: POLL_MS, signal }), { signal, outageMs });
  return answerOf(call, call.id);
}

/** Error to throw. Cancels the call if the signal was aborted; a failed cancel is thrown, since the call may still run. */
async function afterAbort(
  client: CallsClient,
  { cancelOnAbort = true }: AgentSession,
  callId: string,
  { signal, error }: { readonly signal: AbortSignal | undefined; readonly error: unknown },
): Promise<unknown> {
  if (signal?.aborted !== true) return error;
  if (cancelOnAbort) await client.calls.cancel(callId, { reason: 'The agent was aborted' }, { timeoutMs: CANCEL_MS });
  return signal.reason;
}
