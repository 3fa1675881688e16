import { z } from 'zod';
import { CallOutcome, CallStatus, Success } from '../calls/call.js';
import { CALL_ERROR_CODES } from '../errors/error.catalog.js';
import { Pool } from '../tools/tool.js';
import { LIMITS } from '../values/limits.js';
import { Label } from '../values/names.js';
import { anyOf, Behind, QUERY_LIMITS, QueryNumber } from './call-list.api.js';

/** Length and retention of statistics slots; `other` collects everything beyond the top. */
export const STATS = {
  slotMs: 10_000,
  coarseSlotMs: 300_000,
  keptMs: 7 * 24 * 3_600_000,
  points: 1_000,
  top: 20,
  groups: 200,
  failureSteps: 24,
  names: 3,
  recentCalls: 20,
} as const;

const Timestamp = z.iso.datetime({ offset: true });

export const StatsQuery = z
  .strictObject({
    since: Timestamp.optional().describe('Begin of the period: RFC 3339. Not said: 15 minutes before its end.'),
    until: Timestamp.optional().describe('End of the period: RFC 3339. Not said: now.'),
    stepMs: QueryNumber.int()
      .min(1)
      .optional()
      .describe(
        'Milliseconds of one point. Rounded up to a multiple of 10 s (for more than 2 hours of 5 minutes, for more than 2 days of an hour), and so that there are at most 1,000 points.',
      ),
  })
  .meta({ id: 'StatsQuery' });
export type StatsQuery = z.output<typeof StatsQuery>;

export const PeriodQuery = z
  .strictObject({
    since: Timestamp.optional().describe(
      'Begin of the period: RFC 3339. Not said: 24 hours before its end. Rounded outwards to 5 minutes, for more than 3 hours to hours, for more than 3 days to days.',
    ),
    until: Timestamp.optional().describe('End of the period: RFC 3339. Not said: now. Rounded as `since`.'),
  })
  .meta({ id: 'PeriodQuery' });
export type PeriodQuery = z.output<typeof PeriodQuery>;

export const Percentiles = z
  .object({
    count: z.number().int().describe('Number of values.'),
    p50: z
      .number()
      .optional()
      .describe('Half of the values are at most this, in milliseconds; at most 10 % from the true value. Absent where `count` is 0.'),
    p95: z.number().optional().describe('95 % of the values are at most this, in milliseconds. Absent where `count` is 0.'),
    p99: z.number().optional().describe('99 % of the values are at most this, in milliseconds. Absent where `count` is 0.'),
  })
  .meta({ id: 'Percentiles', description: 'How durations are distributed.' });
export type Percentiles = z.output<typeof Percentiles>;

export const StatsPoint = z
  .object({
    at: z.string().describe('Begin of the step: RFC 3339, UTC.'),
    submitted: z.number().int().describe('Calls that were submitted.'),
    ended: z.number().int().describe('Calls that ended.'),
    failed: z.number().int().describe('Of these: outcomes `failed`, `timed_out` and `unknown`, and completed calls with an error result.'),
    errors: z.number().int().describe('Of these: completed calls with an error result.'),
    outcomes: z.partialRecord(CallOutcome, z.number().int()).describe('Calls that ended, by outcome. Outcomes without calls are absent.'),
    wait: Percentiles.describe('From the submission to the first Start, by the time of the Start.'),
    run: Percentiles.describe('Durations of attempts, by the time they ended with the call.'),
  })
  .meta({ id: 'StatsPoint', description: 'What happened in one step.' });
export type StatsPoint = z.output<typeof StatsPoint>;

export const LiveCounts = z
  .object({
    running: z.number().int().describe('Calls that run.'),
    queued: z.number().int().describe('Calls that wait for a worker or for another attempt.'),
    suspended: z.number().int().describe('Calls that wait for a time or for other calls, without a worker; not among the queued.'),
    waitingApproval: z.number().int().describe('Calls that wait for a person to approve them.'),
    waitingInput: z.number().int().describe('Calls whose tool has asked for a value.'),
  })
  .meta({ id: 'LiveCounts', description: 'Calls that have not ended, by status.' });
