import type { Scope } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { Spinner } from '../terminal/spinner.js';
import { UsageError } from '../usage-error.js';
import { playWeek } from './play-week.js';
import { withSubAgent } from './sub-agent.js';
import { WEEK_SCHEDULES, weekSessions, type WeekCall, type WeekSession } from './week-sessions.js';

export interface DemoFlags {
  readonly force?: boolean;
}

const SCOPES: readonly Scope[] = ['submit', 'read', 'approve', 'admin', 'work'];

/**
 * Makes the calls of a week of 5 agents, as agents would.
 *
 * 1. check the scopes of the key, and that there is no call yet, unless --force is given
 * 2. offer the tool of the sub-agent
 * 3. play the sessions, then run the schedules
 */
export async function demo({ client, config, terminal, interrupts: { signal } }: CommandContext, flags: DemoFlags): Promise<number> {
  const { scopes } = await client.gateway.whoAmI({ signal });
  const lacking = SCOPES.filter((scope) => !scopes.includes(scope));
  if (lacking.length > 0)
    throw new UsageError(`Expected a key with the scopes ${SCOPES.join(', ')}; it lacks ${lacking.join(', ')}. \`npm start\` makes one`);
  const { calls } = await client.calls.list({ limit: 1 }, { signal });
  if (calls.length > 0 && flags.force !== true)
    throw new UsageError('Expected an installation without calls: the demo would mix its own with them. --force does so all the same');

  const sessions = weekSessions();
  const count = countOf(sessions);
  terminal.note(`${count} calls of 5 agents are made now, in about a minute. Watch them: ${config.url}/live`);
  let made = 0;
  const onCalls = (more: number) => (made += more);
  const spinner = new Spinner(terminal, () => `${made} of ${count} calls`);
  const play = { client, config, signal, onCalls, note: (text: string) => terminal.note(text) };
  await withSubAgent(play, sessions, () => playWeek(play, sessions)).finally(() => spinner.stop());
  terminal.note(`${made} calls were made in ${sessions.length} sessions. Some wait for your answer: ${config.url}/approvals`);
  terminal.note('The schedules of the demo are paused. To be rid of it all, stop Toolyard and remove its data folder.');
  return EXIT.completed;
}

/** Calls of sessions, their sub-agents and the schedules. */
export function countOf(sessions: readonly WeekSession[]): number {
  const all = sessions.flatMap(({ turns }) => turns.flat()).flatMap((call: WeekCall) => [call, ...(call.steps ?? [])]);
  return all.length + WEEK_SCHEDULES.reduce((sum, { runs }) => sum + runs, 0);
}
