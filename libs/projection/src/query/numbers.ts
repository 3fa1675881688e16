import {
  POOLS,
  ProblemError,
  STATS,
  type FailurePage,
  type LiveCounts,
  type PeriodQuery,
  type Stats,
  type StatsPoint,
  type StatsQuery,
  type ToolStatsPage,
} from '#contracts';
import { keys, partitionName, type RedisConnection } from '#redis';
import { isFailedOutcome, type LogSource } from '#history';
import { percentilesOf } from '../stats/histogram.js';
import { ALL, decodeLive } from '../stats/live-counts.js';
import {
  addActivity,
  addFailures,
  EVERYTHING,
  FINE,
  GROUP_LEVELS,
  keyIndexOf,
  noActivity,
  OTHER,
  readSlotField,
  slotField,
  type Activity,
  type FailureActivity,
  type Level,
} from '../stats/slots.js';
import { behindOf } from './lane.js';

const HOUR_MS = 3_600_000;
const SERIES_MS = 15 * 60_000;
const PERIOD_MS = 24 * HOUR_MS;
/** Up to which length of time a series is made of which slots, and groups. */
const SERIES_LEVELS = [
  { upTo: 2 * HOUR_MS, level: FINE },
  ...GROUP_LEVELS.slice(0, 2).map((level, n) => ({ upTo: n === 0 ? 48 * HOUR_MS : Infinity, level })),
];
const PERIOD_LEVELS = GROUP_LEVELS.map((level, n) => ({ upTo: [3 * HOUR_MS, 72 * HOUR_MS][n] ?? Infinity, level }));

interface Period {
  readonly since: number;
  readonly until: number;
}

/** Numbers over time, by tool, by kind of failure, and of what has not ended. Each answer says how far it is behind the log. */
export class Numbers {
  private readonly names: readonly string[];

  constructor(
    private readonly redis: RedisConnection,
    private readonly log: LogSource,
    private readonly partitions: number,
    private readonly now: () => number = Date.now,
  ) {
    this.names = Array.from({ length: partitions }, (_, index) => partitionName(index));
  }

  async stats(tenantId: string, query: StatsQuery): Promise<Stats> {
    const wanted = this.period(query, SERIES_MS);
    const level = levelOf(SERIES_LEVELS, wanted);
    const { slotMs } = level;
    const least = (wanted.until - wanted.since) / STATS.points;
    const stepMs = Math.ceil(Math.max(query.stepMs ?? 0, least, slotMs) / slotMs) * slotMs;
    const since = Math.floor(wanted.since / stepMs) * stepMs;
    const until = Math.max(Math.ceil(wanted.until / stepMs) * stepMs, since + stepMs);
    const [activity, now, behind] = await Promise.all([
      this.series(tenantId, { since, until }, level, stepMs),
      this.live(tenantId),
      behindOf(this.redis, this.log, this.partitions),
    ]);
    const series = activity.map((sum, n): StatsPoint => ({ at: iso(since + n * stepMs), submitted: sum.s, ...endsOf(sum) }));
    return { since: iso(since), until: iso(until), stepMs, series, now, ...(behind === undefined ? {} : { behind }) };
  }

  async tools(tenantId: string, query: PeriodQuery): Promise<ToolStatsPage> {
    const { level, ...period } = rounded(this.period(query, PERIOD_MS));
    const tools = new Map<string, Activity>();
    const [behind] = await Promise.all([
      behindOf(this.redis, this.log, this.partitions),
      this.groups(tenantId, period, 'tool', level, (tool, text) => {
        if (tool === EVERYTHING) return;
        const sum = tools.get(tool) ?? noActivity();
        tools.set(tool, sum);
        addActivity(sum, readActivity(text));
      }),
    ]);
    const rows = [...tools].map(([tool, sum]) => {
      const { ended, ...rest } = endsOf(sum);
      return { tool, calls: ended, errorRate: ended === 0 ? 0 : rest.failed / ended, ...rest };
    });
    rows.sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
    return { since: iso(period.since), until: iso(period.until), tools: rows, ...(behind === undefined ? {} : { behind }) };
  }

  async failures(tenantId: string, query: PeriodQuery): Promise<FailurePage> {
    const { level, ...period } = rounded(this.period(query, PERIOD_MS));
    const kinds = new Map<string, FailureActivity>();
    const [behind] = await Promise.all([
      behindOf(this.redis, this.log, this.partitions),
      this.groups(tenantId, period, 'fail', level, (fingerprint, text) => {
        const failure = readFailure(text);
        const sum = kinds.get(fingerprint);
        if (sum === undefined) kinds.set(fingerprint, failure);
        else addFailures(sum, failure);
      }),
    ]);
    const failures = [...kinds].map(([fingerprint, { tool, code, message, count, first, last, lastCallId }]) => ({
      fingerprint,
      tool: fingerprint === OTHER ? OTHER : tool,
      ...(code === undefined ? {} : { code }),
      message,
      count,
      firstSeen: iso(first),
      lastSeen: iso(last),
      lastCallId,
    }));
    failures.sort((a, b) => b.count - a.count || (a.lastSeen < b.lastSeen ? 1 : -1));
    return { since: iso(period.since), until: iso(period.until), failures, ...(behind === undefined ? {} : { behind }) };
  }

