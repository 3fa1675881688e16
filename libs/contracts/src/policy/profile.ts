import { z } from 'zod';

/** Names of the presets: one for each known agent with the same rules, and our own. */
export const PolicyProfile = z
  .enum(['core', 'zeroclaw', 'claw', 'phi', 'oxydra', 'kiro'])
  .meta({ id: 'PolicyProfile', description: 'A preset of rules and texts: of a known agent, or `core`, our own.' });
export type PolicyProfile = z.output<typeof PolicyProfile>;
