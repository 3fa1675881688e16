import { z } from 'zod';

/** What a Redis says of itself, as far as Toolyard's promises rest on it. What it keeps to itself (CONFIG may be forbidden) is absent. */
export const RedisServerInfo = z
  .object({
    server: z.enum(['redis', 'valkey']),
    version: z.string(),
    mode: z.string(),
    role: z.string(),
    replicas: z.number().int(),
    appendOnly: z.boolean(),
    /** `always`, `everysec` or `no`. */
    appendFsync: z.string().optional(),
    lastWriteOk: z.boolean(),
    maxmemoryPolicy: z.string(),
    maxmemoryBytes: z.number().int(),
    usedMemoryBytes: z.number().int(),
    time: z.string(),
  })
  .meta({ id: 'RedisFacts' });
export type RedisServerInfo = z.output<typeof RedisServerInfo>;

/** `GET /v1/diagnostics`: what an operator compares when something is odd. Times are those of the moment of the answer. */
export const Diagnostics = z
  .object({
    version: z.string(),
    node: z.string(),
    gateway: z.string(),
    time: z.string(),
    durability: z.enum(['local', 'replicated']),
    partitions: z.number().int(),
    redis: RedisServerInfo,
    /** The file of TOOLYARD_CONFIG and how much it brings; absent without one, and while the file is refused only its path is there. */
    config: z
      .object({
        file: z.string(),
        keys: z.number().int().optional(),
        agents: z.number().int().optional(),
        hooks: z.number().int().optional(),
      })
      .optional(),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'Diagnostics' });
export type Diagnostics = z.output<typeof Diagnostics>;
