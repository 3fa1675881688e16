import type { UsageRow } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { table } from '../../terminal/table.js';
import { duration, parseSince } from '../../terminal/time-text.js';

export interface UsageFlags {
  readonly since?: string;
  readonly until?: string;
  readonly per: 'hour' | 'day';
  readonly agent?: string;
  readonly csv?: boolean;
}

const COLUMNS = ['at', 'agentId', 'calls', 'failed', 'denied', 'approvals', 'runMs', 'outputBytes', 'cpuMs', 'cpuCalls'] as const;
const HEAD = ['', 'agent', 'calls', 'failed', 'denied', 'approvals', 'ran', 'CPU', 'bytes out'];

/** What agents used, by hour or day: a table, or CSV with the tenant in front. */
export async function usage({ client, terminal, json }: CommandContext, { since, until, per, agent, csv }: UsageFlags): Promise<number> {
  const now = Date.now();
  const { tenantId, rows, behind } = await client.stats.usage({
    per,
    ...(since === undefined ? {} : { since: parseSince(since, now) }),
    ...(until === undefined ? {} : { until: parseSince(until, now) }),
    ...(agent === undefined ? {} : { agentId: agent }),
  });
  if (json) for (const row of rows) terminal.json({ tenantId, ...row });
  else if (csv === true) for (const line of csvLines(tenantId, rows)) terminal.line(line);
  else if (rows.length === 0) terminal.note('No calls ended in this period.');
  else for (const line of table([HEAD, ...rows.map(cells)], terminal.width)) terminal.line(line);
  if (behind !== undefined) terminal.note(`These numbers are ${duration(behind.ms)} behind.`);
  return 0;
}

function cells({ at, agentId = '-', calls, failed, denied, approvals, runMs, cpuMs, outputBytes }: UsageRow): string[] {
  const cpu = cpuMs === undefined ? 'unknown' : duration(cpuMs);
  return [at, agentId, ...[calls, failed, denied, approvals].map(String), duration(runMs), cpu, String(outputBytes)];
}

function csvLines(tenantId: string, rows: readonly UsageRow[]): string[] {
  return [
    ['tenantId', ...COLUMNS].join(','),
    ...rows.map((row) => [tenantId, ...COLUMNS.map((name) => row[name] ?? '')].map(cell).join(',')),
  ];
}

/** Names begin with `@` or `-` too, which spreadsheets take for formulas. */
function cell(value: string | number): string {
  const text = String(value);
  return /^[@=+-]/.test(text) ? `'${text}` : text;
}
