import { realpath } from 'node:fs/promises';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { DisabledSandbox, RemoteHosts, Sandbox, findExecutable } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from '../gateway/tool-gateway.port.js';
import { requireSession } from './background/run-text.js';
import { runBash } from './command/run-bash.js';
import { requireSandbox } from './command/run-command.js';
import { runRemote } from './command/run-remote.js';
import { folderOf } from './command/working-folder.js';
import { commandFormOf } from './command-form.js';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
const BACKGROUND_TIMEOUT_MS = 3_600_000;
const MAX_BACKGROUND_TIMEOUT_MS = 43_200_000;
/** Time for the tool to kill the command itself. */
const SLACK_MS = 10_000;

/** Linux takes no longer word of a command line, and policy reads no longer script in the gateway. */
const MAX_COMMAND = 131_071;

const input = z.strictObject({
  command: z.string().min(1).max(MAX_COMMAND).describe('Shell command or script, run by bash -c.'),
  working_dir: z.string().optional().describe('Folder inside the workspace to run in. Default: the root of the workspace.'),
  timeout_ms: z
    .number()
    .int()
    .min(1)
    .max(MAX_BACKGROUND_TIMEOUT_MS)
    .optional()
    .describe(
      'Milliseconds after which the command is killed. Default 60,000, at most 600,000; in the background 3,600,000 and 43,200,000.',
    ),
  persistent: z
    .boolean()
    .default(false)
    .describe('Go on where the last persistent command of this session ended: its folder (cd), variables and functions. Needs a session.'),
  background: z
    .boolean()
    .default(false)
    .describe(
      'Answer at once with a task id while the command runs on. Read it with shell_output, end it with shell_stop. Needs a session.',
    ),
  approved: z.boolean().optional().describe('Whether a person has approved this very command. Counts only where the policy says so.'),
});
type Input = z.output<typeof input>;

@Tool({
  name: 'shell',
  label: 'Run a shell command',
  description:
    'Runs a command with bash in the workspace and returns its output. Standard input is empty. A non-zero exit code is an error that shows the output. ' +
    'You see 16,384 bytes, unless the operator has set another limit: of longer output the beginning and the end, and how to read on between them with shell_output. ' +
    'Of more than 1,048,576 bytes of a stream the middle is lost: write such output to a file and read that in parts with file_read. ' +
    'Everything the command started is killed when it ends: use background: true for what runs on, such as a server. A session has at most four such runs; they end with it. ' +
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
  // Upper bound of the requested time, with room to kill; the tool enforces the time itself.
  timeoutMs: MAX_TIMEOUT_MS + SLACK_MS,
  aliases: ['bash', 'shell_exec', 'execute_bash', 'execute_cmd', 'executeCmd'],
  argumentAliases: {
    command: ['cmd', 'script', 'shell_command', 'bash', 'sh', 'command_line', 'input'],
    working_dir: ['cwd', 'workdir'],
    timeout_ms: ['timeout'],
    background: ['run_in_background'],
  },
  rawArgument: 'command',
  examples: [
    { title: 'The time, and what is here', arguments: { command: 'date; ls -la' } },
    { title: 'Continue in the same shell', arguments: { command: 'mkdir -p app && cd app && export MODE=test', persistent: true } },
    { title: 'A server that runs on', arguments: { command: 'python3 -m http.server 8000', background: true, timeout_ms: 7_200_000 } },
    { title: 'Output over a while', arguments: { command: 'for n in 1 2 3; do echo "step $n"; sleep 0.5; done', timeout_ms: 300_000 } },
  ],
})
export class ShellTool {
  private readonly shell = findExecutable(['bash', 'sh']) ?? '/bin/sh';

  /** Default for a process that only lists tools: without a sandbox nothing runs. */
  constructor(
    @Optional() private readonly sandbox: Sandbox = new DisabledSandbox('no sandbox was chosen for this process'),
    @Optional() private readonly gateway: ToolGateway = new NoToolGateway(),
    @Optional() private readonly hosts: RemoteHosts = new RemoteHosts(),
  ) {}

  check({ background, persistent, timeout_ms = 0 }: Input): void {
    if (background && persistent)
      throw new ToolError('invalid_arguments', 'persistent and background exclude each other: leave one of them out');
    if (background || timeout_ms <= MAX_TIMEOUT_MS) return;
    const message = 'expected at most 600000 without background: true';
    throw new ToolError('invalid_arguments', `timeout_ms: ${message}`, { errors: [{ pointer: '/timeout_ms', message }] });
  }

  /** Order: 1. host  2. sandbox  3. working directory  4. shell of the session, if requested  5. run  6. result */
  async run(args: Input, ctx: ToolContext): Promise<ToolOutput> {
    const { onHost } = ctx.workspace;
    if (onHost === undefined) await requireSandbox(this.sandbox, 'shell');
    if (args.background && ctx.startedBy === undefined) return this.startInBackground(args, ctx);
    if (onHost !== undefined) return this.runOn(onHost, args, ctx);
    const root = await realpath(ctx.workspace.root);
    const cwd = await folderOf({ ...ctx.workspace, root }, args.working_dir ?? '.');
    const { command } = args;
    const limitMs = limitOf(args);
    const persistent = args.persistent ? { persistent: { folder: args.working_dir === undefined ? undefined : cwd } } : {};
    return runBash(this.sandbox, { shell: this.shell, command, cwd, root, limitMs, form: commandFormOf(ctx), ...persistent }, ctx);
  }

  private async runOn(onHost: string, args: Input, ctx: ToolContext): Promise<ToolOutput> {
    const host = this.hosts.nameFor(ctx) === onHost ? this.hosts.get(onHost) : undefined;
    if (host === undefined)
      throw new ToolError(
        'unavailable',
        `Commands of this session run on the host ${onHost}, which this worker does not know. Nothing was run. An operator has to let TOOLYARD_CONFIG of the worker name the file with remoteHosts, and start it again.`,
        { retryable: false },
      );
    if (args.persistent)
      throw new ToolError(
        'invalid_arguments',
        `persistent is not available on the host ${onHost}: each command starts afresh there. Put cd and variables into the command.`,
      );
    const { command, working_dir: workingDir = '.' } = args;
    return runRemote(host, { command, workingDir, limitMs: limitOf(args), form: commandFormOf(ctx) }, ctx);
  }

  /** Submits the same call again through a gateway, which evaluates it; the new call has `startedBy` and runs the command. */
  private startInBackground({ timeout_ms = BACKGROUND_TIMEOUT_MS }: Input, ctx: ToolContext): Promise<ToolOutput> {
    requireSession(ctx.sessionId);
    return this.gateway.run(ctx, { run_ms: timeout_ms + SLACK_MS });
  }
}

function limitOf({ background, timeout_ms }: Input): number {
  return timeout_ms ?? (background ? BACKGROUND_TIMEOUT_MS : DEFAULT_TIMEOUT_MS);
}
