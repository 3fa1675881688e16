import { parseExactJson, type JsonValue } from '#contracts';
import { ToolyardError } from '../../toolyard-error.js';
import { isObject, type SubmittableCall, type ToolCall } from './tool-call.js';
import { withWarning, type ToolAnswer, type ToolProgress } from './tool-answer.js';

/** What `before` says: nothing; a text, which refuses the call; or the arguments to submit, all of them. */
export type BeforeAnswer = string | { readonly arguments: Record<string, JsonValue> } | undefined;

/** What `after` changes in the answer for the model, as hooks after a call do. */
export interface AfterAnswer {
  /** A last text of the answer. */
  readonly feedback?: string;
  /** The model reads the answer as an error. */
  readonly isError?: true;
}

type Before = (call: ToolCall) => BeforeAnswer | Promise<BeforeAnswer>;
type After = (call: ToolCall, answer: ToolAnswer) => AfterAnswer | void | Promise<AfterAnswer | void>;

/**
 * Functions of the agent's own process around its calls. They bind this agent alone: what must hold whatever an agent does
 * belongs to policy, and to the hooks of the config file. They get the arguments as an object where the text of the model is one,
 * repaired if need be, else as the text. An error that one throws rejects the execution.
 */
export interface ToolCallbacks {
  /**
   * Called before a call is submitted. A text refuses the call: the model reads it as an error, and there is no call. It may be
   * called again for a call that exists, when a step is executed again: it has to answer the same, since other arguments under
   * the same key are refused. A call that it does not answer in time is refused.
   */
  readonly before?: Before;
  /**
   * Called when a call has ended, or Toolyard has refused it. Not called for what `before` has refused. What it changes is what
   * this process hands on; the log has the result of the tool. If it does not answer in time, the execution rejects.
   */
  readonly after?: After;
  /**
   * Called with each step of a call. `false` keeps the step of a single call from the agent SDK; SDKs read no steps of a batch. A call
   * without an id in a later group of a batch may have no steps.
   */
  readonly update?: (call: ToolCall, progress: ToolProgress) => boolean;
  /** How long `before` and `after` may take, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const LATE = Symbol('no answer in time');

/** The call to submit, or the answer of `before` that refuses it. */
export async function askBefore(
  { timeoutMs }: ToolCallbacks,
  before: Before,
  call: SubmittableCall,
): Promise<{ readonly call: SubmittableCall } | { readonly refusal: ToolAnswer }> {
  const said = await inTime(before(readable(call)), timeoutMs);
  if (said === undefined) return { call };
  if (said !== LATE && typeof said !== 'string') return { call: { ...call, arguments: said.arguments } };
  const text = said === LATE ? `The agent did not answer within ${timeoutMs ?? TIMEOUT_MS} ms whether ${call.name} may be called` : said;
  return { refusal: { status: 'ended', text, content: [{ type: 'text', text }], isError: true } };
}

/** The answer as `after` leaves it. @throws ToolyardError `timed_out` */
export async function askAfter({ after, timeoutMs }: ToolCallbacks, call: ToolCall, answer: ToolAnswer): Promise<ToolAnswer> {
  if (after === undefined) return answer;
  const said = await inTime(after(readable(call), answer), timeoutMs);
  if (said === LATE) throw new ToolyardError('timed_out', `The callback after ${call.name} took longer than ${timeoutMs ?? TIMEOUT_MS} ms`);
  if (said === undefined) return answer;
  return withWarning(said.isError === true ? { ...answer, isError: true } : answer, said.feedback);
}

/** The call as callbacks read it: with the arguments as an object, if their text is one, or quotes one. Pure. */
export function readable(call: ToolCall): ToolCall {
  if (typeof call.arguments !== 'string') return call;
  try {
    const value = parseExactJson(call.arguments);
    // As the gateway reads it: models quote an object at times.
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
