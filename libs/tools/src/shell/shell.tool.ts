import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import {
  type CapturedOutput,
  DisabledSandbox,
  type ProcessCommand,
  type ProcessReport,
  ProcessStartError,
  Sandbox,
  absolutePath,
  resolveFile,
  findExecutable,
  isWithin,
  pathNotAllowed,
  assertNotDenied,
  runProcess,
  resolveSandboxView,
} from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject, type Workspace } from '#tool-sdk';
import { SHELL_DIALECTS, type ShellDialect } from './shell-dialects.js';
import { persistentArguments } from './shell-script.js';
import { openShellState, type ShellState } from './shell-state.js';
import { openCommandQuota } from './command-quota.js';
import { exitText, limitError, abortError, withinLimit, redactTruncatedOutput } from './shell-text.js';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
const STATE_TOO_LARGE = "\n[the shell's variables and functions take more than 262,144 bytes: this command's are not kept]";

const input = z.strictObject({
  command: z.string().min(1).describe('Shell command or script, run by bash -c.'),
  working_dir: z.string().optional().describe('Folder inside the workspace to run in. Default: the root of the workspace.'),
  timeout_ms: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Milliseconds after which the command is killed. Default 60,000.'),
  persistent: z
    .boolean()
    .default(false)
    .describe('Go on where the last persistent command of this session ended: its folder (cd), variables and functions. Needs a session.'),
  approved: z.boolean().optional().describe('Whether a person has approved this very command. Counts only where the policy says so.'),
});
type Input = z.output<typeof input>;

@Tool({
  name: 'shell',
  label: 'Run a shell command',
  description:
    'Runs a command with bash in the workspace and returns its output. Standard input is empty. A non-zero exit code is an error that shows the output. ' +
    'At most 1,048,576 bytes of each stream are kept. Everything the command started is killed when it ends: background processes do not survive it. ' +
    'After 60 seconds (timeout_ms: up to 600,000) the command is killed. Memory, processor time, processes and sizes of files are limited, and there may be no network. ' +
    'With persistent: true, cd, variables and functions last from one command of the session to the next; otherwise each command starts afresh.',
  input,
  tier: 'privileged',
  effect: 'once',
  pool: 'shell',
  subjects: [
    { kind: 'command', argument: 'command' },
    { kind: 'path', argument: 'working_dir', access: 'read' },
  ],
  // The tool keeps the time itself; this only bounds the longest it may be asked for, with room to kill.
  timeoutMs: MAX_TIMEOUT_MS + 10_000,
  aliases: ['bash', 'shell_exec', 'execute_bash', 'execute_cmd', 'executeCmd'],
  argumentAliases: {
    command: ['cmd', 'script', 'shell_command', 'bash', 'sh', 'command_line', 'input'],
    working_dir: ['cwd', 'workdir'],
    timeout_ms: ['timeout'],
  },
  rawArgument: 'command',
  examples: [
    { title: 'The time, and what is here', arguments: { command: 'date; ls -la' } },
    { title: 'Continue in the same shell', arguments: { command: 'mkdir -p app && cd app && export MODE=test', persistent: true } },
    { title: 'Output over a while', arguments: { command: 'for n in 1 2 3; do echo "step $n"; sleep 0.5; done', timeout_ms: 300_000 } },
  ],
})
export class ShellTool {
  private readonly shell = findExecutable(['bash', 'sh']) ?? '/bin/sh';

  /** Without a sandbox, as in a process that only lists tools, nothing runs. */
  constructor(@Optional() private readonly sandbox: Sandbox = new DisabledSandbox('no sandbox was chosen for this process')) {}

