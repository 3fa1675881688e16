import { CommanderError, type Command } from 'commander';
import { WebSocket } from 'ws';
import { ToolyardClient, ToolyardError } from '#client';
import { mistypedVariables, readCliConfig, type CliConfig } from './cli.config.js';
import { addCompletion } from './completion.js';
import type { CommandContext } from './command-context.js';
import { EXIT, exitCodeOfError } from './exit-code.js';
import { SigintHandler } from './sigint-handler.js';
import { buildProgram, type Runner } from './program.js';
import { contentText } from './terminal/result-text.js';
import { Terminal } from './terminal/terminal.js';
import { UsageError } from './usage-error.js';

/** The whole program: reads the command line, runs one command, and sets the exit code. `standalone`: the program that `start` runs. */
export async function main(version: string, standalone: string): Promise<void> {
  const { argv, env, stdout, stderr } = process;
  const terminal = new Terminal(stdout, stderr, env);
  const interrupts = new SigintHandler(process, (code) => {
    terminal.clearStatus();
    process.exit(code);
  });
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    terminal.clearStatus();
    // A reader that closes the pipe early (`| head`) has all that it wanted of a list.
    const closed = error.code === 'EPIPE';
    if (closed && !terminal.isWhole) process.exit(EXIT.completed);
    terminal.note(`toolyard: The output is not complete: ${closed ? 'its reader went away' : error.message}`, 'red');
    process.exit(EXIT.failed);
  });

  const run: Runner = async (flags, action) => {
    let client: ToolyardClient | undefined;
    let read: CliConfig | undefined;
    const json = flags.json === true;
    try {
      // Made when a command asks for it: some need no gateway and no key.
      const context: CommandContext = {
        get config() {
          if (read === undefined) for (const sentence of mistypedVariables(env)) terminal.note(sentence, 'yellow');
          return (read ??= readCliConfig(flags, env));
        },
        get client() {
          return (client ??= clientOf(this.config.url, this.config.apiKey));
        },
        terminal,
        json,
        interrupts,
        version,
        standalone,
      };
      process.exitCode = await action(context);
    } catch (error) {
      process.exitCode = reportError(error, { terminal, json, urlFrom: read?.urlFrom, keyFrom: read?.keyFrom });
    } finally {
      client?.close();
    }
  };

  const program = buildProgram(version, run, env);
  await addCompletion(program, argv.slice(2), env);
  for (const command of withSubcommands(program)) command.exitOverride();
  try {
    // Default command `start`: the first start of a new program, with no call to make yet.
    await program.parseAsync(argv.length > 2 ? argv : [...argv, 'start']);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.completed : EXIT.usage;
  }
}

/** Each throws instead of exiting with 1: wrong usage is 2, which also blocks what a hook is asked about. */
function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function clientOf(baseUrl: string, apiKey: string): ToolyardClient {
  try {
    return new ToolyardClient({ baseUrl, apiKey, WebSocket });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Prints the error for people or as one JSON text, and returns its exit code. Bugs of this program are rethrown. */
function reportError(
  error: unknown,
  { terminal, json, urlFrom, keyFrom }: Pick<CommandContext, 'terminal' | 'json'> & Partial<Pick<CliConfig, 'urlFrom' | 'keyFrom'>>,
): number {
  if (error instanceof UsageError) {
    terminal.note(`toolyard: ${error.message}`);
    return EXIT.usage;
  }
  if (!(error instanceof ToolyardError)) throw error;
  if (error.code === 'aborted') return EXIT.interrupted;
  if (json) terminal.json({ error: error.problem ?? { code: error.code, detail: error.message } });
  else {
    terminal.note(`toolyard: ${error.message}`, 'red');
    for (const { pointer, message } of error.problem?.errors ?? [])
      if (!error.message.includes(message)) terminal.note(`  ${pointer}: ${message}`);
    if (error.code === 'unreachable')
      terminal.note(`  ${urlFrom === undefined ? '' : `The address is from ${urlFrom}. `}Run \`toolyard doctor\` to find the reason.`);
    if (error.code === 'unauthenticated' && keyFrom !== undefined) terminal.note(`  The key is from ${keyFrom}.`);
    const said = error.result === undefined ? '' : contentText(error.result.content).trim();
    if (said !== '' && !error.message.includes(said) && !said.includes(error.problem?.detail ?? said)) terminal.note(said);
  }
  return exitCodeOfError(error);
}
