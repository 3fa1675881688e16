import type { Schedule } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { oneLine } from '../terminal/safe-text.js';
import { table } from '../terminal/table.js';
import { argumentsOf } from '../tool-arguments.js';
import { parseDuration } from '../terminal/time-text.js';

export interface AddScheduleFlags {
  readonly cron?: string;
  readonly timeZone?: string;
  readonly every?: string;
  readonly at?: string;
  readonly name?: string;
  readonly session?: string;
  readonly overlap?: Schedule['overlap'];
  readonly missed?: Schedule['missed'];
}

export async function listSchedules({ client, terminal, json }: CommandContext): Promise<number> {
  const schedules = await client.schedules.list();
  if (json) for (const schedule of schedules) terminal.json(schedule);
  else for (const line of table(schedules.map(row), terminal.width)) terminal.line(line);
  if (schedules.length === 0 && !json) terminal.note('There are no schedules.');
  return 0;
}

export async function addSchedule(
  { client, terminal, json }: CommandContext,
  tool: string,
  words: readonly string[],
  flags: AddScheduleFlags,
): Promise<number> {
  const { every, session, ...settings } = flags;
  const schedule = await client.schedules.create({
    ...settings,
    ...(every === undefined ? {} : { everyMs: parseDuration(every) }),
    call: { tool, arguments: await argumentsOf({ client }, tool, words), ...(session === undefined ? {} : { sessionId: session }) },
  });
  if (json) terminal.json(schedule);
  else {
    terminal.line(schedule.id);
    terminal.note(`Runs next at ${schedule.nextRuns.join(', ')}.`);
  }
  return 0;
}

export async function changeSchedule(
  { client, terminal, json }: CommandContext,
  what: 'remove' | 'pause' | 'resume' | 'run',
  id: string,
): Promise<number> {
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

function row({ id, name = '', cron, everyMs, at, timeZone, paused, nextRuns, lastRun, call }: Schedule): string[] {
  const when = cron === undefined ? (everyMs === undefined ? `at ${at}` : `every ${everyMs} ms`) : `${cron} ${timeZone}`;
  const state = paused === undefined ? `next ${nextRuns[0] ?? 'never'}` : `paused: ${oneLine(paused.reason, 200)}`;
  const last = lastRun === undefined ? '' : `last ${lastRun.skipped ?? lastRun.error?.code ?? lastRun.callId ?? ''}`;
  return [id, oneLine(name, 40), call.tool, when, state, last];
}
