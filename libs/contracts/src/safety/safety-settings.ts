import { z } from 'zod';
import { ToolPattern } from '../policy/policy-config.js';

/** Redaction of everything that is stored, shown or given to a model. */
export const RedactionSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Secrets are replaced by `[REDACTED]` in all that is stored or shown.'),
  values: z
    .array(z.string().min(6, 'expected at least 6 characters: a shorter text would be found everywhere').max(4_096))
    .max(500)
    .default([])
    .describe(
      'Texts that are secret wherever they stand. They are kept in Redis for the workers: what Redis must not hold, name in REDACT_ENV.',
    ),
  names: z
    .array(z.string().regex(/^[A-Za-z0-9 _.-]{3,64}$/, 'expected 3 to 64 of the characters A-Z a-z 0-9 blank _ . -'))
    .max(200)
    .default([])
    .describe('More endings of names whose values are secret, like `password`; how they are written does not matter.'),
  entropy: z
    .boolean()
    .default(false)
    .describe('Takes long random-looking tokens for secrets, too. Finds more, also what is none: paths, identifiers.'),
});
export type RedactionSettings = z.output<typeof RedactionSettings>;

/** Marks content of tools that reach outside as foreign data for the model. */
export const ProvenanceSettings = z.strictObject({
  mark: z.boolean().default(true).describe('Content from outside is marked for the model as data, not instructions.'),
  trusted: z.array(ToolPattern).max(100).default([]).describe('Tools whose content needs no mark.'),
});
export type ProvenanceSettings = z.output<typeof ProvenanceSettings>;

const perMinute = (preset: number) => z.number().int().min(0).max(1_000_000).default(preset);

/** Searches the output of commands for kernel messages about system calls, and raises alerts. Changes no result. */
export const AnomalySettings = z.strictObject({
  enabled: z.boolean().default(false).describe('Outputs of commands are searched for reports of unusual system calls.'),
  strict: z.boolean().default(true).describe('Each denied system call is an alert, not only too many of them.'),
  baseline: z
    .array(z.string().regex(/^[a-z0-9_]{1,40}$/, 'expected names of system calls'))
    .max(600)
    .optional()
    .describe('System calls that are nothing special; replaces the built-in ones.'),
  maxDeniedPerMinute: perMinute(5).describe('More denied system calls a minute are an alert.'),
  maxEventsPerMinute: perMinute(100).describe('More reports a minute are an alert.'),
  maxAlertsPerMinute: perMinute(10).describe('More alerts a minute are dropped.'),
  cooldownMs: z.number().int().min(0).max(3_600_000).default(30_000).describe('So long the same alert is not raised again.'),
});
export type AnomalySettings = z.output<typeof AnomalySettings>;

/** `safety` of the config file: treatment of arguments and outputs before they are stored or sent. */
export const SafetySettings = z.strictObject({
  redaction: RedactionSettings.prefault({}).describe('Removes secrets from arguments and outputs.'),
  hiddenCharacters: z
    .enum(['drop', 'escape'])
    .default('drop')
    .describe('Zero-width, bidi, tag and other characters that a model reads and a person does not see.'),
  provenance: ProvenanceSettings.prefault({}).describe('Marks content from outside.'),
  anomaly: AnomalySettings.prefault({}).describe('Alerts about unusual system calls; they change no result.'),
});
export type SafetySettings = z.output<typeof SafetySettings>;

const { values, names } = RedactionSettings.shape;
const only = (what: string) => z.literal(true, `expected true, or nothing: a tenant adds to ${what} and takes nothing away`).optional();

/** `tenants.<id>.safety`: adds to `safety`, and removes nothing. */
export const TenantSafetySettings = z.strictObject({
  redaction: z
    .strictObject({
      values: values.describe('More secret texts, only in calls of the tenant. As `safety.redaction.values`.'),
      names: names.describe('More endings of names, as `safety.redaction.names`.'),
      entropy: only('safety.redaction').describe('Long random-looking tokens are secrets, too. Not set: as for all tenants.'),
    })
    .optional()
    .describe('Removes further secrets. Set, also as `{}`: secrets are removed even where `safety.redaction.enabled` is `false`.'),
  provenance: z
    .strictObject({ mark: only('safety.provenance').describe('Content from outside is marked. Not set: as for all tenants.') })
    .optional()
    .describe('Marks content from outside.'),
  anomaly: z
    .strictObject({ enabled: only('safety.anomaly').describe('Outputs of its commands are searched. Not set: as for all tenants.') })
    .optional()
    .describe('Alerts about unusual system calls.'),
});
export type TenantSafetySettings = z.output<typeof TenantSafetySettings>;

export function withTenantSafety(general: SafetySettings, { redaction, provenance, anomaly }: TenantSafetySettings): SafetySettings {
  const { values: known, names: endings, entropy } = general.redaction;
  const union = (all: readonly string[], own: readonly string[]) => [...new Set([...all, ...own])];
  return {
    ...general,
    ...(redaction && {
      redaction: {
        enabled: true,
        values: union(known, redaction.values),
        names: union(endings, redaction.names),
        entropy: entropy || redaction.entropy === true,
      },
    }),
    ...(provenance?.mark && { provenance: { ...general.provenance, mark: true } }),
    ...(anomaly?.enabled && { anomaly: { ...general.anomaly, enabled: true } }),
  };
}
