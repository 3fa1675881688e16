import { z } from 'zod';

/**
 * Unit of counting, always within the tenant. `agent`: the agent of the key, else the one that the call names, else the key.
 * `session`: the session of the call, else its agent. Calls of a session that an agent began count for the session that began
 * it.
 *
 * Callers choose names of sessions and agents: a limit that must hold against a caller is set per `key` or `tenant`.
 */
export const LimitScope = z.enum(['key', 'tenant', 'agent', 'session', 'tool']).meta({ id: 'LimitScope' });
export type LimitScope = z.output<typeof LimitScope>;

const tools = z
  .array(z.string().min(1).max(256))
  .min(1)
  .max(100)
  .optional()
  .describe('Names of the tools whose calls count and are refused. Not set: all.');

/** Limit of `calls` in any `windowMs`. */
export const RateLimit = z
  .strictObject({
    per: LimitScope.describe('What is counted together.'),
    calls: z.number().int().min(0).max(100_000).describe('Most calls in any such window: 0 to 100,000.'),
    windowMs: z
      .number()
      .int()
      .min(100)
      .max(86_400_000)
      .default(60_000)
      .describe('Length of the window in milliseconds: 100 to 86,400,000.'),
    tools,
  })
  .meta({ id: 'RateLimit' });
export type RateLimit = z.output<typeof RateLimit>;

/** Limit of `calls` that have not ended, running or waiting. */
export const ConcurrencyLimit = z
  .strictObject({
    per: LimitScope.describe('What is counted together.'),
    calls: z.number().int().min(0).max(10_000).describe('Most calls that have not ended: 0 to 10,000.'),
    tools,
  })
  .meta({ id: 'ConcurrencyLimit' });
export type ConcurrencyLimit = z.output<typeof ConcurrencyLimit>;

/** Limits that are checked before a call is accepted. Absent ones do not apply, and cost nothing. */
export const Limits = z
  .strictObject({
    actionsPerHour: z
      .number()
      .int()
      .min(0)
      .max(100_000)
      .optional()
      .describe(
        'Calls of tools that act (all but read_only ones) per session, in any hour. Not said, 20 under the profile zeroclaw, else unlimited.',
      ),
    costPerDayCents: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Accepted and shown with each decision; nothing tells costs of calls yet, so nothing is counted.'),
    rates: z.array(RateLimit).max(32).optional().describe('Calls in a time.'),
    concurrency: z.array(ConcurrencyLimit).max(32).optional().describe('Calls at the same time.'),
    queueDepth: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('No new call while so many wait in its pool, of all tenants. Not exact: gateways look at the same moment.'),
    treeCalls: z.number().int().min(0).max(100_000).optional().describe('Most calls below one call that no call made, however deep.'),
    treeDepth: z
      .number()
      .int()
      .min(0)
      .max(16)
      .optional()
      .describe('How deep calls may make calls: 1 lets a call make calls, and those none. Not set: 3.'),
    argumentBytes: z.number().int().min(2).optional().describe('Largest arguments as JSON, in bytes.'),
    resultBytes: z
      .number()
      .int()
      .min(256)
      .max(16_384)
      .optional()
      .describe('Longest text that the model gets, in bytes; the whole output stays readable.'),
  })
  .meta({ id: 'Limits' });
export type Limits = z.output<typeof Limits>;
