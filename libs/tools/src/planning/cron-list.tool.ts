import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from '../gateway/tool-gateway.port.js';

const input = z.strictObject({});

@Tool({
  name: 'cron_list',
  label: 'List schedules',
  description: 'Lists the schedules of this session, oldest first: {id, name, job_type, schedule, next_run, enabled} of each.',
  input,
  tier: 'read_only',
  callers: 'main',
  timeoutMs: 30_000,
  examples: [{ title: 'All of the session', arguments: {} }],
})
export class CronListTool {
  constructor(@Optional() private readonly gateway: ToolGateway = new NoToolGateway()) {}

  run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    return this.gateway.run(ctx, args);
  }
}
