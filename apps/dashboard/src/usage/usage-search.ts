import { z } from 'zod';
import { Measure } from './usage-sums.js';

export const UsageWindow = z.enum(['24h', '7d', '30d']);
export type UsageWindow = z.output<typeof UsageWindow>;
export const UsageBy = z.enum(['agent', 'tool', 'tenant']);
export type UsageBy = z.output<typeof UsageBy>;

/** The address of the page of usage. `agentId` and `tool` name the one whose calls alone are counted. */
export const UsageSearch = z.object({
  window: UsageWindow.optional().catch(undefined),
  by: UsageBy.optional().catch(undefined),
  measure: Measure.optional().catch(undefined),
  agentId: z.string().optional().catch(undefined),
  tool: z.string().optional().catch(undefined),
});
export type UsageSearch = z.output<typeof UsageSearch>;
