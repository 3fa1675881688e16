import { type CapturedOutput, type Sandbox, terminalText } from '#sandbox';
import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { readOnFrom } from '../command/command-output.js';
import { commandFormOf } from '../command-form.js';
import { lastOutput, streamText, visibleOutput } from '../shell-text.js';
import type { InterpreterAnswer } from './interpreters.port.js';

const FORM = commandFormOf({});

/** Error of code that was stopped; undefined for any other end. `quota`: the workspace is full. `limitMs`: time limit. */
export function replFailure(
  { how, why = '', stdout, stderr }: InterpreterAnswer,
  quota: ToolError | undefined,
  limitMs: number | undefined,
  { signal, redact }: Pick<ToolContext, 'signal' | 'redact'>,
): ToolError | undefined {
  if (how === 'done') return undefined;
  const killed = how === 'ended';
  const output = lastOutput(redact, shown(stdout), shown(stderr));
  const state = killed ? 'its interpreter was killed, and the state is lost' : 'it was interrupted, and the state was kept';
  const reason: unknown = signal.aborted ? signal.reason : quota;
  if (reason instanceof ToolError)
    return new ToolError(reason.code, `${reason.message}${/[.!]$/.test(reason.message) ? '' : '.'} About the code: ${state}.${output}`, {
      ...reason.options,
      killed,
    });
  if (limitMs !== undefined)
    return new ToolError('run_timeout', `The code ran longer than its ${limitMs} ms: ${state}.${output}`, { killed });
  if (killed) return new ToolError('tool_failed', `The interpreter is gone, and the state is lost: ${why}.${output}`, { retryable: false });
  return undefined;
}

/** Text for the model: a note if state was lost, the output as shown by a terminal, then the value or the error. */
export function replOutput(
  language: string,
  answer: InterpreterAnswer,
  { name, network }: Pick<Sandbox, 'name' | 'network'>,
  ctx: Pick<ToolContext, 'callId' | 'sessionId' | 'redact'>,
): ToolOutputObject {
  const { stdout, stderr, value, durationMs, lostBecause, how } = answer;
  const error = answer.error ?? (how === 'interrupted' ? 'The code interrupted itself.' : undefined);
  const out = streamText('stdout', visibleOutput(shown(stdout), FORM, ctx), FORM);
  const err = streamText('stderr', visibleOutput(shown(stderr), FORM, ctx), FORM);
  const written = out !== '' && err !== '' ? [`stdout:\n${out}\n`, `stderr:\n${err}`] : [out + err];
  const parts = [
    ...(lostBecause === undefined
      ? []
      : [`[The state of earlier ${language} code is lost: ${lostBecause}. This code ran in a new interpreter.]`]),
    ...written.slice(0, -1),
    written.at(-1)?.replace(/\n$/, '') ?? '',
    ...(value === undefined ? [] : [`=> ${value}`]),
    ...(error === undefined ? [] : [error.trimEnd()]),
  ].filter((part) => part !== '');
  return {
    content: (parts.length === 0 ? ['The code has run, without output or value.'] : parts).map((text) => ({ type: 'text', text })),
    ...(stdout.hasGap || stderr.hasGap ? { seenBytes: stdout.bytes + stderr.bytes } : {}),
    readOn: (fromByte) => readOnFrom(ctx, fromByte),
    ...(error === undefined ? {} : { isError: true }),
    details: { language, exitCode: error === undefined ? 0 : 1, durationMs, stateLost: lostBecause !== undefined, sandbox: name, network },
  };
}

/** Output as shown by a terminal. */
function shown(output: CapturedOutput): CapturedOutput {
  const { text, tail, hasGap } = output;
  if (hasGap) return { ...output, text: terminalText(text), tail: terminalText(tail) };
  return { ...output, text: terminalText(text + tail), tail: '', truncated: false };
}
