import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from '../gateway/tool-gateway.port.js';

export const CronRemoveArguments = z.strictObject({
  job_id: z.string().min(1).max(64).describe('The id of the schedule, as cron_add and cron_list answer it.'),
});

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
export class CronRemoveTool {
  constructor(@Optional() private readonly gateway: ToolGateway = new NoToolGateway()) {}

  run(args: z.output<typeof CronRemoveArguments>, ctx: ToolContext): Promise<ToolOutput> {
    return this.gateway.run(ctx, args);
  }
}
