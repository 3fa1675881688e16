import { z } from 'zod';
import { Tool } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

export const CronRemoveArguments = z.strictObject({
  job_id: z.string().min(1).max(64).describe('The id of the schedule, as cron_add and cron_list answer it.'),
});

/** Handled by apps/gateway/src/gateway-tools/schedule-tools.service.ts. */
@Tool({
  name: 'cron_remove',
  label: 'Remove a schedule',
  description: 'Ends a schedule of this session; calls that it made go on. Answers "Removed cron job {id}".',
  input: CronRemoveArguments,
  tier: 'side_effecting',
  effect: 'once',
  callers: 'main',
  timeoutMs: 30_000,
  rawArgument: 'job_id',
  examples: [{ title: 'One that is there', arguments: { job_id: 'sch-0c9f6a4e-3f0a-4c7e-9a35-2f6c1f8f9a10' } }],
})
export class CronRemoveTool extends GatewayTool {}
