import { z } from 'zod';
import { SCHEDULE_LIMITS } from '#contracts';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

export const CronAddArguments = z.strictObject({
  schedule: z
    .strictObject({
      kind: z.enum(['cron', 'at', 'every']),
      expr: z.string().min(1).max(256).optional().describe('For `cron`: 5 fields, or 6 with seconds first.'),
      tz: z.string().min(1).max(64).optional().describe('For `cron`: an IANA time zone such as Europe/Berlin. Not said: UTC.'),
      at: z.string().min(1).max(64).optional().describe('For `at`: an RFC 3339 time.'),
      every_ms: z.number().int().min(1).max(SCHEDULE_LIMITS.everyMs).optional().describe('For `every`: milliseconds, 1,000 or more.'),
    })
    .describe('When it runs: {kind: "cron", expr, tz?}, {kind: "at", at} or {kind: "every", every_ms}.'),
  name: z.string().min(1).max(128).optional().describe('For people.'),
  command: z.string().min(1).max(65_536).optional().describe('A command for `shell`.'),
  agent: z.string().min(1).max(64).optional().describe('A sub-agent that gets `prompt`.'),
  prompt: z.string().min(1).max(200_000).optional().describe('With `agent`: its task.'),
  tool: z.string().min(1).max(64).optional().describe('Any tool, with `arguments`.'),
  arguments: z.looseObject({}).optional().describe('With `tool`: its arguments.'),
});
type Arguments = z.output<typeof CronAddArguments>;

/**
 * Schedules calls of the session. Each run is evaluated as if the agent made the call at that time.
 * Handled by apps/gateway/src/gateway-tools/schedule-tools.service.ts.
 */
@Tool({
  name: 'cron_add',
  label: 'Add a schedule',
  description:
    'Plans a call that runs again and again, or once later, in this session: a command, a task for a sub-agent, or any tool with arguments. ' +
    'Each run is judged like a call of your own at that time. Answers {id, name, job_type, schedule, next_run, enabled}. Sub-agents do not have it.',
  input: CronAddArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  callers: 'main',
  subjects: [
    { kind: 'command', argument: 'command' },
    { kind: 'agent', argument: 'agent' },
  ],
  timeoutMs: 30_000,
  examples: [
    { title: 'Every morning', arguments: { schedule: { kind: 'cron', expr: '0 7 * * 1-5', tz: 'Europe/Berlin' }, command: 'make report' } },
  ],
})
export class CronAddTool extends GatewayTool {
  check({ command, agent, prompt, tool }: Arguments): void {
    const jobs = [command, agent ?? prompt, tool].filter((it) => it !== undefined);
    if (jobs.length === 0) throw new ToolError('invalid_arguments', "Missing 'command', 'agent' with 'prompt', or 'tool'");
    if (jobs.length > 1) throw new ToolError('invalid_arguments', "Expected one of 'command', 'agent' and 'tool', received several");
    if (agent !== undefined && prompt === undefined) throw new ToolError('invalid_arguments', "Missing 'prompt' for agent job");
    if (prompt !== undefined && agent === undefined) throw new ToolError('invalid_arguments', "Missing 'agent' for agent job");
  }
}
