import type { ToolStats } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { callSubjects } from '../../terminal/call-subjects.js';
import { oneLine } from '../../terminal/safe-text.js';
import { shownIds } from '../../terminal/shown-ids.js';
import { table } from '../../terminal/table.js';
import { ago, duration, parseSince } from '../../terminal/time-text.js';
import { visible } from '../../terminal/visible-text.js';

export interface PeriodFlags {
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

/** Prints running and waiting calls, and the numbers of each tool in a period (24 hours). */
export async function stats({ client, terminal, json }: CommandContext, flags: PeriodFlags): Promise<number> {
  const [{ now }, { tools, behind }] = await Promise.all([client.stats.overview(), client.stats.tools(periodOf(flags))]);
  const shown = tools.slice(0, flags.limit);
  if (json) {
    terminal.json({ now });
    for (const tool of shown) terminal.json(tool);
    return 0;
  }
  terminal.line(
    `now: ${now.running} running, ${now.queued} queued, ${now.waitingApproval} waiting for approval, ${now.waitingInput} waiting for input`,
  );
  if (shown.length === 0) terminal.note('No calls ended in this period.');
  else {
    const head = ['tool', 'calls', 'failed', 'wait p50', 'wait p95', 'run p50', 'run p95'];
    for (const line of table([head, ...shown.map(toolRow)], terminal.width)) terminal.line(line);
  }
  if (behind !== undefined) terminal.note(`These numbers are ${duration(behind.ms)} behind.`);
  return 0;
}

function toolRow({ tool, calls, failed, errorRate, wait, run }: ToolStats): string[] {
  const time = (ms: number | undefined) => (ms === undefined ? '-' : duration(ms));
  const rate = failed === 0 ? '0' : `${failed} (${Math.round(errorRate * 100)} %)`;
  return [tool, String(calls), rate, time(wait.p50), time(wait.p95), time(run.p50), time(run.p95)];
}

/** Failures of a period (24 hours), grouped by similarity. */
export async function failures({ client, terminal, json }: CommandContext, flags: PeriodFlags): Promise<number> {
  const page = await client.stats.failures(periodOf(flags));
  const shown = page.failures.slice(0, flags.limit);
  if (json) {
    for (const failure of shown) terminal.json(failure);
    return 0;
  }
  if (shown.length === 0) terminal.note('No failures in this period.');
  const subjects = await callSubjects({ client, terminal });
  const rows = shown.map(({ count, tool, code = 'error', message, preview = '', lastSeen, lastCallId }) => [
    `${count}x`,
    tool,
    oneLine(withSubject(visible(message), subjects.line(tool, preview)), Math.max(30, terminal.width - 60)),
    code,
    ago(Date.now() - Date.parse(lastSeen)),
    shownIds(terminal)(lastCallId),
  ]);
  for (const line of table(rows, terminal.width)) terminal.line(line);
  return 0;
}

/** Error message, followed by the subject of the call unless the message contains it: `exit 1 ($ npm test)`. */
function withSubject(message: string, subject: string): string {
  return message.includes(subject) ? message : `${message} (${subject})`;
}

function periodOf({ since, until }: PeriodFlags): { since?: string; until?: string } {
  const now = Date.now();
  return {
    ...(since === undefined ? {} : { since: parseSince(since, now) }),
    ...(until === undefined ? {} : { until: parseSince(until, now) }),
  };
}
