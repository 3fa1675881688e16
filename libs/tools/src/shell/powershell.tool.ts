import { realpath } from 'node:fs/promises';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { DisabledSandbox, Sandbox } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { commandOutput } from './command/command-output.js';
import { findProgram } from './command/programs.js';
import { requireSandbox, runCommand } from './command/run-command.js';
import { folderOf } from './command/working-folder.js';
import { commandFormOf } from './command-form.js';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;

const input = z.strictObject({
  command: z.string().min(1).describe('PowerShell command or script.'),
  working_dir: z.string().optional().describe('Folder inside the workspace to run in. Default: the root of the workspace.'),
  timeout_ms: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Milliseconds after which the command is killed. Default 60,000.'),
});

@Tool({
  name: 'powershell',
  label: 'Run a PowerShell command',
  description:
    'Runs a command with PowerShell in the workspace, without a profile and without questions, and returns its output. A non-zero exit code is an error that shows the output. ' +
    'You see 16,384 bytes, unless the operator has set another limit: of longer output the beginning and the end, and how to read on between them with shell_output. ' +
    'Of more than 1,048,576 bytes of a stream the middle is lost: write such output to a file and read that in parts with file_read. ' +
    'Everything the command started is killed when it ends, and after 60 seconds (timeout_ms: up to 600,000) the command itself. ' +
    'Not available where the worker has no PowerShell: use shell instead.',
  input,
  tier: 'privileged',
  effect: 'once',
  pool: 'shell',
  requires: ['powershell'],
  subjects: [
    { kind: 'command', argument: 'command', language: 'powershell' },
    { kind: 'path', argument: 'working_dir', access: 'read' },
  ],
  timeoutMs: MAX_TIMEOUT_MS + 10_000,
  aliases: ['PowerShell', 'pwsh'],
  argumentAliases: { working_dir: ['cwd', 'workdir'], timeout_ms: ['timeout'] },
  rawArgument: 'command',
  examples: [{ title: 'What is here', arguments: { command: 'Get-ChildItem | Select-Object Name, Length' } }],
})
export class PowershellTool {
  /** Default for a process that only lists tools: without a sandbox nothing runs. */
  constructor(@Optional() private readonly sandbox: Sandbox = new DisabledSandbox('no sandbox was chosen for this process')) {}

  async run(
    { command, working_dir = '.', timeout_ms = DEFAULT_TIMEOUT_MS }: z.output<typeof input>,
    ctx: ToolContext,
  ): Promise<ToolOutputObject> {
    await requireSandbox(this.sandbox, 'powershell');
    const found = findProgram(this.sandbox, 'powershell', ctx.env['PATH']);
    if ('missing' in found) throw new ToolError('unavailable', found.missing, { retryable: false });
    const { file } = found;
    const root = await realpath(ctx.workspace.root);
    const cwd = await folderOf({ ...ctx.workspace, root }, working_dir);
    const form = commandFormOf(ctx);
    const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', command];
    const env = { POWERSHELL_TELEMETRY_OPTOUT: '1', POWERSHELL_UPDATECHECK: 'Off', NO_COLOR: '1' };
    const report = await runCommand(this.sandbox, { file, args, cwd, root, limitMs: timeout_ms, form, env }, ctx);
    return commandOutput(report, this.sandbox, form, ctx);
  }
}
