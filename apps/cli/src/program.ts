import { Command, InvalidArgumentError, Option } from 'commander';
import { EXPORT_TYPES, OnFailure } from '#contracts';
import { ARGUMENTS_HELP } from './call-arguments.js';
import type { VerifyFlags } from './archive/verify.js';
import { callIdOf, callIdsOf } from './call-ids.js';
import type { CommandContext } from './command-context.js';
import { batch, STRATEGIES, type BatchFlags } from './commands/batch.js';
import { bulk, type BulkFlags } from './commands/bulk.js';
import { call, replay, type CallFlags, type SubmitFlags } from './commands/call.js';
import { calls, output, show, type CallsFlags } from './commands/calls.js';
import { exportCalls, type ExportFlags } from './commands/export.js';
import { audit, type AuditFlags } from './commands/audit.js';
import { approvals, type ApprovalsFlags } from './commands/approvals.js';
import { decide, type DecideFlags } from './commands/decide.js';
import { erase, type EraseFlags } from './commands/erase.js';
import { input, type InputFlags } from './commands/input.js';
import { addKeys } from './commands/keys.js';
import { claudeHook, ON_ERROR, UNMAPPED, type HookFlags } from './commands/hook.js';
import { mcp, type McpFlags } from './commands/mcp.js';
import { LANGUAGES, newTool, type NewToolFlags } from './commands/new-tool.js';
import { failures, stats, type PeriodFlags } from './commands/numbers.js';
import type { PolicyTestFlags } from './commands/policy-test.js';
import { quote } from './commands/quote.js';
import { cancel, cancelBatch, steer, type CancelFlags } from './commands/sessions.js';
import { addSchedule, changeSchedule, listSchedules, type AddScheduleFlags } from './commands/schedules.js';
import { acceptSource, addSource, listSources, removeSource, type AddSourceFlags } from './commands/sources.js';
import { session, type SessionFlags } from './commands/session.js';
import { startStandalone } from './commands/start.js';
import { tools, type ToolsFlags } from './commands/tools.js';
import { usage, type UsageFlags } from './commands/usage.js';
import { watch, type WatchFlags } from './commands/watch.js';
import { drain, workers } from './commands/workers.js';
import { workerCheck, type WorkerCheckFlags } from './commands/worker-check.js';
import { doctor } from './doctor/doctor.js';
import { rebuild } from './history/rebuild.js';
import { DEFAULT_URL } from './cli.config.js';
import { EXIT_CODES_HELP } from './exit-code.js';

export interface GlobalFlags {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Creates the context from the flags, runs the command and sets its exit code. */
export type Runner = (flags: GlobalFlags, run: (context: CommandContext) => Promise<number>) => Promise<void>;

const many = (value: string, before: string[] = []) => [...before, value];

/** Every command with its flags and help. Their actions are in `commands/`. */
export function buildProgram(version: string, run: Runner, env: NodeJS.ProcessEnv): Command {
  const program = new Command('toolyard')
    .description('Starts Toolyard, runs tool calls through its gateway and watches them.')
    .version(version)
    .option('--url <url>', `the gateway (TOOLYARD_URL; default: .toolyard/address of this folder, else ${DEFAULT_URL})`)
    .option('--key <key>', 'the API key (TOOLYARD_API_KEY; default: .toolyard/key of this folder)')
    .option('--json', 'print JSON, one text a line')
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXIT_CODES_HELP);
  const add: Add = (name, description) => program.command(name).description(description);
  const start: Start = (action) => run(program.opts<GlobalFlags>(), action);
  add('start', 'everything on this machine: a private Redis and PostgreSQL, a gateway, a worker; also without any word').action(() =>
    start(startStandalone),
  );
  addCalling(add, start);
  addErasing(add, start);
  addLooking(add, start);
  addAnswering(add, start);
  addSources(add, start);
  addSchedules(add, start);
  addKeys(add, start);
  add('mcp', 'an MCP server on standard input and output, for clients that start one')
    .option('--session <id>', 'the session of its calls')
    .option('--agent <id>', 'the agent of its calls')
    .action((flags: McpFlags) => start((context) => mcp(context, flags)));
  add('worker-check', 'check a worker program against the protocol toolyard-worker/1; needs no gateway')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--only <text>', 'only scenarios whose title contains this')
    .option('--timeout <seconds>', 'how long a frame may take', Number, 15)
    .action((command: string[], flags: WorkerCheckFlags) => start((context) => workerCheck(context, command, flags)));
  addArchive(add, start, program);
  addHooks(add, start, env);
  add('history', 'the database of lists and numbers')
    .command('rebuild')
    .description('make all its rows again from the event log; needs REDIS_URL and DATABASE_URL, and no gateway')
    .action(() => start((context) => rebuild(context, env)));
  add('doctor', 'check gateway, key, versions, config file, clocks, Redis, workers, sandboxes, search and disks').action(() =>
    start((context) => doctor(context, env)),
  );
  return program;
}

