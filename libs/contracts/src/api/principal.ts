import { z } from 'zod';
import { Label } from '../calls/names.js';

/** What a key may do within its tenant. */
export const TENANT_SCOPES = ['submit', 'read', 'cancel', 'approve', 'admin'] as const;
/** `operate` touches all tenants: whoever runs the installation has it, and a key never by default. */
export const SCOPES = [...TENANT_SCOPES, 'operate'] as const;
export const Scope = z.enum(SCOPES).meta({ id: 'Scope' });
export type Scope = z.output<typeof Scope>;

/** Who makes a request, as the guard found from the key. `keyId` is a short public id, never the key. */
export const Principal = z.object({
  keyId: z.string(),
  tenantId: Label,
  agentId: Label.optional(),
  scopes: z.array(Scope),
  tools: z.array(z.string()).optional(),
  ratePerMinute: z.number().int().positive().optional(),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
});
export type Principal = z.output<typeof Principal>;