  /** Throws `invalid_request` when it ends before it begins. */
  private period({ since, until }: PeriodQuery, lengthMs: number): Period {
    const to = until === undefined ? this.now() : Date.parse(until);
    const from = since === undefined ? to - lengthMs : Date.parse(since);
    if (from > to) {
      const message = 'expected a time that is not after until (now, when until is not given)';
      throw new ProblemError('invalid_request', `The period ends before it begins: ${message}`, {
        errors: [{ pointer: '/since', message }],
      });
    }
    return {
      since: Math.max(from, this.now() - STATS.keptMs),
      until: Math.max(Math.min(to, this.now() + STATS.coarseSlotMs), this.now() - STATS.keptMs),
    };
  }

  /** Sums by step. */
  private async series(tenantId: string, period: Period, level: Level, stepMs: number): Promise<Activity[]> {
    const sums = Array.from({ length: Math.round((period.until - period.since) / stepMs) }, noActivity);
    const byIndex = new Map<number, number[]>();
    for (let time = period.since; time < period.until; time += level.slotMs) {
      const index = keyIndexOf(level, time);
      byIndex.set(index, [...(byIndex.get(index) ?? []), time]);
    }
    await Promise.all(
      this.names.flatMap((name) =>
        [...byIndex].map(async ([index, times]) => {
          const key = keys.viewNumbers(name, tenantId, 'tool', level.name, index);
          const texts = await this.redis.hmget(key, ...times.map((time) => slotField(level, time, EVERYTHING)));
          texts.forEach((text, n) => {
            const sum = sums[Math.floor(((times[n] ?? 0) - period.since) / stepMs)];
            if (text !== null && sum !== undefined) addActivity(sum, readActivity(text));
          });
        }),
      ),
    );
    return sums;
  }

  /** Hands on every stored group of a kind in the period. */
  private async groups(
    tenantId: string,
    { since, until }: Period,
    kind: 'tool' | 'fail',
    level: Level,
    each: (name: string, text: string) => void,
  ): Promise<void> {
    const first = keyIndexOf(level, since);
    const indexes = Array.from({ length: keyIndexOf(level, until - 1) - first + 1 }, (_, n) => first + n);
    await Promise.all(
      this.names.flatMap((name) =>
        indexes.map(async (index) => {
          const hash = await this.redis.hgetall(keys.viewNumbers(name, tenantId, kind, level.name, index));
          for (const [field, text] of Object.entries(hash)) {
            const slot = readSlotField(level, index, field);
            if (slot !== undefined && slot.from >= since && slot.from < until) each(slot.group, text);
          }
        }),
      ),
    );
  }

  private async live(tenantId: string): Promise<Stats['now']> {
    const found = await Promise.all(this.names.map((name) => this.redis.hgetall(keys.viewLive(name, tenantId))));
    const sums = new Map<string, LiveCounts>();
    for (const hash of found) {
      for (const [field, text] of Object.entries(hash)) sums.set(field, plus(sums.get(field) ?? NONE, decodeLive(text)));
    }
    const named = (letter: string) =>
      [...sums].flatMap(([field, counts]) => (field.startsWith(`${letter}:`) ? [{ name: field.slice(2), ...counts }] : []));
    return {
      ...(sums.get(ALL) ?? NONE),
      byTool: topOf(named('t')),
      byAgent: topOf(named('a')),
      byPool: POOLS.map((name) => ({ name, ...(sums.get(`p:${name}`) ?? NONE) })),
    };
  }
}

const NONE: LiveCounts = { running: 0, queued: 0, waitingApproval: 0, waitingInput: 0 };

function plus(a: LiveCounts, b: LiveCounts): LiveCounts {
  return {
    running: a.running + b.running,
    queued: a.queued + b.queued,
    waitingApproval: a.waitingApproval + b.waitingApproval,
    waitingInput: a.waitingInput + b.waitingInput,
  };
}

function topOf(named: (LiveCounts & { name: string })[]): Stats['now']['byTool'] {
  const size = ({ running, queued, waitingApproval }: LiveCounts) => running + queued + waitingApproval;
  const sorted = named.sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
  const rest = sorted.slice(STATS.top);
  const other = rest.reduce<LiveCounts>(plus, NONE);
  return { top: sorted.slice(0, STATS.top), ...(rest.length === 0 ? {} : { other }) };
}

function endsOf({ e, x: errors = 0, w, r }: Activity) {
  const outcomes = Object.entries(e);
  const ended = outcomes.reduce((sum, [, count]) => sum + count, 0);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are outcomes
  const failed = outcomes.reduce((sum, [outcome, count]) => sum + (isFailedOutcome(outcome as keyof typeof e) ? count : 0), errors);
  return { ended, failed, errors, outcomes: e, wait: percentilesOf(w), run: percentilesOf(r) };
}

function levelOf(levels: readonly { readonly upTo: number; readonly level: Level }[], { since, until }: Period): Level {
  return levels.find(({ upTo }) => until - since <= upTo)?.level ?? FINE;
}

/** Rounded outwards to slots of a fitting level. */
function rounded(period: Period): Period & { readonly level: Level } {
  const level = levelOf(PERIOD_LEVELS, period);
  const { slotMs } = level;
  const since = Math.floor(period.since / slotMs) * slotMs;
  return { level, since, until: Math.max(since + slotMs, Math.ceil(period.until / slotMs) * slotMs) };
}

function readActivity(text: string): Activity {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the projection wrote
  return JSON.parse(text) as Activity;
}

function readFailure(text: string): FailureActivity {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the projection wrote
  return JSON.parse(text) as FailureActivity;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
