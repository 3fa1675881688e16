import type { CapturedOutput, SshHost } from '#sandbox';
import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import type { FullCommandForm } from '../command-form.js';
import { abortError, visibleOutput } from '../shell-text.js';
import { commandOutput } from './command-output.js';

/** Longest single argument of bash on the host. */
const MAX_COMMAND_BYTES = 131_000;

export interface RemoteRun {
  readonly command: string;
  /** Inside the session's folder on the host. */
  readonly workingDir: string;
  readonly limitMs: number;
  readonly form: FullCommandForm;
}

/**
 * Runs a command on the host of the session, without variables of the worker.
 * @throws ToolError as `SshHost.run`, `run_timeout`, and `invalid_arguments` for a command that cannot be sent
 */
export async function runRemote(host: SshHost, run: RemoteRun, ctx: ToolContext): Promise<ToolOutputObject> {
  const { command, workingDir, limitMs, form } = run;
  if (`${command}${workingDir}`.includes('\0'))
    throw new ToolError('invalid_arguments', 'Execution failed: the command contains a NUL character');
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES)
    throw new ToolError(
      'invalid_arguments',
      'Execution failed: the command is longer than the system takes. Write the script to a file and run that',
    );
  const report = await host.run({ command, workingDir, place: placeOf(ctx) }, limitMs, {
    signal: ctx.signal,
    get graceMs() {
      return ctx.graceMs;
    },
    onText: (stream, text, cut) => ctx.onUpdate([{ type: 'text', text }], { stream, truncated: cut }),
  });
  ctx.onCpuTime?.(undefined);
  const kept = (output: CapturedOutput) => visibleOutput(output, form, ctx);
  const shown = { ...report, stdout: kept(report.stdout), stderr: kept(report.stderr) };
  if (shown.exit.how === 'stopped' || shown.exit.how === 'killed') throw abortError(shown, ctx, limitMs, form);
  const output = commandOutput({ ...shown, command: { limits: host.limits } }, { name: 'ssh', network: 'host' }, form, ctx);
  return { ...output, details: { ...output.details, host: host.name } };
}

/** Folder below the host's, as on a worker. Names of tenants and sessions are labels, which are safe in a path. */
function placeOf({ tenantId, sessionId }: ToolContext): string {
  return sessionId === undefined ? `${tenantId}/default` : `${tenantId}/sessions/${sessionId}`;
}
