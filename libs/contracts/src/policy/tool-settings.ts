import { z } from 'zod';
import { LIMITS } from '../values/limits.js';
import { Json } from '../values/json.js';
import { ToolTier } from '../tools/tool.js';

const Patterns = z.array(z.string().min(1).max(200)).max(500);

/**
 * Settings of a policy for one tool. Tools declare their arguments that name operations of services and agents (`subjects`);
 * these settings evaluate them, for any tool.
 */
export const ToolSettings = z
  .strictObject({
    tier: ToolTier.optional().describe(
      `What the session's posture takes the tool for, whatever the tool says of itself. How it runs and runs again is not touched.`,
    ),
    timeoutMs: z
      .number()
      .int()
      .min(1)
      .max(LIMITS.runMs)
      .optional()
      .describe('How long one attempt may run, unless the call asks for less, ms. Not said: what the tool says.'),
    defaults: z.record(z.string(), Json).optional().describe('Arguments that are filled in where the call has none of that name.'),
    autoAllow: z.boolean().optional().describe('The tool runs without approval, unless a rule denies.'),
    allowedServices: Patterns.optional().describe(
      'Globs of `service:operation`, or of `operation` where the tool has no services, that run without asking. Without a colon: a whole service.',
    ),
    deniedServices: Patterns.optional().describe('Globs of the same that never run; they add up over the settings.'),
    autoAllowReadonly: z.boolean().optional().describe('Operations that the tool says only read run without asking. Not said: they do.'),
    availableAgents: Patterns.optional().describe('Globs of the agents that the tool may start; not said, all.'),
    trustedAgents: Patterns.optional().describe('Globs of those it may start without asking.'),
  })
  .meta({ id: 'ToolSettings' });
export type ToolSettings = z.output<typeof ToolSettings>;
