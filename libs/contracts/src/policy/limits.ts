import { z } from 'zod';

/**
 * Whose calls are counted together; always within the tenant. `agent` is the agent of the key, else the one a call names, else the key; `session`
 * is its session, else its agent. Callers choose session and agent names themselves: what must hold against a caller
 * is set per `key` or per `tenant`.
 */
export const LimitScope = z.enum(['key', 'tenant', 'agent', 'session', 'tool']).meta({ id: 'LimitScope' });
export type LimitScope = z.output<typeof LimitScope>;

/** Only calls of these tools count and are refused; without, all do. */
const tools = z.array(z.string().min(1).max(256)).min(1).max(100).optional();

/** At most `calls` in any `windowMs`. */
export const RateLimit = z
  .strictObject({
    per: LimitScope,
    calls: z.number().int().min(0).max(100_000),
    windowMs: z.number().int().min(100).max(86_400_000).default(60_000),
    tools,
  })
  .meta({ id: 'RateLimit' });
export type RateLimit = z.output<typeof RateLimit>;

/** At most `calls` that have not ended, whether they run or wait. */
export const ConcurrencyLimit = z
  .strictObject({ per: LimitScope, calls: z.number().int().min(0).max(10_000), tools })
  .meta({ id: 'ConcurrencyLimit' });
export type ConcurrencyLimit = z.output<typeof ConcurrencyLimit>;

/** What a call is measured against before it is accepted. What is not said is not limited, and costs nothing. */
export const Limits = z
  .strictObject({
    /** Calls of tools that act (all but read_only ones) per session, in any hour. Not said, 20 under the profile zeroclaw, else unlimited. */
    actionsPerHour: z.number().int().min(0).max(100_000).optional(),
    /** Accepted and shown with each decision; nothing tells costs of calls yet, so nothing is counted. */
    costPerDayCents: z.number().int().min(0).optional(),
    rates: z.array(RateLimit).max(32).optional(),
    concurrency: z.array(ConcurrencyLimit).max(32).optional(),
    /** No new call while so many wait in its pool, of all tenants. Not exact: gateways look at the same moment. */
    queueDepth: z.number().int().min(0).optional(),
    /** Calls below one call that no call made, however deep. */
    treeCalls: z.number().int().min(0).max(100_000).optional(),
    /** How far below it: 1 lets a call make calls, and those none. 3 where nothing is said. */
    treeDepth: z.number().int().min(0).max(16).optional(),
    /** Of the arguments as JSON. */
    argumentBytes: z.number().int().min(2).optional(),
    /** Of the text that the model gets; the whole output stays readable. */
    resultBytes: z.number().int().min(256).max(16_384).optional(),
  })
  .meta({ id: 'Limits' });
export type Limits = z.output<typeof Limits>;