export type LiveCounts = z.output<typeof LiveCounts>;

/** Largest groups first; `other` is the sum of the rest. */
const ByName = z.object({
  top: z
    .array(LiveCounts.extend({ name: z.string().describe('What the calls of the group have in common.') }))
    .describe('The largest groups, most calls first; at most 20.'),
  other: LiveCounts.optional().describe('All other groups together. Absent without any.'),
});

/** Response of `GET /v1/stats`: initial state of a live page, which events then update. */
export const Stats = z
  .object({
    since: z.string().describe('Begin of the period as it was rounded: RFC 3339, UTC.'),
    until: z.string().describe('End of the period as it was rounded: RFC 3339, UTC.'),
    stepMs: z.number().int().describe('Milliseconds of one point.'),
    series: z.array(StatsPoint).describe('One point for each step, oldest first.'),
    now: LiveCounts.extend({
      byTool: ByName.describe('The same by tool.'),
      byAgent: ByName.describe('The same by agent.'),
      byPool: z.array(LiveCounts.extend({ name: Pool.describe('The name of the pool.') })).describe('The same by pool.'),
    }).describe('Calls that have not ended.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'Stats', description: 'Numbers over time, and what runs and waits now.' });
export type Stats = z.output<typeof Stats>;

export const ToolStats = z
  .object({
    tool: z.string().describe('Canonical name of the tool.'),
    calls: z.number().int().describe('Calls that ended in the period.'),
    failed: z.number().int().describe('Of these: outcomes `failed`, `timed_out` and `unknown`, and completed calls with an error result.'),
    errors: z.number().int().describe('Of these: completed calls with an error result.'),
    errorRate: z.number().describe('`failed` divided by `calls`: 0 to 1.'),
    outcomes: z.partialRecord(CallOutcome, z.number().int()).describe('Calls that ended, by outcome. Outcomes without calls are absent.'),
    wait: Percentiles.describe('From the submission to the first Start.'),
    run: Percentiles.describe('Durations of attempts that ended with the call.'),
  })
  .meta({ id: 'ToolStats', description: 'Numbers of one tool.' });
export type ToolStats = z.output<typeof ToolStats>;

/** Response of `GET /v1/stats/tools`, most calls first. */
export const ToolStatsPage = z
  .object({
    since: z.string().describe('Begin of the period as it was rounded: RFC 3339, UTC.'),
    until: z.string().describe('End of the period as it was rounded: RFC 3339, UTC.'),
    tools: z.array(ToolStats).describe('Most calls first.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'ToolStatsPage', description: 'Numbers of a period, by tool.' });
export type ToolStatsPage = z.output<typeof ToolStatsPage>;

const AffectedNames = z.object({
  count: z.number().int().describe('How many there are.'),
  names: z.array(z.string()).describe('The names of at most 3 of them, sorted.'),
});

export const FailureGroup = z
  .object({
    fingerprint: z.string().describe('Names the group: 16 hexadecimal digits. `GET /v1/calls?fingerprint=` lists its calls.'),
    tool: z.string().describe('Canonical name of the tool.'),
    code: z.enum(CALL_ERROR_CODES).optional().describe('The code of the error. Absent for completed calls with an error result.'),
    message: z.string().describe('The message of the last failure, as it was; for a completed call its note.'),
    count: z.number().int().describe('Calls in the period.'),
    firstSeen: z.string().describe('When the first of them failed: RFC 3339, UTC.'),
    lastSeen: z.string().describe('When the last of them failed: RFC 3339, UTC.'),
    lastCallId: z.string().describe('The last of them.'),
    preview: z
      .string()
      .optional()
      .describe('The beginning of the arguments of the last of them, as JSON text. Absent from gateways of earlier releases.'),
    previousSeen: z
      .string()
      .optional()
      .describe(
        'When the newest call of the group from before the period failed: RFC 3339, UTC. Absent where none is kept: the group is new.',
      ),
    counts: z.array(z.number().int()).describe('Calls in each of 24 equal parts of the period, oldest first.'),
    agents: AffectedNames.describe('The agents whose calls failed.'),
    sessions: AffectedNames.describe('The sessions whose calls failed.'),
  })
  .meta({
    id: 'FailureGroup',
    description:
      'Failures that look alike: same tool and code, and the same message but for numbers, ids, paths and quoted parts. Completed calls with an error result are grouped by their note: commands by their program and their last words, and where they said nothing by their program and exit code.',
  });
export type FailureGroup = z.output<typeof FailureGroup>;

/** Response of `GET /v1/failures`, most calls first. */
export const FailurePage = z
  .object({
    since: z.string().describe('Begin of the period as it was rounded: RFC 3339, UTC.'),
    until: z.string().describe('End of the period as it was rounded: RFC 3339, UTC.'),
    failures: z.array(FailureGroup).describe('Most calls first.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'FailurePage', description: 'Failures of a period, in groups.' });
export type FailurePage = z.output<typeof FailurePage>;

export const ListSessionsQuery = z
  .strictObject({
    cursor: z.string().max(QUERY_LIMITS.cursorChars).optional().describe('`nextCursor` of the page before. Absent for the first page.'),
    limit: QueryNumber.int().min(1).max(LIMITS.pageSize).default(50).describe('Most sessions of the page: 1 to 200.'),
    agentId: anyOf(Label, 'agent-1').optional().describe('The agent of the newest call of the session.'),
    q: z.string().min(1).max(QUERY_LIMITS.searchChars).optional().describe('Part of the name of the session, in any case.'),
  })
  .meta({ id: 'ListSessionsQuery' });
export type ListSessionsQuery = z.output<typeof ListSessionsQuery>;

const RecentCall = z.object({
  id: z.string().describe('The call.'),
  status: CallStatus.describe('Where the call is on its way.'),
  outcome: CallOutcome.optional().describe('How the call ended. Absent before the End.'),
  isError: Success.isError,
});

export const SessionSummary = z
  .object({
    sessionId: z.string().describe('The name of the session.'),
    agentId: z.string().optional().describe('The agent of its newest call that had one. Absent without one.'),
    calls: z.number().int().describe('Its calls.'),
    running: z.number().int().describe('Of these: calls that have not ended.'),
    failed: z.number().int().describe('Of these: outcomes `failed`, `timed_out` and `unknown`, and completed calls with an error result.'),
    firstAt: z.string().describe('When its first call was submitted: RFC 3339, UTC.'),
    lastAt: z.string().describe('When one of its calls was last submitted, started or ended: RFC 3339, UTC.'),
    goal: z.string().optional().describe('The label `goal` of the newest of its recent calls that has one. Absent without one.'),
    lastCall: z
      .object({
        id: z.string().describe('The call.'),
        tool: z.string().describe('Canonical name of the tool.'),
        preview: z.string().describe('The beginning of the arguments as JSON text.'),
      })
      .optional()
      .describe('Its newest call. Absent where none is kept.'),
    recent: z.array(RecentCall).describe('Its newest calls, newest first; at most 20.'),
  })
  .meta({ id: 'SessionSummary', description: 'A session as lists show it.' });
export type SessionSummary = z.output<typeof SessionSummary>;

/** Response of `GET /v1/sessions`: sessions with calls, the latest active first. */
export const SessionPage = z
  .object({
    sessions: z.array(SessionSummary).describe('The latest active first.'),
    nextCursor: z.string().optional().describe('The `cursor` of the next page. Absent on the last.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'SessionPage', description: 'A page of sessions, the latest active first.' });
export type SessionPage = z.output<typeof SessionPage>;
