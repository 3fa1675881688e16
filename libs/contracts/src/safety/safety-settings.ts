import { z } from 'zod';
import { ToolPattern } from '../policy/policy-config.js';

/** What is taken out of everything that is stored, shown or given to a model. */
export const RedactionSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Texts that are secret wherever they stand. They are kept in Redis for the workers: what Redis must not hold, name in REDACT_ENV. */
  values: z
    .array(z.string().min(6, 'expected at least 6 characters: a shorter text would be found everywhere').max(4_096))
    .max(500)
    .default([]),
  /** More endings of names whose values are secret, like `password`; how they are written does not matter. */
  names: z
    .array(z.string().regex(/^[A-Za-z0-9 _.-]{3,64}$/, 'expected 3 to 64 of the characters A-Z a-z 0-9 blank _ . -'))
    .max(200)
    .default([]),
  /** Takes long random-looking tokens for secrets, too. Finds more, also what is none: paths, identifiers. */
  entropy: z.boolean().default(false),
});
export type RedactionSettings = z.output<typeof RedactionSettings>;

/** Content of tools that reach outside is marked for the model as data of others. */
export const ProvenanceSettings = z.strictObject({
  mark: z.boolean().default(true),
  /** Tools whose content needs no mark. */
  trusted: z.array(ToolPattern).max(100).default([]),
});
export type ProvenanceSettings = z.output<typeof ProvenanceSettings>;

const perMinute = (preset: number) => z.number().int().min(0).max(1_000_000).default(preset);

/** Looks in the output of commands for what the kernel says about system calls, and raises alerts. Changes no result. */
export const AnomalySettings = z.strictObject({
  enabled: z.boolean().default(false),
  /** Each denied system call is an alert, not only too many of them. */
  strict: z.boolean().default(true),
  /** System calls that are nothing special; replaces the built-in ones. */
  baseline: z
    .array(z.string().regex(/^[a-z0-9_]{1,40}$/, 'expected names of system calls'))
    .max(600)
    .optional(),
  maxDeniedPerMinute: perMinute(5),
  maxEventsPerMinute: perMinute(100),
  maxAlertsPerMinute: perMinute(10),
  /** So long the same alert is not raised again. */
  cooldownMs: z.number().int().min(0).max(3_600_000).default(30_000),
});
export type AnomalySettings = z.output<typeof AnomalySettings>;

/** `safety` of the config file: what happens to arguments and outputs before anybody sees them. */
export const SafetySettings = z.strictObject({
  redaction: RedactionSettings.prefault({}),
  /** Zero-width, bidi, tag and other characters that a model reads and a person does not see. */
  hiddenCharacters: z.enum(['drop', 'escape']).default('drop'),
  provenance: ProvenanceSettings.prefault({}),
  anomaly: AnomalySettings.prefault({}),
});
export type SafetySettings = z.output<typeof SafetySettings>;
