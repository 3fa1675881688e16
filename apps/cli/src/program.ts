import { Command } from 'commander';
import type { VerifyFlags } from './archive/verify.js';
import { DEFAULT_URL } from './cli.config.js';
import type { CommandContext } from './command-context.js';
import { addAnswering } from './commands/answering/answering.commands.js';
import { addCalling } from './commands/calling/calling.commands.js';
import type { Add, Start } from './commands/command-registration.js';
import { addHooks } from './commands/hook.js';
import { addKeys } from './commands/keys.js';
import { addMcp } from './commands/mcp.js';
import { addDetails, addLists } from './commands/reading/reading.commands.js';
import { addSchedules } from './commands/schedules.js';
import { addSources } from './commands/sources.js';
import { startStandalone } from './commands/start.js';
import { addTools } from './commands/tools/tools.commands.js';
import { workerCheck, type WorkerCheckFlags } from './commands/worker-check.js';
import { addWorkers } from './commands/workers.js';
import type { DemoFlags } from './demo/demo.js';
import { doctor, type DoctorFlags } from './doctor/doctor.js';
import { EXIT_CODES_HELP } from './exit-code.js';
import { rebuild } from './history/rebuild.js';

export interface GlobalFlags {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Creates the context from the flags, runs the command and sets its exit code. */
export type Runner = (flags: GlobalFlags, run: (context: CommandContext) => Promise<number>) => Promise<void>;

/** Program with all commands, in the order of the help. Most are registered next to their code, in `commands/`. */
export function buildProgram(version: string, run: Runner, env: NodeJS.ProcessEnv): Command {
  const program = new Command('toolyard')
    .description('Starts Toolyard, runs tool calls through its gateway and watches them.')
    .version(version)
    .option('--url <url>', `the gateway (TOOLYARD_URL; default: .toolyard/address of this folder, else ${DEFAULT_URL})`)
    .option('--key <key>', 'the API key (TOOLYARD_API_KEY; default: .toolyard/key of this folder)')
    .option('--json', 'print JSON, one text a line')
    .showHelpAfterError('(see --help)')
    // Prefix of every other message of this program. Commands that are added below inherit it.
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'toolyard: ')) })
    .addHelpText('after', EXIT_CODES_HELP);
  const add: Add = (name, description) => program.command(name).description(description);
  const start: Start = (action) => run(program.opts<GlobalFlags>(), action);
  add('start', 'everything on this machine: a private Redis and PostgreSQL, a gateway, a worker; also without any word').action(() =>
    start(startStandalone),
  );
  addCalling(add, start);
  addLists(add, start);
  addWorkers(add, start);
  addDetails(add, start);
  addTools(add, start);
  addAnswering(add, start);
  addSources(add, start);
  addSchedules(add, start);
  addKeys(add, start);
  addPrograms(add, start);
  addArchive(add, start, program);
  addHooks(add, start, env);
  addInstallation(add, start, env);
  return program;
}

/** Adds commands that other programs start, or that start others. */
function addPrograms(add: Add, start: Start): void {
  addMcp(add, start);
  add('worker-check', 'check a worker program against the protocol toolyard-worker/1; needs no gateway')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--only <text>', 'only scenarios whose title contains this')
    .option('--timeout <seconds>', 'how long a frame may take', Number, 15)
    .action((command: string[], flags: WorkerCheckFlags) => start((context) => workerCheck(context, command, flags)));
}

/** Adds `verify`, whose module is loaded on use: no other command needs it. */
function addArchive(add: Add, start: Start, program: Command): void {
  add('verify', 'verify an archive, or the proof of a call; needs no gateway. --key is the public key of the archive')
    .argument('<archive>', 'a folder, file:folder, s3://bucket/prefix, or the file of a proof')
    .option('--published <archive>', 'where checkpoints were published too (CHECKPOINT_URL)')
    .option('--call <id>', 'whether this call is in the signed archive')
    .option('--proof <file>', 'with --call: write a proof that others verify with this command')
    .action((archive: string, flags: VerifyFlags) =>
      start(async (context) =>
        (await import('./archive/verify.js')).verify(context, archive, { ...flags, key: program.opts<GlobalFlags>().key }),
      ),
    );
}

const DEMO_HELP = `
Makes 500 real calls, in about a minute: edits, tests and builds that fail and pass, answered and open approvals,
sub-agents, schedules. They are in the log as of now, not of last week. Commands run as those of agents do; no model is
asked. It needs a key with the scopes submit, read, approve, admin and work, as that of \`npm start\`.`;

/** Adds commands for the maintenance of an installation. */
function addInstallation(add: Add, start: Start, env: NodeJS.ProcessEnv): void {
  add('demo', 'fill an empty installation with the calls of 5 example agents, to look at Toolyard while it works')
    .option('--force', 'although there are calls: those of the demo are mixed with them')
    .addHelpText('after', DEMO_HELP)
    .action((flags: DemoFlags) => start(async (context) => (await import('./demo/demo.js')).demo(context, flags)));
  add('history', 'the database of lists and numbers')
    .command('rebuild')
    .description('make all its rows again from the event log; needs REDIS_URL and DATABASE_URL, and no gateway')
    .action(() => start((context) => rebuild(context, env)));
  add('doctor', 'check gateway, key, versions, config file, clocks, Redis, workers, sandboxes, search, disks and sources')
    .option('--all', 'a line for each check, not only for faults')
    .action((flags: DoctorFlags) => start((context) => doctor(context, env, flags)));
}
