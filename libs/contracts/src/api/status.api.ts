import { z } from 'zod';
import { Json } from '../values/json.js';
import { Label } from '../values/names.js';
import { Dialect } from '../values/dialect.js';
import { Pool, ToolDescriptor, WorkerPart } from '../tools/tool.js';

export const ToolFormat = z.enum(['full', 'mcp', 'anthropic', 'openai', 'openai-responses', 'function', 'permissions']);
export type ToolFormat = z.output<typeof ToolFormat>;

/** Query of `GET /v1/tools`. `q` matches name, aliases, label and description. */
export const ListToolsQuery = z.strictObject({
  format: ToolFormat.default('full').describe(`The shape of each tool: that of Toolyard, or of a model's API.`),
  dialect: Dialect.optional().describe('The catalog of this dialect. Not said: that of the session, else that of the key, else `core`.'),
  q: z.string().min(1).max(256).optional().describe('Text that name, aliases, label or description must contain.'),
  sessionId: Label.optional().describe('The catalog as this session has it.'),
  agentId: Label.optional().describe(
    'The catalog as this agent has it. Not said: that of the key, if it has one. Other names than the key may act for are 403.',
  ),
});
export type ListToolsQuery = z.output<typeof ListToolsQuery>;

export const ToolPage = z
  .object({ tools: z.array(ToolDescriptor).describe('The tools that the key may use.') })
  .meta({ id: 'ToolPage', description: 'The catalog of tools.' });

/** Catalog in a model format: each tool in the definition of the model's API. */
export const ModelToolPage = z.object({
  tools: z.array(z.record(z.string(), Json)).describe(`The tools that the key may use, each as the model's API defines it.`),
});

export const PoolSandboxStatus = z.object({
  backend: z.enum(['host', 'bubblewrap', 'none']).describe('What runs the commands. `none`: commands are refused.'),
  ok: z.boolean().describe('Whether commands run.'),
  isolation: z.enum(['none', 'namespaces']).describe('How they are separated from the machine.'),
  reason: z.string().optional().describe('Why they do not run, or run with less isolation than they could. Absent otherwise.'),
});
export type PoolSandboxStatus = z.output<typeof PoolSandboxStatus>;

export const WorkerStatus = z
  .object({
    id: z.string().describe('Names the process; a worker that is started again has another.'),
    startedAt: z.string().describe('When it started: RFC 3339, UTC.'),
    seenAt: z.string().describe('When it was last heard of: RFC 3339, UTC.'),
    draining: z.boolean().describe('It takes no more calls.'),
    version: z.string().optional().describe('The release that it runs. Absent for foreign workers, and for a worker of an older version.'),
    foreign: z
      .object({
        tenantId: z.string().describe('The only tenant whose calls it gets.'),
        source: z.string().describe('The source under which its tools are in the catalog.'),
        sdk: z.string().describe('Language and library, as it says.'),
        labels: z.record(z.string(), z.string()).optional().describe('As it says.'),
        tools: z.array(z.string()).describe('Names of its tools, at most 100.'),
        gateway: z.string().describe('The gateway to which it is connected.'),
      })
      .optional()
      .describe('Of a worker in another language. Absent for built-in workers, which serve all tenants.'),
    pools: z
      .array(
        z.object({
          pool: Pool.describe('The name of the pool.'),
          slots: z.number().int().describe('Calls of the pool that it runs at the same time.'),
          running: z.number().int().describe('Calls of the pool that run there now.'),
        }),
      )
      .describe('The pools that it serves.'),
    calls: z.array(z.string()).describe('The calls that run there now.'),
    sandbox: z
      .partialRecord(Pool, PoolSandboxStatus)
      .optional()
      .describe('How it isolates commands, by pool. Absent for a worker of an older version.'),
    hosts: z
      .array(
        z.object({
          name: z.string().describe('Its name in `remoteHosts` of the config file.'),
          tenant: z.string().describe('Whose commands run there.'),
          agents: z.array(z.string()).describe('Globs of the agents whose commands run there.'),
          sessions: z.array(z.string()).describe('Globs of the sessions whose commands run there.'),
          ok: z.boolean().describe('It was reached at the last attempt.'),
          reason: z.string().optional().describe('Why not. Absent when it was reached.'),
        }),
      )
      .optional()
      .describe('Hosts over ssh on which commands of some calls run; only those of the tenant. Absent for a worker of an older version.'),
    search: z
      .object({ ok: z.boolean().describe('It is present.') })
      .optional()
      .describe('Whether ripgrep is present, without which `file_search` and `glob` fail. Absent for a worker of an older version.'),
    parts: z
      .partialRecord(
        WorkerPart,
        z.object({
          ok: z.boolean().describe('It is present.'),
          reason: z.string().optional().describe('Why not. Absent when it is present.'),
        }),
      )
      .optional()
      .describe('What it has for tools that require it. Absent for a worker of an older version.'),
    disk: z
      .object({ freeBytes: z.number().describe('Bytes that are free.'), totalBytes: z.number().describe('Its size in bytes.') })
      .optional()
      .describe('The disk that holds the workspaces. Absent where it cannot be read.'),
    host: z
      .object({
        name: z.string().describe('Name of the machine or container.'),
        cores: z.number().int().describe('Cores of the machine.'),
        load: z.number().describe('Processes that ran or waited for a core, on average of the last minute.'),
        freeBytes: z.number().describe('Bytes of memory that are free.'),
        totalBytes: z.number().describe('Bytes of memory.'),
      })
      .optional()
      .describe('Where it runs. Absent for foreign workers, and for a worker of an older version.'),
  })
  .meta({ id: 'Worker', description: 'A worker as it was last heard of.' });
export type WorkerStatus = z.output<typeof WorkerStatus>;

export const WorkerId = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ -');

/** Drain request of one process to another, stored in Redis. */
export const DrainRequest = z.object({ actor: z.string(), at: z.string() });
export type DrainRequest = z.output<typeof DrainRequest>;

export const QueueStatus = z
  .object({
    pool: Pool.describe('The name of the pool.'),
    waiting: z.number().int().describe('Calls that wait for a worker.'),
    active: z.number().int().describe('Calls that workers have taken.'),
    oldestWaitingMs: z.number().int().describe('How long the oldest of them has waited, in milliseconds; 0 without any.'),
  })
  .meta({ id: 'Queue', description: 'The queue of one pool.' });
export type QueueStatus = z.output<typeof QueueStatus>;
