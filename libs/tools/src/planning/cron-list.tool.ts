import { z } from 'zod';
import { Tool } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

const input = z.strictObject({});

/** Handled by apps/gateway/src/gateway-tools/schedule-tools.service.ts. */
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
export class CronListTool extends GatewayTool {}
