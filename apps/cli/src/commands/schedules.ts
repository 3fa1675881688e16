import { Option } from 'commander';
import { ScheduleId, type Schedule } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { matchingSchedules, scheduleRow } from '../terminal/schedule-row.js';
import { table } from '../terminal/table.js';
import { argumentsOf } from '../tool-arguments.js';
import { parseDuration } from '../terminal/time-text.js';
import { UsageError } from '../usage-error.js';
import type { Add, Start } from './command-registration.js';

interface AddScheduleFlags {
  readonly cron?: string;
  readonly timeZone?: string;
  readonly every?: string;
  readonly at?: string;
  readonly name?: string;
  readonly session?: string;
  readonly overlap?: Schedule['overlap'];
  readonly missed?: Schedule['missed'];
}

export function addSchedules(add: Add, start: Start): void {
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

async function listSchedules({ client, terminal, json }: CommandContext): Promise<number> {
  const schedules = await client.schedules.list();
  if (json) for (const schedule of schedules) terminal.json(schedule);
  else
    for (const line of table(
      schedules.map((it) => scheduleRow(it, Date.now(), terminal.isRead)),
      terminal.width,
    ))
      terminal.line(line);
  if (schedules.length === 0 && !json) terminal.note('There are no schedules.');
  return 0;
}

async function addSchedule(
  { client, terminal, json }: CommandContext,
  tool: string,
  words: readonly string[],
  flags: AddScheduleFlags,
): Promise<number> {
  const { every, session, ...settings } = flags;
  const schedule = await client.schedules.create({
    ...settings,
    ...(every === undefined ? {} : { everyMs: parseDuration(every) }),
    call: { tool, arguments: await argumentsOf({ client }, tool, words), sessionId: session },
  });
  if (json) terminal.json(schedule);
  else {
    terminal.line(schedule.id);
    terminal.note(`Runs next at ${schedule.nextRuns.join(', ')}.`);
  }
  return 0;
}

async function changeSchedule(
  { client, terminal, json }: CommandContext,
  what: 'remove' | 'pause' | 'resume' | 'run',
  text: string,
): Promise<number> {
  const id = await scheduleIdOf({ client }, text);
  if (what === 'remove') {
    await client.schedules.delete(id);
    terminal.note(`The schedule ${id} was removed.`);
    return 0;
  }
  const answer = what === 'run' ? await client.schedules.run(id) : await client.schedules[what](id);
  if (json) terminal.json(answer);
  else if (what === 'run') terminal.line(answer.id);
  else terminal.note(`The schedule ${id} is ${what === 'pause' ? 'paused' : 'resumed'}.`);
  return 0;
}

/** @throws UsageError for a text that names no schedule, or several */
async function scheduleIdOf({ client }: Pick<CommandContext, 'client'>, text: string): Promise<string> {
  if (ScheduleId.safeParse(text).success) return text;
  const [only, ...more] = matchingSchedules(await client.schedules.list(), text);
  if (only === undefined) throw new UsageError(`No schedule has an id that ends in ${text}; \`toolyard schedules\` lists them`);
  if (more.length > 0) throw new UsageError(`${text} names several schedules: ${[only, ...more].map(({ id }) => id).join(', ')}`);
  return only.id;
}
