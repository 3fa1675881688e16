import { z } from 'zod';
import type { UsageRow } from '#contracts';

export type Sums = Omit<UsageRow, 'at' | 'agentId' | 'tool' | 'tenantId'>;

/** Measure of a chart and of the order of the table. */
export const Measure = z.enum(['calls', 'failed', 'waitMs', 'runMs', 'cpuMs', 'outputBytes']);
export type Measure = z.output<typeof Measure>;

export interface NamedSums {
  /** Undefined for calls without an agent. */
  readonly name: string | undefined;
  readonly sums: Sums;
}

const NOTHING: Sums = { calls: 0, failed: 0, denied: 0, approvals: 0, runMs: 0, waitMs: 0, outputBytes: 0, cpuCalls: 0 };

export function totalOf(rows: readonly Sums[]): Sums {
  return rows.reduce(added, NOTHING);
}

/** The sums of each agent, tool or tenant over the period, the most of a measure first. */
export function byName(rows: readonly UsageRow[], measure: Measure): NamedSums[] {
  const names = new Map<string | undefined, Sums>();
  for (const row of rows) names.set(nameOf(row), added(names.get(nameOf(row)) ?? NOTHING, row));
  return [...names]
    .map(([name, sums]) => ({ name, sums }))
    .toSorted((one, other) => (other.sums[measure] ?? 0) - (one.sums[measure] ?? 0) || other.sums.calls - one.sums.calls);
}

interface UsageSeries {
  /** Begins of all steps of the period, also empty ones, in ms since the epoch. */
  readonly times: readonly number[];
  /** Lines with the highest sums first; the last may be all others together. */
  readonly lines: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** A measure over time, of the `most` names that have the most of it and of all others together. */
export function seriesOf(rows: readonly UsageRow[], measure: Measure, period: Period, most: number): UsageSeries {
  const times = stepsOf(period);
  const names = byName(rows, measure)
    .filter(({ sums }) => (sums[measure] ?? 0) > 0)
    .map(({ name }) => name);
  const own = names.length > most ? names.slice(0, most - 1) : names;
  const valuesOf = (mine: readonly UsageRow[]) => {
    const sums = new Map<number, number>();
    for (const row of mine) sums.set(Date.parse(row.at), (sums.get(Date.parse(row.at)) ?? 0) + (row[measure] ?? 0));
    return times.map((time) => sums.get(time) ?? 0);
  };
  const lines = own.map((name) => ({ name: name ?? NO_AGENT, values: valuesOf(rows.filter((row) => nameOf(row) === name)) }));
  if (own.length === names.length) return { times, lines };
  return { times, lines: [...lines, { name: 'others', values: valuesOf(rows.filter((row) => !own.includes(nameOf(row)))) }] };
}

export const NO_AGENT = 'no agent';

/** `from` and `until` in ms since the epoch, in steps of whole hours or days in UTC. */
export interface Period {
  readonly from: number;
  readonly until: number;
  readonly stepMs: number;
}

function stepsOf({ from, until, stepMs }: Period): number[] {
  const first = Math.floor(from / stepMs) * stepMs;
  return Array.from({ length: Math.max(1, Math.ceil((until - first) / stepMs)) }, (_, index) => first + index * stepMs);
}

function nameOf({ tenantId, agentId, tool }: UsageRow): string | undefined {
  return tenantId ?? tool ?? agentId;
}

function added(sum: Sums, row: Sums): Sums {
  const cpuMs = row.cpuMs === undefined ? sum.cpuMs : (sum.cpuMs ?? 0) + row.cpuMs;
  return {
    calls: sum.calls + row.calls,
    failed: sum.failed + row.failed,
    denied: sum.denied + row.denied,
    approvals: sum.approvals + row.approvals,
    runMs: sum.runMs + row.runMs,
    waitMs: sum.waitMs + row.waitMs,
    outputBytes: sum.outputBytes + row.outputBytes,
    cpuCalls: sum.cpuCalls + row.cpuCalls,
    cpuMs,
  };
}