type Add = (name: string, description: string) => Command;
type Start = (action: (context: CommandContext) => Promise<number>) => Promise<void>;

/** Their modules are loaded when they run: no other command needs them. */
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

function addCalling(add: Add, start: Start): void {
  submitFlags(add('call', 'submit a call, show it until its end, exit with its outcome'))
    .argument('<tool>', 'which tool')
    .argument('[arguments...]', 'name=value, name:=JSON, a JSON object, or -')
    .option('--idempotency-key <key>', 'the same key and arguments make one call')
    .option('--no-wait', 'print the id and do not wait')
    .addHelpText('after', ARGUMENTS_HELP)
    .action((tool: string, words: string[], flags: CallFlags) => start((context) => call(context, tool, words, flags)));
  submitFlags(add('quote', 'dry run: whether a call would run now, ask or be denied'))
    .argument('<tool>', 'which tool')
    .argument('[arguments...]', 'as for call')
    .action((tool: string, words: string[], flags: SubmitFlags) => start((context) => quote(context, tool, words, flags)));
  add('replay', 'run an ended call again, with other arguments if given')
    .argument('<call-id>')
    .argument('[arguments...]', 'as for call; all of them')
    .option('--no-wait', 'print the id and do not wait')
    .action((id: string, words: string[], flags: { wait: boolean }) =>
      start(async (context) => replay(context, await callIdOf(context, id), words, flags)),
    );
  add('cancel', 'stop calls, or everything in a session')
    .argument('[call-ids...]')
    .option('--session <id>', 'everything in this session')
    .option('--reason <text>', 'kept with the call')
    .option('--grace <duration>', 'how long a tool may take to stop by itself, such as 5s')
    .action((ids: string[], flags: CancelFlags) => start(async (context) => cancel(context, await callIdsOf(context, ids), flags)));
  addBatches(add, start);
  for (const [what, description] of [
    ['cancel', 'stop all calls that match the filters and have not ended'],
    ['replay', 'run all calls again that match the filters and have ended'],
  ] as const)
    filterFlags(add(`${what}-all`, `${description}; shows their number and asks`))
      .option('--dry-run', 'only show their number')
      .option('--yes', 'do not ask')
      .action((flags: BulkFlags) => start((context) => bulk(context, what, flags)));
}

function addBatches(add: Add, start: Start): void {
  const batches = add('batch', 'calls of one model turn: submit them together, or stop them');
  batches
    .command('run', { isDefault: true })
    .description('submit calls, one JSON object a line, and show their results in order')
    .argument('<file>', 'such as calls.jsonl; - reads standard input')
    .option('--session <id>', 'the session that the calls belong to')
    .option('--agent <id>', 'the agent that they are for')
    .addOption(new Option('--strategy <strategy>', 'in which order they run').choices(STRATEGIES))
    .addOption(new Option('--on-failure <what>', 'what the failure of one means for the others').choices(OnFailure.options))
    .option('--idempotency-key <key>', 'the same key and calls make one batch')
    .option('--no-wait', 'print the id and do not wait')
    .action((file: string, flags: BatchFlags) => start((context) => batch(context, file, flags)));
  batches
    .command('cancel')
    .description('stop a batch and its calls')
    .argument('<batch-id>')
    .option('--reason <text>', 'kept with the calls')
    .option('--grace <duration>', 'how long a tool may take to stop by itself, such as 5s')
    .action((id: string, flags: CancelFlags) => start((context) => cancelBatch(context, id, flags)));
}

