import { z } from 'zod';
import { Json } from '../calls/json.js';
import { ToolName } from '../calls/names.js';

export const ToolTier = z.enum(['read_only', 'side_effecting', 'privileged']).meta({ id: 'ToolTier' });
export type ToolTier = z.output<typeof ToolTier>;

/**
 * What running a tool twice does: `pure` nothing, `idempotent` the same as once, `keyed` the same as once because the
 * target honours an idempotency key, `once` something else. Only the first three are ever run again after a Start.
 */
export const ToolEffect = z.enum(['pure', 'idempotent', 'keyed', 'once']).meta({ id: 'ToolEffect' });
export type ToolEffect = z.output<typeof ToolEffect>;

/** Worker pools; each has its own queue, so that a slow family never starves another. */
export const POOLS = ['read', 'write', 'shell', 'net', 'agent'] as const;
export const Pool = z.enum(POOLS).meta({ id: 'Pool' });
export type Pool = z.output<typeof Pool>;

/** Exponential backoff with full jitter between attempts, in milliseconds. `maxAttempts` counts the first run. */
export const RetryPolicy = z
  .object({ maxAttempts: z.number().int().min(1).max(20), backoffMs: z.number().int().min(0), maxBackoffMs: z.number().int().min(0) })
  .meta({ id: 'RetryPolicy' });
export type RetryPolicy = z.output<typeof RetryPolicy>;

export const JsonSchema = z.record(z.string(), Json);
export type JsonSchema = z.output<typeof JsonSchema>;

/**
 * An argument that carries risk, so that policy can judge it without knowing the tool: a path the tool reads or writes, a
 * command line, a URL, an operation (of the service that another argument names), an agent to be started. An array argument
 * means each of its texts, or with `field` that field of each of its objects. `readOnly`: globs of operations that only read.
 */
export const ToolSubject = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('path'), argument: z.string(), access: z.enum(['read', 'write']) }),
    z.object({ kind: z.literal('command'), argument: z.string() }),
    z.object({ kind: z.literal('url'), argument: z.string() }),
    z.object({
      kind: z.literal('operation'),
      argument: z.string(),
      service: z.string().optional(),
      readOnly: z.array(z.string()).optional(),
    }),
    z.object({ kind: z.literal('agent'), argument: z.string(), field: z.string().optional() }),
  ])
  .meta({ id: 'ToolSubject' });
export type ToolSubject = z.output<typeof ToolSubject>;

/** Arguments that show what a tool does. `setup`: calls to make before, so that it runs in an empty workspace too. */
export const ToolExample = z
  .object({
    title: z.string(),
    arguments: Json,
    setup: z.array(z.object({ tool: ToolName, arguments: z.record(z.string(), Json) })).optional(),
  })
  .meta({ id: 'ToolExample' });
export type ToolExample = z.output<typeof ToolExample>;

/** A tool as the catalog shows it. `version` is a digest of name, schema and facts: what an approval is bound to. */
export const ToolDescriptor = z
  .object({
    name: ToolName,
    label: z.string(),
    description: z.string().min(1),
    source: z.string(),
    version: z.string(),
    input: JsonSchema,
    output: JsonSchema.optional(),
    tier: ToolTier,
    effect: ToolEffect,
    pool: Pool,
    subjects: z.array(ToolSubject).default([]),
    timeoutMs: z.number().int().positive(),
    retry: RetryPolicy,
    aliases: z.array(z.string()),
    examples: z.array(ToolExample),
    annotations: z.object({
      readOnlyHint: z.boolean(),
      destructiveHint: z.boolean(),
      idempotentHint: z.boolean(),
      openWorldHint: z.boolean(),
    }),
    available: z.object({ ok: z.boolean(), reason: z.string().optional() }),
  })
  .meta({ id: 'Tool' });
export type ToolDescriptor = z.output<typeof ToolDescriptor>;
