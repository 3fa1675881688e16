import type { ToolCall } from './tool-call.js';
import type { ToolAnswer, ToolProgress } from './tool-answer.js';

type Before = (call: ToolCall) => string | undefined | Promise<string | undefined>;

/**
 * Functions of the agent's own process around its calls. They bind this agent alone: what must hold whatever an agent does
 * belongs to policy, and to the hooks of the config file. They get the arguments as they are submitted: a text that was no valid
 * JSON is repaired before. An error that one throws rejects the execution.
 */
export interface ToolCallbacks {
  /**
   * Called before a call is submitted. A text refuses the call: the model reads it as an error, and there is no call. It may be
   * called again for a call that exists, when a step is executed again.
   */
  readonly before?: Before;
  /** Called when a call has ended, or Toolyard has refused it. Not called for what `before` has refused. */
  readonly after?: (call: ToolCall, answer: ToolAnswer) => void | Promise<void>;
  /** Called with each step of a single call; `false` keeps it from the agent SDK. Calls of a batch have no steps here. */
  readonly update?: (call: ToolCall, progress: ToolProgress) => boolean;
}

/** The answer for a call that `before` refuses. */
export async function refusedBy(before: Before, call: ToolCall): Promise<ToolAnswer | undefined> {
  const text = await before(call);
  return text === undefined ? undefined : { status: 'ended', text, content: [{ type: 'text', text }], isError: true };
}
