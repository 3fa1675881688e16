import { realpath } from 'node:fs/promises';
import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { DisabledSandbox, type ProcessCommand, Sandbox, findExecutable, resolveSandboxView } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { sessionOwnerOf } from '../session-owner.js';
import { openCommandQuota } from './command-quota.js';
import { runBash } from './command/run-bash.js';
import { requireSandbox, startFailure } from './command/run-command.js';
import { DRIVERS, type InterpreterLanguage } from './repl/drivers.js';
import { Interpreter } from './repl/interpreter.js';
import { Interpreters, type InterpreterAnswer } from './repl/interpreters.port.js';
import { LocalInterpreters } from './repl/local-interpreters.js';
import { replFailure, replOutput } from './repl/repl-text.js';
import { commandFormOf } from './command-form.js';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
/** Time for interrupt and kill. */
const SLACK_MS = 10_000;
const MOST_MEMORY_BYTES = 1_073_741_824;

const LANGUAGES: Readonly<Record<string, InterpreterLanguage | 'bash'>> = {
  python: 'python',
  py: 'python',
  node: 'node',
  javascript: 'node',
  js: 'node',
  bash: 'bash',
  sh: 'bash',
  shell: 'bash',
};

const input = z.strictObject({
  language: z.enum(['python', 'py', 'node', 'javascript', 'js', 'bash', 'sh', 'shell']).describe('Language of the code.'),
  code: z.string().min(1).max(100_000).describe('Code to run. The value of its last expression is shown.'),
  timeout_ms: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Milliseconds after which the code is interrupted. Default 60,000.'),
});
type Input = z.output<typeof input>;

@Tool({
  name: 'repl',
  label: 'Run code',
  description:
    'Runs Python, JavaScript (Node.js) or bash code in the workspace and returns its output, the value of its last expression, or its error. ' +
    'In a session, variables, functions and imports last from one call to the next, for each language by itself; for bash it is the shell of shell with persistent: true. ' +
    'Between calls the interpreter of Python and Node.js, its threads and timers and all processes that it started are paused; they end with the interpreter. For servers use shell with background: true. ' +
    'Where the state of earlier calls is lost the answer says so: an interpreter ends when it was not used for 30 minutes, uses more than 1 GiB of memory, or another worker takes the call. ' +
    'After 60 seconds (timeout_ms: up to 600,000) the code is interrupted, and the answer says whether the state was kept. Standard input is empty. Of a stream of more than 1 MiB, beginning and end are kept.',
  input,
  tier: 'privileged',
  effect: 'once',
  pool: 'shell',
  subjects: [{ kind: 'command', argument: 'code', languageArgument: 'language' }],
  timeoutMs: MAX_TIMEOUT_MS + SLACK_MS,
  aliases: ['REPL'],
  argumentAliases: { timeout_ms: ['timeout'] },
  examples: [
    { title: 'A value that is kept', arguments: { language: 'python', code: 'import math\nradius = 2\nmath.pi * radius ** 2' } },
    { title: 'JavaScript', arguments: { language: 'node', code: '[1, 2, 3].map((n) => n * n)' } },
  ],
})
export class ReplTool {
  private readonly shell = findExecutable(['bash', 'sh']) ?? '/bin/sh';

  constructor(
    @Optional() private readonly sandbox: Sandbox = new DisabledSandbox('no sandbox was chosen for this process'),
    @Optional() private readonly interpreters: Interpreters = new LocalInterpreters(),
  ) {}

  async run({ language: named, code, timeout_ms: limitMs = DEFAULT_TIMEOUT_MS }: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    await requireSandbox(this.sandbox, 'repl');
    const root = await realpath(ctx.workspace.root);
    const language = LANGUAGES[named] ?? 'bash';
    if (language !== 'bash') return this.interpret({ language, code, limitMs, root }, ctx);
    const persistent = ctx.sessionId === undefined ? {} : { persistent: { folder: undefined } };
    const form = commandFormOf(ctx);
    return runBash(this.sandbox, { shell: this.shell, command: code, cwd: root, root, limitMs, form, ...persistent }, ctx);
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.interpreters.close();
  }

  private async interpret(asked: Asked, ctx: ToolContext): Promise<ToolOutputObject> {
    const { language, code, limitMs, root } = asked;
    const quota = await openCommandQuota(ctx.workspace.quota);
    try {
      const view = await resolveSandboxView({ ...ctx.workspace, root }, ctx.signal);
      const limit = AbortSignal.timeout(limitMs);
      const command = quota.limit(withMemoryLimit(this.sandbox.wrap(this.command(asked, ctx), root, view)));
      const run = {
        code,
        signal: AbortSignal.any([ctx.signal, limit, quota.signal]),
        onText: (stream: string, text: string, cut: boolean) => ctx.onUpdate([{ type: 'text', text }], { stream, truncated: cut }),
      };
      const answer = await this.answer(language, JSON.stringify([root, view]), command, run, ctx);
      ctx.onCpuTime?.(answer.cpuMs);
      const reason: unknown = quota.signal.reason;
      const failure = replFailure(answer, reason instanceof ToolError ? reason : undefined, limit.aborted ? limitMs : undefined, ctx);
      if (failure !== undefined) throw failure;
      return replOutput(language, answer, this.sandbox, ctx);
    } catch (error) {
      throw startFailure(error);
    } finally {
      quota.close();
    }
  }

  private async answer(
    language: InterpreterLanguage,
    view: string,
    command: ProcessCommand,
    run: Parameters<Interpreter['run']>[0],
    ctx: ToolContext,
  ): Promise<InterpreterAnswer> {
    const owner = sessionOwnerOf(ctx);
    if (owner !== undefined) return this.interpreters.run({ key: { ...owner, language }, view, command }, run);
    const interpreter = await Interpreter.start(command);
    return interpreter.run(run).finally(() => interpreter.stop());
  }

  /** @throws ToolError `unavailable` where commands of this worker have no such program */
  private command({ language, root }: Asked, { env }: ToolContext): ProcessCommand {
    const { programs, args } = DRIVERS[language];
    const file = this.sandbox.findProgram(programs, env['PATH']);
    if (file === undefined)
      throw new ToolError(
        'unavailable',
        `${language} runtime not found (expected ${programs.map((it) => `\`${it}\``).join(' or ')} in PATH)`,
        {
          retryable: false,
        },
      );
    return { file, args, cwd: root, env: { ...env, HOME: root, PWD: root, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8' } };
  }
}

interface Asked {
  readonly language: InterpreterLanguage;
  readonly code: string;
  readonly limitMs: number;
  readonly root: string;
}

function withMemoryLimit(command: ProcessCommand): ProcessCommand {
  const { limits } = command;
  return limits === undefined
    ? command
    : { ...command, limits: { ...limits, memoryBytes: Math.min(limits.memoryBytes, MOST_MEMORY_BYTES) } };
}
