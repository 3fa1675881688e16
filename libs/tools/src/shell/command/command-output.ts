import type { ProcessCommand, ProcessReport, Sandbox } from '#sandbox';
import type { ToolContext, ToolOutputObject } from '#tool-sdk';
import type { FullCommandForm } from '../command-form.js';
import { errorLine, exitTexts, streamText } from '../shell-text.js';

/** Text of an ended command for the model, with any exit code. `note` follows the output. */
export function commandOutput(
  { command, ...report }: ProcessReport & { readonly command: Pick<ProcessCommand, 'limits'> },
  { name, network }: { readonly name: Sandbox['name'] | 'ssh'; readonly network: Sandbox['network'] },
  form: FullCommandForm,
  ctx: Pick<ToolContext, 'callId' | 'sessionId' | 'redact'>,
  note = '',
): ToolOutputObject {
  const { exit, stdout, stderr, durationMs, pid, startedAt } = report;
  const exitCode = exit.how === 'exited' ? exit.code : -1;
  const signal = exit.how === 'signalled' ? exit.signal : null;
  const line = exitCode === 0 ? undefined : errorLine(report, ctx);
  const texts = exitTexts(report, { limits: command.limits, network }, form);
  return {
    content: texts.map((text, index) => ({ type: 'text', text: index === texts.length - 1 ? text + note : text })),
    ...(exitCode === 0 ? {} : { isError: true }),
    details: {
      exitCode,
      signal,
      ...(pid === undefined ? {} : { pid }),
      startedAt: startedAt.toISOString(),
      durationMs,
      stdoutBytes: stdout.bytes,
      stderrBytes: stderr.bytes,
      sandbox: name,
      ...(line === undefined ? {} : { errorLine: line }),
    },
    data: {
      stdout: streamText('stdout', stdout, form),
      stderr: streamText('stderr', stderr, form),
      stdoutBytes: stdout.shownBytes,
      stderrBytes: stderr.shownBytes,
    },
    ...(stdout.truncated || stderr.truncated ? { seenBytes: stdout.shownBytes + stderr.shownBytes } : {}),
    readOn: (fromByte) => `exit code ${exitCode}; ${readOnFrom(ctx, fromByte)}`,
  };
}

/** Instruction for the model to read the rest of the call's output. */
export function readOnFrom({ callId, sessionId }: Pick<ToolContext, 'callId' | 'sessionId'>, fromByte: number): string {
  if (sessionId === undefined) return `GET /v1/calls/${callId}/output has all of it`;
  return `shell_output ${JSON.stringify({ task_id: callId, from_byte: fromByte })} reads on from here`;
}
