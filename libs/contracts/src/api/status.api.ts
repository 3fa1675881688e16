import { z } from 'zod';
import { Json } from '../calls/json.js';
import { Label } from '../calls/names.js';
import { Pool, ToolDescriptor } from '../tools/tool.js';

export const ToolFormat = z.enum(['full', 'mcp', 'anthropic', 'openai', 'openai-responses']);
export type ToolFormat = z.output<typeof ToolFormat>;

/** `GET /v1/tools`. `q` matches name, aliases, label and description. */
export const ListToolsQuery = z.strictObject({
  format: ToolFormat.default('full'),
  dialect: z.string().max(64).optional(),
  q: z.string().min(1).max(256).optional(),
  sessionId: Label.optional(),
  agentId: Label.optional().describe(
    'The catalog as this agent has it. Not said: that of the key, if it has one. Other names than the key may act for are 403.',
  ),
});
export type ListToolsQuery = z.output<typeof ListToolsQuery>;

export const ToolPage = z.object({ tools: z.array(ToolDescriptor) }).meta({ id: 'ToolPage' });

/** The catalog in a format for models: each tool as the model's API defines it. */
export const ModelToolPage = z.object({ tools: z.array(z.record(z.string(), Json)) });

/** How a worker isolates the commands of a pool's tools. `reason`: why they do not run, or run without isolation. */
export const PoolSandboxStatus = z.object({
  backend: z.enum(['host', 'bubblewrap', 'none']),
  ok: z.boolean(),
  isolation: z.enum(['none', 'namespaces']),
  reason: z.string().optional(),
});
export type PoolSandboxStatus = z.output<typeof PoolSandboxStatus>;

export const WorkerStatus = z
  .object({
    id: z.string(),
    startedAt: z.string(),
    seenAt: z.string(),
    draining: z.boolean(),
    pools: z.array(z.object({ pool: Pool, slots: z.number().int(), running: z.number().int() })),
    calls: z.array(z.string()),
    sandbox: z.partialRecord(Pool, PoolSandboxStatus).optional(),
    /** Whether ripgrep is there, without which `file_search` and `glob` fail. */
    search: z.object({ ok: z.boolean() }).optional(),
    /** Of the disk that holds the workspaces. */
    disk: z.object({ freeBytes: z.number(), totalBytes: z.number() }).optional(),
  })
  .meta({ id: 'Worker' });
export type WorkerStatus = z.output<typeof WorkerStatus>;

export const WorkerId = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ -');

/** How one process asks another to drain; it travels in Redis. */
export const DrainRequest = z.object({ actor: z.string(), at: z.string() });
export type DrainRequest = z.output<typeof DrainRequest>;

export const QueueStatus = z
  .object({ pool: Pool, waiting: z.number().int(), active: z.number().int(), oldestWaitingMs: z.number().int() })
  .meta({ id: 'Queue' });
export type QueueStatus = z.output<typeof QueueStatus>;
