import type { UsageRow } from '#contracts';
import { usageCsv } from '#subject';
import type { CommandContext } from '../../command-context.js';
import { table } from '../../terminal/table.js';
import { duration, momentText, parseSince } from '../../terminal/time-text.js';

export interface UsageFlags {
  readonly since?: string;
  readonly until?: string;
  readonly per: 'hour' | 'day';
  readonly by: 'agent' | 'tool' | 'tenant';
  readonly agent?: string;
  readonly tool?: string;
  readonly csv?: boolean;
}

const HEAD = ['calls', 'failed', 'denied', 'approvals', 'waited', 'ran', 'CPU', 'bytes out'];

/** Usage of agents, tools or tenants, by hour or day: a table, or CSV with the tenant in front. */
export async function usage({ client, terminal, json }: CommandContext, flags: UsageFlags): Promise<number> {
  const { since, until, per, by, agent, tool, csv } = flags;
  const now = Date.now();
  const { tenantId, rows, behind } = await client.stats.usage({
    per,
    by,
    ...(since === undefined ? {} : { since: parseSince(since, now) }),
    ...(until === undefined ? {} : { until: parseSince(until, now) }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(tool === undefined ? {} : { tool }),
  });
  if (json) for (const row of rows) terminal.json({ tenantId, ...row });
  else if (csv === true) terminal.line(usageCsv({ tenantId, rows }).trimEnd());
  else if (rows.length === 0) terminal.note('No calls ended in this period.');
  else {
    const timeOf = (at: string) => (terminal.isRead ? momentText(at, per === 'day' ? 10 : 16) : at);
    const shown = rows.map((row) => [timeOf(row.at), ...cells(row)]);
    for (const line of table([[terminal.isRead ? 'UTC' : '', by, ...HEAD], ...shown], terminal.width)) terminal.line(line);
  }
  if (behind !== undefined) terminal.note(`These numbers are ${duration(behind.ms)} behind.`);
  return 0;
}

function cells({ tenantId, agentId, tool, calls, failed, denied, approvals, waitMs, runMs, cpuMs, outputBytes }: UsageRow): string[] {
  const cpu = cpuMs === undefined ? 'unknown' : duration(cpuMs);
  const counts = [calls, failed, denied, approvals].map(String);
  return [tenantId ?? tool ?? agentId ?? '-', ...counts, duration(waitMs), duration(runMs), cpu, String(outputBytes)];
}
