import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { findExecutable } from '../process/find-executable.js';
import { ProcessStartError, runProcess, type CapturedOutput, type ProcessCommand, type ProcessReport } from '../process/run-process.js';
import { Sandbox, type SandboxReport } from '../sandbox/sandbox.port.js';
import { sandboxFrom } from '../sandbox/sandbox.config.js';
import { Tool } from '../tool.decorator.js';
import { ToolFailure, type ToolContext, type ToolOutputObject } from '../tool.port.js';
import { parseWorkspacePath, pathNotAllowed } from '../workspace/workspace-path.js';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
const LAST_OUTPUT_CHARS = 800;

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
});
type Input = z.output<typeof input>;

@Tool({
  name: 'shell',
  label: 'Run a shell command',
  description:
    'Runs a command with bash in the workspace and returns its output. Standard input is empty. A non-zero exit code is an error that shows the output. ' +
    'At most 1,048,576 bytes of each stream are kept. Everything the command started is killed when it ends: background processes do not survive it. ' +
    'After 60 seconds (timeout_ms: up to 600,000) the command is killed.',
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
    { title: 'Count lines', arguments: { command: 'wc -l *.md' } },
    { title: 'A slow build', arguments: { command: 'make', working_dir: 'app', timeout_ms: 300_000 } },
  ],
})
export class ShellTool {
  private readonly shell = findExecutable(['bash', 'sh']) ?? '/bin/sh';
  private probed: Promise<SandboxReport> | undefined;

  constructor(@Optional() private readonly sandbox: Sandbox = sandboxFrom(process.env)) {}

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    await this.requireSandbox();
    const root = await realpath(ctx.workspace.root);
    const cwd = await folderInside(root, args.working_dir ?? '.');
    const limitMs = args.timeout_ms ?? DEFAULT_TIMEOUT_MS;
    const limit = AbortSignal.timeout(limitMs);
    const command = { file: this.shell, args: ['-c', args.command], cwd, env: { ...ctx.env, HOME: root, PWD: cwd } };
    const report = await this.execute(this.sandbox.wrap(command, root), AbortSignal.any([ctx.signal, limit]), ctx);
    if (report.leftAlive.length > 0) ctx.log.warn('processes could not be killed', { pids: report.leftAlive });
    if (report.ending.how === 'stopped' || report.ending.how === 'killed') throw stoppedFailure(report, ctx.signal, limitMs);
    return this.render(report);
  }

  private async execute(command: ProcessCommand, signal: AbortSignal, ctx: ToolContext): Promise<ProcessReport> {
    const options = {
      signal,
      get graceMs() {
        return ctx.graceMs;
      },
      onText: (_stream: string, text: string) => ctx.onUpdate([{ type: 'text', text }]),
    };
    try {
      return await runProcess(command, options);
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      const wrong = error.reason === 'too_long' || error.reason === 'invalid';
      const advice = error.reason === 'too_long' ? '. Write the script to a file and run that' : '';
      throw new ToolFailure(wrong ? 'invalid_arguments' : 'tool_failed', `Execution failed: ${error.message}${advice}`, { cause: error });
    }
  }

  private render(report: ProcessReport): ToolOutputObject {
    const { ending, stdout, stderr } = report;
    const code = ending.how === 'exited' ? ending.code : -1;
    const signal = ending.how === 'signalled' ? ending.signal : null;
    const output = outputText(stdout, stderr);
    const details = {
      exitCode: code,
      signal,
      durationMs: report.durationMs,
      stdoutBytes: stdout.bytes,
      stderrBytes: stderr.bytes,
      sandbox: this.sandbox.name,
    };
    if (code === 0) return { content: [{ type: 'text', text: output === '' ? 'command completed with no output' : output }], details };
    const exit = `Exit code: ${code}${signal === null ? '' : `\nSignal: ${signal}`}`;
    const text = `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${exit}`;
    return { content: [{ type: 'text', text }], isError: true, details };
  }

  /** A worker that was told to isolate commands and cannot runs none. */
  private async requireSandbox(): Promise<void> {
    this.probed ??= this.sandbox.probe();
    const { ok, detail } = await this.probed;
    if (ok) return;
    this.probed = undefined;
    throw new ToolFailure('unavailable', `shell tool is disabled: ${detail}`);
  }
}

/** The real path of a folder below `root`, links followed; a ToolFailure when it leads out or is no folder. */
async function folderInside(root: string, given: string): Promise<string> {
  const { names, shown } = parseWorkspacePath(root, given);
  const folder = await realpath(join(root, ...names)).catch(() => undefined);
  if (folder === undefined || !(await stat(folder)).isDirectory())
    throw new ToolFailure('invalid_arguments', `Working directory is not a directory: ${shown}`);
  if (folder !== root && !folder.startsWith(`${root}/`)) throw pathNotAllowed(given);
  return folder;
}

function outputText(stdout: CapturedOutput, stderr: CapturedOutput): string {
  const out = withCutNote('stdout', stdout);
  const err = withCutNote('stderr', stderr);
  return out !== '' && err !== '' ? `stdout:\n${out}\n\nstderr:\n${err}` : out + err;
}

function withCutNote(stream: string, { text, bytes, truncated }: CapturedOutput): string {
  if (!truncated) return text;
  return `${text}\n[${stream} truncated — ${Buffer.byteLength(text).toLocaleString('en')} of ${bytes.toLocaleString('en')} bytes kept]`;
}

/** Cancel, drain and the like carry their own reason; the run deadline of the call and the command's own limit read alike. */
function stoppedFailure({ ending, durationMs, stdout, stderr }: ProcessReport, signal: AbortSignal, limitMs: number): ToolFailure {
  const killed = ending.how === 'killed';
  const reason = signal.aborted && signal.reason instanceof ToolFailure ? signal.reason : undefined;
  if (reason !== undefined && reason.code !== 'run_timeout')
    return new ToolFailure(reason.code, reason.message, { ...reason.options, killed });
  const ranMs = reason === undefined ? limitMs : durationMs - ('tookMs' in ending ? ending.tookMs : 0);
  return new ToolFailure(
    'run_timeout',
    `Command timed out after ${Math.round(ranMs / 100) / 10}s and was killed${lastOutput(stdout, stderr)}`,
    { killed },
  );
}

function lastOutput(...streams: readonly CapturedOutput[]): string {
  const parts = streams.map(({ text }) => text.slice(-LAST_OUTPUT_CHARS).trim()).filter((text) => text !== '');
  return parts.length === 0 ? '' : `\n\nLast output:\n${parts.join('\n')}`;
}
