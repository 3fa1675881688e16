import { z } from 'zod';
import { Label } from '../values/names.js';
import { ToolPattern } from '../policy/policy-config.js';
import { Pool } from '../tools/tool.js';

/** Name of a tool source. Has no `_`, so that `source__tool` can be split again. */
export const SourceName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected a lower-case letter, then at most 31 lower-case letters, digits or -')
  .refine((name) => name !== 'builtin' && name !== 'mcp', 'the names builtin and mcp have a meaning in tool patterns already')
  .meta({ id: 'SourceName', description: 'Name of a tool source. Tool patterns address its tools as `@name/tool`.' });
export type SourceName = z.output<typeof SourceName>;

/** Tenant of sources that all tenants share. Only the config file may use it. */
export const ALL_TENANTS = '*';
export const SourceTenant = z.union([z.literal(ALL_TENANTS), Label]);

export const EnvironmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected the name of an environment variable');

/** Least characters of a secret: shorter values cannot be redacted without damage to ordinary text, and are rejected on use. */
export const MIN_SECRET_CHARS = 6;

const SecretFile = z.string().max(1_024).regex(/^\//, 'expected an absolute path');

export const SecretEnv = z.strictObject({
  secretEnv: EnvironmentName.describe('Environment variable of the worker that holds the value.'),
});

/** Reference to a secret: the value never leaves the worker that resolves it. */
export const SecretRef = z
  .union([
    SecretEnv,
    z.strictObject({
      secretFile: SecretFile.describe(
        'File of the worker that holds the value, such as a mounted Kubernetes secret, without the line end after it. A changed file is read again: by programs when they start again, which is at the next call. Config file only.',
      ),
    }),
  ])
  .meta({ id: 'SecretRef', description: `Names a secret of at least ${MIN_SECRET_CHARS} characters without containing it.` });
export type SecretRef = z.output<typeof SecretRef>;

export const SecretOrText = z.union([z.string().max(4_096), SecretRef]);
export type SecretOrText = z.output<typeof SecretOrText>;

export const SourceHeaders = z
  .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'expected the name of an HTTP header'), SecretOrText)
  .describe('HTTP headers of every request to the declared host. A secret is a reference: `{"secretEnv": "NAME"}`.');

/** Rules for mapping a source's tool names to those of the catalog. */
export const NameRules = z
  .strictObject({
    replace: z
      .array(
        z.strictObject({
          from: z.string().min(1).max(128).describe('A part of a name, as it is; every occurrence counts.'),
          to: z.string().max(64).default('').describe('What stands there instead. Not set: nothing.'),
        }),
      )
      .max(50)
      .default([])
      .describe('Replacements, in this order.'),
    prefix: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, 'expected a letter, then at most 31 letters, digits, _ or -')
      .optional()
      .describe('What then comes before each name.'),
  })
  .meta({ id: 'NameRules', description: 'New names for the tools of a source. `include` and `exclude` know a tool by both names.' });
export type NameRules = z.output<typeof NameRules>;

/** Hosts for requests of a source, besides those in its definition. */
export const SourceEgress = z
  .array(z.string().regex(/^[A-Za-z0-9.*:-]{1,260}$/, 'expected a host, with its port where that is not the default one'))
  .max(500)
  .describe(
    'Hosts that its requests may go to besides those that the definition names: `api.example.com`, `*.example.com:8443`. Of these only what the workers allow. Not set: all that the workers allow.',
  );

/** Network of the programs of a source. */
export const SourceNetwork = z
  .literal('none')
  .describe(
    'Its programs have no network, whatever `SANDBOX_NETWORK` of the workers says; workers that cannot isolate commands do not run them. Not set: as `SANDBOX_NETWORK` says.',
  );

const Patterns = z.array(ToolPattern).max(500);

/** Fields of every kind of source. */
export const SOURCE_FIELDS = {
  name: SourceName,
  include: Patterns.optional().describe('Globs of tool names that are offered. Not set: all.'),
  exclude: Patterns.optional().describe('Globs of tool names that are not offered, whatever `include` says.'),
  pool: Pool.optional().describe('The pool whose workers run the tools. Default by kind.'),
  timeoutMs: z.number().int().min(1).max(86_400_000).optional().describe('Run time of one attempt. Default: 120,000.'),
  trust: z
    .boolean()
    .default(false)
    .describe('Tier and effect come from the source. Not set: every tool is privileged and never runs twice. Config file only.'),
  pin: z
    .boolean()
    .default(true)
    .describe('A tool whose description, schema or facts change waits until a person accepts the change. Config file only.'),
};