function addErasing(add: Add, start: Start): void {
  filterFlags(add('erase', 'erase the content of ended calls, by their ids or by filters (scope admin); cannot be undone'))
    .argument('[call-ids...]')
    .option('--reason <text>', 'kept in the record of erasures')
    .option('--dry-run', 'with filters: only show their number')
    .option('--yes', 'with filters: do not ask')
    .option('--no-wait', 'with ids: do not wait until all copies are deleted')
    .action((ids: string[], flags: EraseFlags) => start(async (context) => erase(context, await callIdsOf(context, ids), flags)));
}

function addLooking(add: Add, start: Start): void {
  add('watch', 'show events live until Ctrl-C')
    .option('--call <id>', 'of one call')
    .option('--session <id>', 'of one session')
    .option('--agent <id>', 'of one agent')
    .option('--tool <name>', 'of one tool')
    .option('--type <type>', 'only these events, such as start or end; may be given again', many)
    .option('--cursor <cursor>', 'continue after this cursor, as --json prints it')
    .action((flags: WatchFlags) => start((context) => watch(context, flags)));
  filterFlags(add('calls', 'list calls, newest first'))
    .option('--limit <count>', 'maximum number of calls', count, 20)
    .action((flags: CallsFlags) => start((context) => calls(context, flags)));
  listFlags(add('session', 'sessions that had calls; with a name: its calls as a tree, oldest first'), 50)
    .argument('[name]')
    .action((name: string | undefined, flags: SessionFlags) => start((context) => session(context, name, flags)));
  listFlags(add('stats', 'what runs and waits now, and numbers by tool of the last 24 hours'), 50)
    .option('--until <when>', 'end of the period')
    .action((flags: PeriodFlags) => start((context) => stats(context, flags)));
  listFlags(add('failures', 'failures of the last 24 hours, alike ones together'), 20)
    .option('--until <when>', 'end of the period')
    .action((flags: PeriodFlags) => start((context) => failures(context, flags)));
  add('usage', 'what the agents of the tenant used, by hour or day')
    .option('--since <when>', '15m, 2h, 3d, or a time; default: 24 hours')
    .option('--until <when>', 'end of the period')
    .addOption(new Option('--per <step>', 'what a line is about').choices(['hour', 'day']).default('hour'))
    .option('--agent <id>', 'of these agents')
    .option('--csv', 'comma-separated values with a head')
    .action((flags: UsageFlags) => start((context) => usage(context, flags)));
  filterFlags(
    add('policy', 'what policy would say')
      .command('test')
      .description('which recorded calls a changed config file would judge otherwise; nothing runs (scope admin)')
      .argument('<config-file>'),
  )
    .option('--limit <count>', 'the newest calls that fit', count, 100)
    .option('--fail-on-change', 'exit with 3 when a verdict would change')
    .action((path: string, flags: PolicyTestFlags) =>
      start(async (context) => (await import('./commands/policy-test.js')).testPolicy(context, path, flags)),
    );
  listFlags(add('audit', 'who changed keys, sessions, grants, sources, schedules or the config, newest first (scope admin)'), 50)
    .option('--type <type>', 'only these acts, such as key_created; may be given again', many)
    .option('--by <key-id>', 'with this key')
    .option('--target <id>', 'what was changed: a key, session, source, schedule, delivery or call')
    .option('--until <when>', 'done until')
    .action((flags: AuditFlags) => start((context) => audit(context, flags)));
  add('workers', 'workers with what they serve and run').action(() => start(workers));
  add('drain', 'let workers take no more calls, and wait until those that they run have ended (scope operate)')
    .argument('<worker-ids...>')
    .option('--no-wait', 'do not wait')
    .action((ids: string[], flags: { wait: boolean }) => start((context) => drain(context, ids, flags)));
  filterFlags(add('export', 'all events of the calls that match, also those that have left Redis; restart it when it fails'))
    .addOption(new Option('--format <format>', 'an event a line, or a row').choices(Object.keys(EXPORT_TYPES)).default('jsonl'))
    .option('--acts', 'also administrative acts, after the calls (scope admin)')
    .option('-o, --output <file>', 'to this file, which has its name when it is complete; default: standard output')
    .action((flags: ExportFlags) => start((context) => exportCalls(context, flags)));
  add('show', 'one call, with its result')
    .argument('<call-id>')
    .action((id: string) => start(async (context) => show(context, await callIdOf(context, id))));
  add('output', 'the complete output of an ended call')
    .argument('<call-id>')
    .action((id: string) => start(async (context) => output(context, await callIdOf(context, id))));
  const tool = add('tools', 'the tools that this key may use; with a name, all about that one')
    .argument('[name]')
    .option('--search <word>', 'in names and descriptions')
    .option('--session <id>', 'as this session has them')
    .option('--agent <id>', 'as this agent has them')
    .addOption(new Option('--format <format>', 'in the shape of a model API').choices(['anthropic', 'openai', 'mcp']))
    .action((name: string | undefined, flags: ToolsFlags) => start((context) => tools(context, name, flags)));
  tool
    .command('new')
    .description('write a tool in a folder of its own, with a test')
    .argument('<name>')
    .addOption(new Option('--lang <language>', 'what it is written in').choices(LANGUAGES).default('python'))
    .option('--folder <path>', 'where folder tools are', 'tools')
    .action((name: string, flags: NewToolFlags) => start((context) => newTool(context, name, flags)));
}

