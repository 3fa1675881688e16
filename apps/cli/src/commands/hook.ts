import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { CLAUDE_TOOLS, judgeToolUse, PreToolUseInput, type ClaudeDecision } from '#client/claude-agent';
import { parseExactJson } from '#contracts';
import { shellWord } from '#subject';
import { portableVariables } from '../cli.config.js';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { parseDuration } from '../terminal/time-text.js';
import { givenOptions, thisProgram } from '../this-program.js';
import { UsageError } from '../usage-error.js';
import { many, type Add, type Start } from './command-registration.js';

const ON_ERROR = ['ask', 'deny', 'allow'] as const;
const UNMAPPED = ['none', ...ON_ERROR] as const;

interface HookFlags {
  readonly onError: (typeof ON_ERROR)[number];
  readonly unmapped: ClaudeDecision;
  readonly map?: readonly string[];
  readonly session?: string;
  readonly agent?: string;
  readonly timeout: string;
  readonly printConfig?: true;
}

export function addHooks(add: Add, start: Start, env: NodeJS.ProcessEnv): void {
  add('hook', 'ask the policy about what an agent runs by itself')
    .command('claude')
    .description('a PreToolUse hook of Claude Code: reads its JSON on standard input, prints the decision')
    .addOption(new Option('--on-error <decision>', 'if the policy cannot be asked').choices(ON_ERROR).default('ask'))
    .addOption(new Option('--unmapped <decision>', 'for tools without an equivalent here').choices(UNMAPPED).default('none'))
    .option('--map <tool=name>', 'ask about this tool of Claude Code as about that tool; may be given again', many)
    .option('--session <id>', 'whose posture and grants hold; default: the session of Claude Code')
    .option('--agent <id>', 'whose policy holds')
    .option('--timeout <duration>', 'how long to wait for the answer', '10s')
    .option('--print-config', 'print the settings of Claude Code that make it ask with these options')
    .action((flags: HookFlags, command: Command) =>
      start(async (context) =>
        flags.printConfig === true
          ? printSettings(context, flags, givenOptions(command, 'printConfig'))
          : await claudeHook(context, flags, env),
      ),
    );
}

/** Prints settings for `.claude/settings.json`. Only the hook gets the variables, not the commands that Claude Code runs. */
function printSettings({ config, terminal }: CommandContext, flags: HookFlags, options: readonly string[]): number {
  const variables = Object.entries(portableVariables(config)).map(([name, value]) => `${name}=${shellWord(value)}`);
  const words = [...thisProgram(), 'hook', 'claude', ...options].map(shellWord);
  const command = [...variables, ...words].join(' ');
  const mapped = (flags.map ?? []).map((text) => mapping(text)[0]);
  const matcher = flags.unmapped === 'none' ? [...CLAUDE_TOOLS, ...mapped].join('|') : '*';
  terminal.note('For Claude Code: .claude/settings.json of the project; for all projects ~/.claude/settings.json');
  if (config.dataFolder === undefined)
    terminal.note('The API key is not printed: it is read from TOOLYARD_API_KEY in the environment of Claude Code.');
  const settings = { hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command }] }] } };
  terminal.data(`${JSON.stringify(settings, undefined, 2)}\n`);
  return EXIT.completed;
}

/**
 * A `PreToolUse` hook of Claude Code: asks the policy about a tool use on stdin and prints the decision. Exits with 0 when there
 * is an answer, also that of `--on-error`, and with 2 for wrong flags, no key or input of another kind: 2 blocks the tool use.
 */
async function claudeHook({ client, terminal }: CommandContext, flags: HookFlags, env: NodeJS.ProcessEnv): Promise<number> {
  const tools = Object.fromEntries((flags.map ?? []).map(mapping));
  const timeoutMs = parseDuration(flags.timeout);
  const input = parseInput(await readInput());
  const output = await judgeToolUse(client, input, {
    root: env['CLAUDE_PROJECT_DIR'] || input.cwd,
    realPath: linkTarget,
    sessionId: flags.session,
    agentId: flags.agent,
    onError: flags.onError,
    unmapped: flags.unmapped,
    tools,
    timeoutMs,
  });
  if (output.hookSpecificOutput !== undefined) terminal.json(output);
  return EXIT.completed;
}

function mapping(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1)
    throw new UsageError(`--map: expected <tool of Claude Code>=<tool>, such as WebSearch=web_search, got ${JSON.stringify(text)}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const MAX_INPUT_BYTES = 16 * 1_048_576;

async function readInput(): Promise<string> {
  const expected = 'expected the JSON of a PreToolUse hook on standard input';
  if (process.stdin.isTTY) throw new UsageError(`${expected}, got a terminal: this command is called by Claude Code`);
  const pieces: Buffer[] = [];
  const input: AsyncIterable<Buffer> = process.stdin;
  let bytes = 0;
  for await (const piece of input) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_INPUT_BYTES) throw new UsageError(`${expected}, got more than ${MAX_INPUT_BYTES} bytes`);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parseInput(text: string): PreToolUseInput {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw new UsageError('Expected the JSON of a PreToolUse hook on standard input, got something else');
  }
  const parsed = PreToolUseInput.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `Expected the input of a PreToolUse hook; ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it has another form'}`,
  );
}

/** Limit of the kernel for followed links. */
const MAX_LINKS = 40;

/** The file that a path means, with all symbolic links followed, also if it does not exist yet. */
function linkTarget(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || links > MAX_LINKS) return path;
    const target = linkAt(path);
    if (target !== undefined) return linkTarget(resolve(parent, target), links + 1);
    return join(linkTarget(parent, links), basename(path));
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
