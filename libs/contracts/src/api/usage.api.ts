import { z } from 'zod';
import { Label } from '../values/names.js';
import { anyOf, Behind } from './call-list.api.js';
import { KEY, type Route } from './route.api.js';

const Timestamp = z.iso.datetime({ offset: true });

/** Most rows of one response. */
export const MOST_USAGE_ROWS = 10_000;

export const UsageQuery = z
  .strictObject({
    since: Timestamp.optional().describe(
      'Begin of the period: RFC 3339, rounded down to an hour or day. Not said: 24 hours before its end.',
    ),
    until: Timestamp.optional().describe('End of the period: RFC 3339. Not said: now.'),
    per: z.enum(['hour', 'day']).default('hour').describe('What one row is about, in UTC.'),
    by: z
      .enum(['agent', 'tool', 'tenant'])
      .default('agent')
      .describe(
        'Whose calls one row is about: those of an agent, or of a tool. `tenant`: those of each tenant of the installation, for keys with the scope `operate`.',
      ),
    agentId: anyOf(Label, 'agent-1').optional().describe('Calls of these agents.'),
    tool: anyOf(z.string().min(1).max(256), 'shell').optional().describe('Calls of these tools: canonical names.'),
  })
  .meta({ id: 'UsageQuery' });
export type UsageQuery = z.output<typeof UsageQuery>;

export const UsageRow = z
  .object({
    at: z.string().describe('Begin of the hour or day in which the calls ended: RFC 3339, UTC.'),
    tenantId: z.string().optional().describe('The tenant, in rows by tenant.'),
    agentId: z.string().optional().describe('The agent. Absent for calls without one, and in rows by tool or tenant.'),
    tool: z.string().optional().describe('The tool. Absent in rows by agent or tenant.'),
    calls: z.number().int().describe('Calls that ended.'),
    failed: z.number().int().describe('Of these: outcomes `failed`, `timed_out` and `unknown`, and completed calls with an error result.'),
    denied: z.number().int().describe('Of these: calls that policy, a hook or a person denied.'),
    approvals: z.number().int().describe('Of these: calls about which a person was asked.'),
    runMs: z.number().int().describe('Milliseconds that their last attempts ran, together.'),
    waitMs: z
      .number()
      .int()
      .describe('Milliseconds from their submission to their first start, together. Of calls about which no person was asked.'),
    outputBytes: z.number().int().describe('Bytes of their outputs, together.'),
    cpuMs: z
      .number()
      .int()
      .optional()
      .describe('CPU milliseconds of the programs that the calls of `cpuCalls` ran. Absent where it is known of no call.'),
    cpuCalls: z.number().int().describe('Calls whose CPU time is known.'),
  })
  .meta({ id: 'UsageRow', description: 'What an agent, a tool or a tenant used in an hour or a day.' });
export type UsageRow = z.output<typeof UsageRow>;

export const UsagePage = z
  .object({
    tenantId: z.string().describe('Whose calls they are; in rows by tenant, who asked.'),
    rows: z.array(UsageRow).describe('Oldest first, then by agent, tool or tenant; none for hours without ended calls.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'UsagePage', description: 'What the agents of the tenant, its tools, or all tenants used.' });
export type UsagePage = z.output<typeof UsagePage>;

export const USAGE_ROUTES = {
  getUsage: {
    method: 'get',
    path: '/v1/usage',
    tag: 'operations',
    scope: 'read',
    summary: 'What agents or tools of the tenant, or all tenants, used, by hour or day',
    description:
      'Of calls that lists still have, by the time of their end. An answer has at most 10,000 rows: ask for days, or for a shorter period.',
    query: UsageQuery,
    responses: { 200: { description: 'The rows.', schema: UsagePage } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
} as const satisfies Record<string, Route>;