function addSchedules(add: Add, start: Start): void {
  const schedules = add('schedules', 'calls that are submitted at due times');
  schedules
    .command('list', { isDefault: true })
    .description('schedules with their next due times')
    .action(() => start(listSchedules));
  schedules
    .command('add')
    .description('submit a call at due times')
    .argument('<tool>', 'which tool')
    .argument('[arguments...]', 'as for call')
    .option('--cron <expression>', 'such as "0 7 * * 1-5"')
    .option('--time-zone <zone>', 'of the cron expression, such as Europe/Berlin; UTC if not said')
    .option('--every <duration>', 'such as 30s or 2h')
    .option('--at <time>', 'once: RFC 3339')
    .option('--name <name>', 'for people')
    .option('--session <id>', 'the session of the calls')
    .addOption(new Option('--overlap <what>', 'when the call before has not ended').choices(['skip', 'queue', 'cancel']))
    .addOption(new Option('--missed <what>', 'what was due while no gateway ran').choices(['run', 'skip']))
    .action((tool: string, words: string[], flags: AddScheduleFlags) => start((context) => addSchedule(context, tool, words, flags)));
  for (const [name, description] of [
    ['remove', 'end a schedule; its calls go on'],
    ['pause', 'make no more calls until it is resumed'],
    ['resume', 'go on'],
    ['run', 'submit its call now'],
  ] as const)
    schedules
      .command(name)
      .description(description)
      .argument('<schedule-id>')
      .action((id: string) => start((context) => changeSchedule(context, name, id)));
}

function addSources(add: Add, start: Start): void {
  const sources = add('sources', 'tool sources: MCP servers, folders of tools (scope admin)');
  sources
    .command('list')
    .description('sources with their health; with a name, its tools and what changed')
    .argument('[name]')
    .action((name: string | undefined) => start((context) => listSources(context, name)));
  sources
    .command('add')
    .description('add an MCP server by --url or, after --, by its command; or any source as JSON')
    .argument('<name-or-json>')
    .argument('[command...]')
    .option('--url <url>', 'address of the server')
    .option('--header <name=value>', 'sent with each request; name=$VARIABLE is a secret of the workers', many)
    .option('--include <glob>', 'only these tools; may be given again', many)
    .option('--exclude <glob>', 'not these tools; may be given again', many)
    .action((name: string, command: string[], flags: AddSourceFlags) => start((context) => addSource(context, [name, ...command], flags)));
  sources
    .command('remove')
    .description('remove a source that was added by `sources add`')
    .argument('<name>')
    .action((name: string) => start((context) => removeSource(context, name)));
  sources
    .command('accept')
    .description('accept changed tools; shows what it accepts')
    .argument('<name>')
    .argument('[tools...]', 'only these')
    .action((name: string, tools: string[]) => start((context) => acceptSource(context, name, tools)));
}

