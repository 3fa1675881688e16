import { z } from 'zod';
import { Label } from '../calls/names.js';

/** What a key of the config file may do where its entry does not say. */
export const DEFAULT_SCOPES = ['submit', 'read', 'cancel'] as const;
/** `approve` and `admin` loosen what calls are judged by, `operate` touches all tenants: a key has them only where its entry says so. */
export const SCOPES = [...DEFAULT_SCOPES, 'approve', 'admin', 'operate'] as const;
export const Scope = z.enum(SCOPES).meta({ id: 'Scope' });
export type Scope = z.output<typeof Scope>;

/** Names of agents, such as `deployer` or `team-a-*`; `*` stands for any characters, `?` for one. */
export const AgentGlob = z
  .string()
  .regex(/^[A-Za-z0-9._@*?-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ @ - and the wildcards * ?')
  .meta({ id: 'AgentGlob' });

/** Who makes a request, as the guard found from the key. `keyId` is a short public id, never the key. */
export const Principal = z.object({
  keyId: z.string(),
  tenantId: Label,
  /** The agent of calls that name none. */
  agentId: Label.optional(),
  /** The agents that calls may name besides `agentId`. Absent = none. */
  agents: z.array(AgentGlob).optional(),
  scopes: z.array(Scope),
  tools: z.array(z.string()).optional(),
  ratePerMinute: z.number().int().positive().optional(),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
});
export type Principal = z.output<typeof Principal>;
