import { parseExactJson, type JsonValue } from '#contracts';
import { ToolyardError } from '../../toolyard-error.js';
import { isObject, type SubmittableCall, type ToolCall } from './tool-call.js';
import { withWarning, type ToolAnswer, type ToolProgress } from './tool-answer.js';

/** Result of `before`: nothing; a text, which rejects the call; or the complete arguments to submit. */
export type BeforeAnswer = string | { readonly arguments: Record<string, JsonValue> } | undefined;

/** Changes of `after` to the answer for the model, as by hooks after a call. */
export interface AfterAnswer {
  /** Last text of the answer. */
  readonly feedback?: string;
  /** Marks the answer as an error for the model. */
  readonly isError?: true;
}

type Before = (call: ToolCall) => BeforeAnswer | Promise<BeforeAnswer>;
type After = (call: ToolCall, answer: ToolAnswer) => AfterAnswer | void | Promise<AfterAnswer | void>;

/**
 * Functions of the agent's own process around its calls. They apply to this agent only: rules for any agent belong to policy,
 * and to the hooks of the config file. They get the arguments as an object if the model's text is one, repaired if need be,
 * else as text. An error in one rejects the execution.
 */
export interface ToolCallbacks {
  /**
   * Called before a call is submitted. A text rejects the call: the model reads it as an error, and there is no call. May be
   * called again for an existing call, when a step is repeated, and must return the same: other arguments under the same key
   * are rejected. A late result rejects the call.
   */
  readonly before?: Before;
  /**
   * Called when a call has ended, or was rejected by Toolyard. Not called for calls that `before` has rejected. Changes only
   * the answer in this process; the log has the result of the tool. A late result rejects the execution.
   */
  readonly after?: After;
  /**
   * Called with each step of a call. `false` hides the step of a single call from the agent SDK; SDKs get no steps of a batch.
   * A call without an id in a later group of a batch may have no steps.
   */
  readonly update?: (call: ToolCall, progress: ToolProgress) => boolean;
  /** Time limit of `before` and `after` in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const LATE = Symbol('no answer in time');

/** Call to submit, or the rejection by `before`. */
export async function askBefore(
  { timeoutMs }: ToolCallbacks,
  before: Before,
  call: SubmittableCall,
): Promise<{ readonly call: SubmittableCall } | { readonly refusal: ToolAnswer }> {
  const result = await inTime(before(readable(call)), timeoutMs);
  if (result === undefined) return { call };
  if (result !== LATE && typeof result !== 'string') return { call: { ...call, arguments: result.arguments } };
  const text =
    result === LATE ? `The agent did not answer within ${timeoutMs ?? TIMEOUT_MS} ms whether ${call.name} may be called` : result;
  return { refusal: { status: 'ended', text, content: [{ type: 'text', text }], isError: true } };
}

/** Answer after `after`. @throws ToolyardError `timed_out` */
export async function askAfter({ after, timeoutMs }: ToolCallbacks, call: ToolCall, answer: ToolAnswer): Promise<ToolAnswer> {
  if (after === undefined) return answer;
  const result = await inTime(after(readable(call), answer), timeoutMs);
  if (result === LATE)
    throw new ToolyardError('timed_out', `The callback after ${call.name} took longer than ${timeoutMs ?? TIMEOUT_MS} ms`);
  if (result === undefined) return answer;
  return withWarning(result.isError === true ? { ...answer, isError: true } : answer, result.feedback);
}

/** Call in the form for callbacks: with the arguments as an object, if their text is one or quotes one. Pure. */
export function readable(call: ToolCall): ToolCall {
  if (typeof call.arguments !== 'string') return call;
  try {
    const value = parseExactJson(call.arguments);
    // Parses a quoted object, as the gateway does: models sometimes quote one.
    const inner: unknown = typeof value === 'string' && value.trim().startsWith('{') ? parseExactJson(value) : value;
    return isObject(inner) ? { ...call, arguments: inner } : call;
  } catch {
    return call;
  }
}

async function inTime<T>(answer: T | Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T | typeof LATE> {
  if (!(answer instanceof Promise)) return answer;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => (timer = setTimeout(() => resolve(LATE), timeoutMs)));
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
