import { readFileSync } from 'node:fs';
import { parseExactJson, type InputRequest, type JsonValue } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { followCall } from '../../follow-call.js';
import { UsageError } from '../../usage-error.js';

export interface InputFlags {
  readonly follow?: boolean;
  readonly decline?: boolean;
}

/** Gives a call the value that its tool requested, or shows the question without a value. */
export async function input(context: CommandContext, callId: string, text: string | undefined, flags: InputFlags): Promise<number> {
  const { client, terminal, json } = context;
  const { waiting } = await client.calls.get(callId);
  if (text === undefined && flags.decline !== true) {
    if (json) terminal.json(waiting?.input ?? null);
    else terminal.note(waiting?.input === undefined ? 'The call does not wait for input.' : waiting.detail);
    if (!json && waiting?.input?.inputSchema !== undefined) terminal.line(JSON.stringify(waiting.input.inputSchema));
    return waiting?.input === undefined ? 1 : 0;
  }
  if (text !== undefined && flags.decline === true) throw new UsageError('Expected a value or --decline, not both');
  const attempt = waiting?.input?.attempt;
  const call = await client.calls.input(callId, { ...answerOf(text, waiting?.input), ...(attempt === undefined ? {} : { attempt }) });
  if (flags.follow === true) return followCall(context, callId);
  if (json) terminal.json(call);
  else terminal.note(`${call.id} has its ${text === undefined ? 'refusal' : 'input'} and is ${call.status}.`);
  return 0;
}

function answerOf(text: string | undefined, question: InputRequest | undefined): { value: JsonValue } | { decline: true } {
  if (text === undefined) return { decline: true };
  return { value: valueOf(text === '-' ? fromStdin() : text, question?.inputSchema?.['type'] === 'string') };
}

/** `echo main | toolyard input ID -` means `main`. */
function fromStdin(): string {
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '');
}

/** JSON, or the text itself where it is none, or where the tool asks for a text. */
export function valueOf(text: string, asksForText: boolean): JsonValue {
  if (asksForText && !/^\s*"/.test(text)) return text;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what parsing JSON returns
    return parseExactJson(text) as JsonValue;
  } catch {
    return text;
  }
}