  /** 1. is there a sandbox  2. where to run  3. the session's shell, if asked for  4. run  5. what came of it */
  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    await this.requireSandbox();
    const root = await realpath(ctx.workspace.root);
    const cwd = await folderOf({ ...ctx.workspace, root }, args.working_dir ?? '.');
    if (!args.persistent) return this.runIn({ args: ['-c', args.command], cwd, root }, args, ctx);
    const state = await this.stateOf(root, ctx);
    try {
      const script = persistentArguments(args.command, args.working_dir === undefined ? undefined : cwd);
      return await this.runIn({ args: script, cwd, root, state }, args, ctx);
    } finally {
      await state.discard();
    }
  }

  private async runIn(shell: ShellRun, { timeout_ms }: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    const { root, cwd, state } = shell;
    const limitMs = timeout_ms ?? DEFAULT_TIMEOUT_MS;
    const limit = AbortSignal.timeout(limitMs);
    const env = { ...ctx.env, HOME: root, PWD: cwd };
    const quota = await openCommandQuota(ctx.workspace.quota);
    const view = await resolveSandboxView({ ...ctx.workspace, root }, ctx.signal);
    const wrapped = this.sandbox.wrap({ file: this.shell, args: shell.args, cwd, env, ...(state && { files: state.files }) }, root, view);
    const command = quota.limit(wrapped);
    const report = await this.execute(command, AbortSignal.any([ctx.signal, limit, quota.signal]), ctx).finally(() => quota.close());
    if (report.leftAlive.length > 0) ctx.log.warn('processes could not be killed', { pids: report.leftAlive });
    const overrun = limitError(report, ctx) ?? quota.failureOf(report, ctx);
    if (overrun) throw overrun;
    if (report.exit.how === 'stopped' || report.exit.how === 'killed') throw abortError(report, ctx, limitMs, dialectOf(ctx));
    const tooLarge = (await state?.keep()) === 'too_large';
    return this.render(report, command, dialectOf(ctx), tooLarge ? STATE_TOO_LARGE : '');
  }

  private async execute(command: ProcessCommand, signal: AbortSignal, ctx: ToolContext): Promise<ProcessReport> {
    const options = {
      signal,
      get graceMs() {
        return ctx.graceMs;
      },
      onText: (stream: string, text: string, cut: boolean) => ctx.onUpdate([{ type: 'text', text }], { stream, truncated: cut }),
    };
    try {
      const report = await runProcess(command, options);
      const kept = (output: CapturedOutput) => redactTruncatedOutput(withinLimit(output, dialectOf(ctx)), ctx);
      return { ...report, stdout: kept(report.stdout), stderr: kept(report.stderr) };
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      const wrong = error.reason === 'too_long' || error.reason === 'invalid';
      const advice = error.reason === 'too_long' ? '. Write the script to a file and run that' : '';
      throw new ToolError(wrong ? 'invalid_arguments' : 'tool_failed', `Execution failed: ${error.message}${advice}`, { cause: error });
    }
  }

  private render(report: ProcessReport, { limits }: ProcessCommand, dialect: ShellDialect, note: string): ToolOutputObject {
    const { exit, stdout, stderr, durationMs } = report;
    const exitCode = exit.how === 'exited' ? exit.code : -1;
    const signal = exit.how === 'signalled' ? exit.signal : null;
    const text = exitText(report, { limits, network: this.sandbox.network }, dialect) + note;
    const details = { exitCode, signal, durationMs, stdoutBytes: stdout.bytes, stderrBytes: stderr.bytes, sandbox: this.sandbox.name };
    return {
      content: [{ type: 'text', text }],
      ...(exitCode === 0 ? {} : { isError: true }),
      details,
      data: { stdout: stdout.text, stderr: stderr.text },
      ...(stdout.truncated || stderr.truncated ? { seenBytes: stdout.bytes + stderr.bytes } : {}),
    };
  }

  /** A worker that must isolate commands and cannot runs none. */
  private async requireSandbox(): Promise<void> {
    const { ok, detail } = await this.sandbox.probe();
    if (!ok) throw new ToolError('unavailable', `shell tool is disabled: ${detail}`, { retryable: false });
  }

  private async stateOf(root: string, { sessionId, callId, attempt }: ToolContext): Promise<ShellState> {
    if (sessionId === undefined)
      throw new ToolError('invalid_arguments', 'persistent needs a session: submit the call with a sessionId, or leave persistent out');
    if (basename(this.shell) !== 'bash')
      throw new ToolError('unavailable', 'A persistent shell needs bash, which this worker does not have; leave persistent out', {
        retryable: false,
      });
    return openShellState(root, `${callId}.${attempt}`);
  }
}

function dialectOf({ profile = 'core' }: ToolContext): ShellDialect {
  return SHELL_DIALECTS[profile];
}

interface ShellRun {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly root: string;
  readonly state?: ShellState;
}

/** The real path of a folder of the workspace, a root or an opened path, links followed; a ToolError when it leads out or is no folder. */
async function folderOf(workspace: Workspace, given: string): Promise<string> {
  const place = resolveFile(workspace, given, 'read');
  const { root, path, symlinks } = place;
  const named = absolutePath(root, path.names);
  const folder = await realpath(named).catch(() => undefined);
  if (folder === undefined || !(await stat(folder)).isDirectory())
    throw new ToolError('invalid_arguments', `Working directory is not a directory: ${path.displayPath}`);
  if (symlinks === 'refuse' ? folder !== named : !isWithin(folder, root)) throw pathNotAllowed(given);
  assertNotDenied(place, folder.slice(root.length).split('/').filter(Boolean), 'read');
  return folder;
}
