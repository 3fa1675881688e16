import { z } from 'zod';
import { Scope, TENANT_SCOPES } from '../api/principal.js';
import { Posture } from '../api/sessions.api.js';
import { Label } from '../calls/names.js';
import { Hooks, SessionHookSettings } from '../hooks/hook.js';
import { Limits } from '../policy/limits.js';
import { PolicySettings, ToolPattern } from '../policy/policy-config.js';
import { SafetySettings } from '../safety/safety-settings.js';

/** One API key as the operator writes it: the key itself, or only its SHA-256. */
export const KeyEntry = z
  .strictObject({
    id: Label,
    key: z.string().min(16, 'expected at least 16 characters').optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
      .optional(),
    tenant: Label,
    agent: Label.optional(),
    scopes: z
      .array(Scope)
      .min(1)
      .default([...TENANT_SCOPES]),
    tools: z.array(z.string().min(1)).optional(),
    ratePerMinute: z.number().int().positive().optional(),
    expiresAt: z.iso.datetime({ offset: true, error: 'expected an RFC 3339 time such as 2030-01-31T00:00:00Z' }).optional(),
  })
  .refine((entry) => (entry.key === undefined) !== (entry.sha256 === undefined), 'expected exactly one of `key` and `sha256`');
export type KeyEntry = z.output<typeof KeyEntry>;

/** What holds for the calls of one agent, on top of what holds for everybody. `tools` and `allowedTools` are those of `policy`, for short. */
export const AgentSettings = z.strictObject({
  policy: PolicySettings.optional(),
  posture: Posture.partial().optional(),
  tools: z.array(ToolPattern).optional(),
  allowedTools: z.array(ToolPattern).optional(),
  limits: Limits.optional(),
  /** Run after those for everybody. */
  hooks: Hooks.optional(),
});
export type AgentSettings = z.output<typeof AgentSettings>;

/** How approvals are given. With `fourEyes` whoever submitted a call cannot allow it: the keys must differ. */
export const ApprovalSettings = z.strictObject({ fourEyes: z.boolean().default(false) });

/** The file that TOOLYARD_CONFIG names, as YAML or JSON. All of it can be changed while a gateway runs. */
export const ConfigFile = z.strictObject({
  $schema: z.string().optional(),
  keys: z
    .array(KeyEntry)
    .refine((entries) => new Set(entries.map((entry) => entry.id)).size === entries.length, 'expected a different `id` for every key')
    .refine((entries) => entries.every((entry) => entry.id !== 'bootstrap'), 'the id `bootstrap` belongs to TOOLYARD_API_KEY')
    .default([]),
  defaults: z.strictObject({ posture: Posture.partial().optional() }).default({}),
  policy: PolicySettings.default({}),
  approvals: ApprovalSettings.default({ fourEyes: false }),
  limits: Limits.default({}),
  /** For the calls of everybody, in this order. */
  hooks: Hooks.default([]),
  sessionHooks: SessionHookSettings.default({ commands: false }),
  safety: SafetySettings.prefault({}),
  agents: z.record(Label, AgentSettings).default({}),
});
export type ConfigFile = z.output<typeof ConfigFile>;
