import type { Command } from 'commander';
import type { CallFilterInput } from '#contracts';
import { parseSince } from '../terminal/time-text.js';

/** Flags that select calls. */
export interface FilterFlags {
  readonly status?: string;
  readonly outcome?: string;
  readonly result?: string;
  readonly tool?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly risk?: string;
  readonly schedule?: string;
  readonly pool?: string;
  readonly errorCode?: string;
  readonly since?: string;
  readonly until?: string;
  readonly search?: string;
}

export function filterFlags(command: Command): Command {
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

export function filterOf(flags: FilterFlags, now: number): CallFilterInput {
  const { status, outcome, result, tool, session, agent, user, risk, schedule, pool, errorCode, since, until, search } = flags;
  return {
    status,
    outcome,
    result,
    tool,
    pool,
    errorCode,
    sessionId: session,
    agentId: agent,
    userId: user,
    risk,
    scheduleId: schedule,
    q: search,
    since: since === undefined ? undefined : parseSince(since, now),
    until: until === undefined ? undefined : parseSince(until, now),
  };
}
