import type { ProcessCommand, ProcessReport, Sandbox } from '#sandbox';
import type { ToolContext, ToolOutputObject } from '#tool-sdk';
import type { FullCommandForm } from '../command-form.js';
import { errorLine, exitText, streamText } from '../shell-text.js';

/** What the model reads of a command that has ended, whatever its exit code. `note` stands behind the output. */
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
  const text = exitText(report, { limits: command.limits, network }, form) + note;
  return {
    content: [{ type: 'text', text }],
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
    data: { stdout: streamText('stdout', stdout, form), stderr: streamText('stderr', stderr, form) },
    ...(stdout.truncated || stderr.truncated ? { seenBytes: stdout.bytes + stderr.bytes } : {}),
    readOn: (fromByte) => `exit code ${exitCode}; ${wholeOutput(ctx, fromByte)}`,
  };
}

function wholeOutput({ callId, sessionId }: Pick<ToolContext, 'callId' | 'sessionId'>, fromByte: number): string {
  if (sessionId === undefined) return `GET /v1/calls/${callId}/output has all of it`;
  return `shell_output ${JSON.stringify({ task_id: callId, from_byte: fromByte })} reads on from here`;
}
