import { z } from 'zod';
import { CallOutcome } from '../calls/call.js';
import { CALL_ERROR_CODES } from '../errors/error.catalog.js';
import { Pool } from '../tools/tool.js';
import { LIMITS } from './calls.api.js';
import { Behind, QUERY_LIMITS, QueryNumber } from './call-list.api.js';

/** Numbers are kept in slots of this length and for so long; `other` gathers what is beyond the top. */
export const STATS = { slotMs: 10_000, coarseSlotMs: 300_000, keptMs: 7 * 24 * 3_600_000, points: 1_000, top: 20, groups: 200 } as const;

const Timestamp = z.iso.datetime({ offset: true });

/**
 * `stepMs` is rounded up to a multiple of 10 s (for more than 2 hours of 5 minutes, for more than 2 days of an hour), and so
 * that there are at most 1,000 points. Without times: the last 15 minutes.
 */
export const StatsQuery = z
  .strictObject({
    since: Timestamp.optional(),
    until: Timestamp.optional(),
    stepMs: QueryNumber.int().min(1).optional(),
  })
  .meta({ id: 'StatsQuery' });
export type StatsQuery = z.output<typeof StatsQuery>;

/**
 * For answers by group, whose times are rounded outwards to 5 minutes, for more than 3 hours to hours, for more than 3
 * days to days. Without times: the last 24 hours.
 */
export const PeriodQuery = z.strictObject({ since: Timestamp.optional(), until: Timestamp.optional() }).meta({ id: 'PeriodQuery' });
export type PeriodQuery = z.output<typeof PeriodQuery>;

/** Milliseconds, each at most 10 % from the true value; absent where `count` is 0. */
export const Percentiles = z
  .object({ count: z.number().int(), p50: z.number().optional(), p95: z.number().optional(), p99: z.number().optional() })
  .meta({ id: 'Percentiles' });
export type Percentiles = z.output<typeof Percentiles>;

/**
 * What happened from `at` on for one step. `failed` counts the outcomes failed, timed_out and unknown, and completed calls with an
 * error result; `errors` are the latter alone. `wait`: from the
 * submission to the first Start, by the time of the Start; `run`: attempts by the time they ended with the call.
 */
export const StatsPoint = z
  .object({
    at: z.string(),
    submitted: z.number().int(),
    ended: z.number().int(),
    failed: z.number().int(),
    errors: z.number().int(),
    outcomes: z.partialRecord(CallOutcome, z.number().int()),
    wait: Percentiles,
    run: Percentiles,
  })
  .meta({ id: 'StatsPoint' });
export type StatsPoint = z.output<typeof StatsPoint>;

export const LiveCounts = z
  .object({ running: z.number().int(), queued: z.number().int(), waitingApproval: z.number().int() })
  .meta({ id: 'LiveCounts' });
export type LiveCounts = z.output<typeof LiveCounts>;

/** The largest groups first; `other` is the rest together. */
const ByName = z.object({ top: z.array(LiveCounts.extend({ name: z.string() })), other: LiveCounts.optional() });

/** `GET /v1/stats`: the first picture of a live page; events move it on. */
export const Stats = z
  .object({
    since: z.string(),
    until: z.string(),
    stepMs: z.number().int(),
    series: z.array(StatsPoint),
    now: LiveCounts.extend({ byTool: ByName, byAgent: ByName, byPool: z.array(LiveCounts.extend({ name: Pool })) }),
    behind: Behind.optional(),
  })
  .meta({ id: 'Stats' });
export type Stats = z.output<typeof Stats>;

/** `errorRate`: `failed` of `calls`, 0 to 1; both count calls that ended in the period. `failed` and `errors` as in StatsPoint. */
export const ToolStats = z
  .object({
    tool: z.string(),
    calls: z.number().int(),
    failed: z.number().int(),
    errors: z.number().int(),
    errorRate: z.number(),
    outcomes: z.partialRecord(CallOutcome, z.number().int()),
    wait: Percentiles,
    run: Percentiles,
  })
  .meta({ id: 'ToolStats' });
export type ToolStats = z.output<typeof ToolStats>;

/** `GET /v1/stats/tools`, most calls first. */
export const ToolStatsPage = z
  .object({ since: z.string(), until: z.string(), tools: z.array(ToolStats), behind: Behind.optional() })
  .meta({ id: 'ToolStatsPage' });
export type ToolStatsPage = z.output<typeof ToolStatsPage>;

/**
 * Failures that look alike: same tool and code, and the same message but for numbers, ids, paths and quoted parts. Without `code`:
 * completed calls with an error result, and `message` is their note; `exit 1` and `exit 2` are two groups.
 */
export const FailureGroup = z
  .object({
    fingerprint: z.string(),
    tool: z.string(),
    code: z.enum(CALL_ERROR_CODES).optional(),
    /** Of the last one, as it was. */
    message: z.string(),
    count: z.number().int(),
    firstSeen: z.string(),
    lastSeen: z.string(),
    lastCallId: z.string(),
  })
  .meta({ id: 'FailureGroup' });
export type FailureGroup = z.output<typeof FailureGroup>;

/** `GET /v1/failures`, most calls first. */
export const FailurePage = z
  .object({ since: z.string(), until: z.string(), failures: z.array(FailureGroup), behind: Behind.optional() })
  .meta({ id: 'FailurePage' });
export type FailurePage = z.output<typeof FailurePage>;

export const ListSessionsQuery = z
  .strictObject({
    cursor: z.string().max(QUERY_LIMITS.cursorChars).optional(),
    limit: QueryNumber.int().min(1).max(LIMITS.pageSize).default(50),
  })
  .meta({ id: 'ListSessionsQuery' });
export type ListSessionsQuery = z.output<typeof ListSessionsQuery>;

/** `running`: calls that have not ended, `failed` as in StatsPoint, `agentId` of the newest call that had one. */
export const SessionSummary = z
  .object({
    sessionId: z.string(),
    agentId: z.string().optional(),
    calls: z.number().int(),
    running: z.number().int(),
    failed: z.number().int(),
    firstAt: z.string(),
    lastAt: z.string(),
  })
  .meta({ id: 'SessionSummary' });
export type SessionSummary = z.output<typeof SessionSummary>;

/** `GET /v1/sessions`: sessions that had calls, the latest active first. */
export const SessionPage = z
  .object({ sessions: z.array(SessionSummary), nextCursor: z.string().optional(), behind: Behind.optional() })
  .meta({ id: 'SessionPage' });
export type SessionPage = z.output<typeof SessionPage>;