function addHooks(add: Add, start: Start, env: NodeJS.ProcessEnv): void {
  add('hook', 'ask the policy about what an agent runs by itself')
    .command('claude')
    .description('a PreToolUse hook of Claude Code: reads its JSON on standard input, prints the decision')
    .addOption(new Option('--on-error <decision>', 'if the policy cannot be asked').choices(ON_ERROR).default('ask'))
    .addOption(new Option('--unmapped <decision>', 'for tools without an equivalent here').choices(UNMAPPED).default('none'))
    .option('--map <tool=name>', 'ask about this tool of Claude Code as about that tool; may be given again', many)
    .option('--session <id>', 'whose posture and grants hold; default: the session of Claude Code')
    .option('--agent <id>', 'whose policy holds')
    .option('--timeout <duration>', 'how long to wait for the answer', '10s')
    .action((flags: HookFlags) => start((context) => claudeHook(context, flags, env)));
}

function addAnswering(add: Add, start: Start): void {
  add('approvals', 'calls that wait for a person; asks about each on a terminal, lists them in a pipe')
    .option('--session <id>', 'of this session')
    .option('--risk <risk>', 'low, medium, high; several with commas')
    .option('--limit <count>', 'maximum number of calls', count, 1000)
    .option('--list', 'only list them')
    .action((flags: ApprovalsFlags) => start((context) => approvals(context, flags)));
  for (const [name, decision] of [
    ['approve', 'allow'],
    ['deny', 'deny'],
  ] as const) {
    const command = add(name, `${decision} a call that waits for a person`)
      .argument('<call-id>')
      .addOption(
        new Option('--always <what>', 'also later calls of the session: of this tool, or with arguments like these').choices([
          'tool',
          'args',
        ]),
      )
      .option('--trust <option>', 'which of the trust options, with --always args')
      .option('--reason <text>', 'kept with the decision')
      .option('--follow', 'show the call until its end')
      .action((id: string, flags: DecideFlags) => start(async (context) => decide(context, decision, await callIdOf(context, id), flags)));
    if (decision === 'allow') command.option('--arguments <json>', 'run it with these arguments instead; - reads them from stdin');
  }
  add('input', 'give a call the value that its tool has asked for; without a value: show the question')
    .argument('<call-id>')
    .argument('[value]', 'JSON, or a text; - reads it from stdin')
    .option('--decline', 'give none, where the tool goes on without')
    .option('--follow', 'show the call until its end')
    .action((id: string, value: string | undefined, flags: InputFlags) =>
      start(async (context) => input(context, await callIdOf(context, id), value, flags)),
    );
  add('steer', "leave a message for the session's agent; it comes with its next batch")
    .argument('<session>')
    .argument('<message...>')
    .action((session: string, words: string[]) => start((context) => steer(context, session, words)));
}

function submitFlags(command: Command): Command {
  return command
    .option('--session <id>', 'the session that the call belongs to')
    .option('--agent <id>', 'the agent that it is for')
    .addOption(new Option('--priority <priority>').choices(['high', 'normal', 'low']))
    .option('--timeout <duration>', 'how long it may run, such as 30s')
    .option('--label <name=value>', 'kept with the call; may be given again', many)
    .option('--tool-call-id <id>', "the model's own id of the call");
}

function filterFlags(command: Command): Command {
  return command
    .option('--status <status>', 'queued, running, waiting_approval, ended; several with commas')
    .option('--outcome <outcome>', 'completed, failed, cancelled, timed_out, denied, unknown')
    .option('--result <result>', 'ok or error: whether it succeeded')
    .option('--tool <name>', 'of these tools')
    .option('--session <id>', 'of these sessions')
    .option('--agent <id>', 'of these agents')
    .option('--user <id>', 'made for these users')
    .option('--risk <risk>', 'what they may do at most: low, medium, high')
    .option('--schedule <id>', 'that these schedules submitted')
    .option('--pool <pool>', 'of these pools')
    .option('--error-code <code>', 'that failed with this code')
    .option('--since <when>', 'submitted since: 15m, 2h, or a time')
    .option('--until <when>', 'submitted until')
    .option('--search <words>', 'words in ids, labels, errors and small arguments');
}

function listFlags(command: Command, limit: number): Command {
  return command.option('--since <when>', '15m, 2h, 3d, or a time').option('--limit <count>', 'maximum number of lines', count, limit);
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
