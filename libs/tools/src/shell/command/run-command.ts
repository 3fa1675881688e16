import {
  type CapturedOutput,
  type ProcessCommand,
  type ProcessReport,
  ProcessStartError,
  type Sandbox,
  resolveSandboxView,
  runProcess,
} from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { openCommandQuota } from '../command-quota.js';
import type { FullCommandForm } from '../command-form.js';
import { abortError, limitError, visibleOutput } from '../shell-text.js';

/** A program to run for a call. `root` is the real path of the workspace. */
export interface CommandRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly root: string;
  readonly limitMs: number;
  readonly form: FullCommandForm;
  readonly files?: readonly number[] | undefined;
  /** Besides those that the worker gives to all commands. HOME is the workspace where it does not say another one. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Exit of a command, and its final form: inside the sandbox, with its limits. */
export interface CommandReport extends ProcessReport {
  readonly command: ProcessCommand;
}

/** @throws ToolError `unavailable` on a worker that must isolate commands and cannot */
export async function requireSandbox(sandbox: Sandbox, toolName: string): Promise<void> {
  const { ok, detail } = await sandbox.probe();
  if (!ok) throw new ToolError('unavailable', `${toolName} tool is disabled: ${detail}`, { retryable: false });
}

/**
 * Runs a program in the sandbox, within its time, its limits and the quota of the workspace, and sends its output as updates;
 * stores the output as finally shown by a terminal. No started process is left when the promise settles.
 * @throws ToolError for a program that could not start, or that was stopped for its time, its limits or the call
 */
export async function runCommand(sandbox: Sandbox, run: CommandRun, ctx: ToolContext): Promise<CommandReport> {
  const { file, args, cwd, root, limitMs, form, files } = run;
  const env = { ...ctx.env, HOME: root, ...run.env, PWD: cwd };
  const quota = await openCommandQuota(ctx.workspace.quota);
  const limit = AbortSignal.timeout(limitMs);
  const view = await resolveSandboxView({ ...ctx.workspace, root }, ctx.signal);
  const wrapped = sandbox.wrap({ file, args, cwd, env, ...(files && { files }) }, root, view);
  const command = quota.limit(wrapped);
  const report = await execute(command, AbortSignal.any([ctx.signal, limit, quota.signal]), form, ctx).finally(() => quota.close());
  if (report.leftAlive.length > 0) ctx.log.warn('processes could not be killed', { pids: report.leftAlive });
  const overrun = limitError(report, ctx) ?? quota.failureOf(report, ctx);
  if (overrun) throw overrun;
  if (report.exit.how === 'stopped' || report.exit.how === 'killed') throw abortError(report, ctx, limitMs, form);
  return { ...report, command };
}

async function execute(command: ProcessCommand, signal: AbortSignal, form: FullCommandForm, ctx: ToolContext): Promise<ProcessReport> {
  const options = {
    signal,
    isTerminal: true,
    get graceMs() {
      return ctx.graceMs;
    },
    onText: (stream: string, text: string, cut: boolean) => ctx.onUpdate([{ type: 'text', text }], { stream, truncated: cut }),
  };
  try {
    const report = await runProcess(command, options);
    ctx.onCpuTime?.(report.cpuMs);
    const kept = (output: CapturedOutput) => visibleOutput(output, form, ctx);
    return { ...report, stdout: kept(report.stdout), stderr: kept(report.stderr) };
  } catch (error) {
    throw startFailure(error);
  }
}

/** Error for the model if a program could not start; any other error unchanged. */
export function startFailure(error: unknown): unknown {
  if (!(error instanceof ProcessStartError)) return error;
  const wrong = error.reason === 'too_long' || error.reason === 'invalid';
  const advice = error.reason === 'too_long' ? '. Write the script to a file and run that' : '';
  return new ToolError(wrong ? 'invalid_arguments' : 'tool_failed', `Execution failed: ${error.message}${advice}`, { cause: error });
}
