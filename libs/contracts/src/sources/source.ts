import { z } from 'zod';
import { Label } from '../calls/names.js';
import { Pool } from '../tools/tool.js';
import { ToolPattern } from '../policy/policy-config.js';

/** The name of a tool source. It has no `_`, so that `source__tool` can be taken apart again. */
export const SourceName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected a lower-case letter, then at most 31 lower-case letters, digits or -')
  .refine((name) => name !== 'builtin' && name !== 'mcp', 'the names builtin and mcp have a meaning in tool patterns already')
  .meta({ id: 'SourceName', description: 'Name of a tool source. Tool patterns address its tools as `@name/tool`.' });
export type SourceName = z.output<typeof SourceName>;

export const SOURCE_KINDS = ['mcp', 'openapi', 'folder', 'worker'] as const;
export const SourceKind = z.enum(SOURCE_KINDS).meta({ id: 'SourceKind', description: 'How the tools of a source are reached.' });
export type SourceKind = z.output<typeof SourceKind>;

/** The tenant of sources that all tenants share. Only the config file may name it. */
export const ALL_TENANTS = '*';
export const SourceTenant = z.union([z.literal(ALL_TENANTS), Label]);

const EnvironmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected the name of an environment variable');

/** A secret by reference: the value never leaves the worker that resolves it. */
export const SecretRef = z
  .strictObject({ secretEnv: EnvironmentName.describe('Environment variable of the worker that holds the value.') })
  .meta({ id: 'SecretRef', description: 'Names a secret without containing it.' });
export type SecretRef = z.output<typeof SecretRef>;

export const SecretOrText = z.union([z.string().max(4_096), SecretRef]);
export type SecretOrText = z.output<typeof SecretOrText>;

export const SourceHeaders = z
  .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'expected the name of an HTTP header'), SecretOrText)
  .describe('HTTP headers of every request to the declared host. A secret is a reference: `{"secretEnv": "NAME"}`.');

const Patterns = z.array(ToolPattern).max(500);

/** What every kind of source has. */
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

/** An MCP server: Streamable HTTP by `url`, or stdio by `command`. */
export const McpSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('mcp'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional()
      .describe('Address of a Streamable HTTP server.'),
    headers: SourceHeaders.optional(),
    command: z
      .array(z.string().min(1).max(4_096))
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Program and arguments of a stdio server. It runs in the sandbox of its pool. Config file, or `sourceRules.allowCommands`.',
      ),
    env: z.record(EnvironmentName, SecretOrText).optional().describe('Environment variables of the command.'),
    paths: z
      .array(z.string().startsWith('/', 'expected an absolute path').max(4_096))
      .max(64)
      .optional()
      .describe('Files and folders that the command may read in its sandbox.'),
  })
  .meta({ id: 'McpSourceDefinition', description: 'A server of the Model Context Protocol. Exactly one of `url` and `command`.' });
export type McpSourceDefinition = z.output<typeof McpSourceDefinition>;

/** A folder of tools: each sub-folder with a `tool.yaml` is a tool. */
export const FolderSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('folder'),
    path: z.string().startsWith('/', 'expected an absolute path').max(4_096).describe('Folder on the workers. Config file only.'),
  })
  .meta({ id: 'FolderSourceDefinition', description: 'A folder of tools on the workers.' });
export type FolderSourceDefinition = z.output<typeof FolderSourceDefinition>;

/** What the operator says about the tools that workers in other languages announce under this name. */
export const WorkerSourceDefinition = z
  .strictObject({ ...SOURCE_FIELDS, kind: z.literal('worker') })
  .meta({ id: 'WorkerSourceDefinition', description: 'Rules of the operator for tools that foreign workers announce under this name.' });
export type WorkerSourceDefinition = z.output<typeof WorkerSourceDefinition>;

const HttpUrl = z.url({ protocol: /^https?$/ }).max(2_048);

const SourceAuth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('bearer'), token: SecretOrText.describe('The token.') }),
    z.strictObject({
      type: z.literal('basic'),
      username: SecretOrText.describe('The user name.'),
      password: SecretOrText.describe('The password.'),
    }),
    z.strictObject({
      type: z.literal('apiKey'),
      in: z.enum(['header', 'query', 'cookie']).describe('Where the API expects the key.'),
      name: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'expected the name of a header, parameter or cookie')
        .describe('Name of the header, parameter or cookie.'),
      value: SecretOrText.describe('The key.'),
    }),
  ])
  .describe('Credentials of every request. A secret is a reference: `{"secretEnv": "NAME"}`.');

/** An OpenAPI document, of which each operation is a tool. */
export const OpenApiSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('openapi'),
    document: HttpUrl.optional().describe('Address of the OpenAPI document, version 3.0 or 3.1, JSON or YAML.'),
    path: z
      .string()
      .startsWith('/', 'expected an absolute path')
      .max(4_096)
      .optional()
      .describe('File on the workers with the document, instead of `document`. Config file only.'),
    url: HttpUrl.refine((url) => !/[?#]/.test(url), 'expected an address without query and fragment')
      .optional()
      .describe('Base address of all requests. Not set: the servers that the document names.'),
    headers: SourceHeaders.optional(),
    auth: SourceAuth.optional(),
    tags: z.array(z.string().min(1).max(200)).max(500).optional().describe('Only operations with one of these tags.'),
    methods: z
      .array(z.enum(['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace']))
      .max(8)
      .optional()
      .describe('Only operations of these methods.'),
    paths: z
      .array(z.string().startsWith('/').max(500))
      .max(500)
      .optional()
      .describe('Only operations whose path begins with or matches one of these.'),
    maxTools: z.number().int().min(1).max(5_000).default(1_000).describe('So many operations become tools at most.'),
  })
  .meta({ id: 'OpenApiSourceDefinition', description: 'An API by its OpenAPI document. Exactly one of `document` and `path`.' });
export type OpenApiSourceDefinition = z.output<typeof OpenApiSourceDefinition>;

const exactlyOneOrigin = (source: SourceDefinitionShape, context: z.RefinementCtx) => {
  if (source.kind === 'openapi' && (source.document === undefined) === (source.path === undefined))
    context.addIssue({ code: 'custom', path: ['document'], message: 'expected exactly one of `document` and `path`' });
  if (source.kind === 'mcp' && (source.url === undefined) === (source.command === undefined))
    context.addIssue({ code: 'custom', path: ['url'], message: 'expected exactly one of `url` and `command`' });
};

const SourceDefinitionShape = z.discriminatedUnion('kind', [
  McpSourceDefinition,
  OpenApiSourceDefinition,
  FolderSourceDefinition,
  WorkerSourceDefinition,
]);
type SourceDefinitionShape = z.output<typeof SourceDefinitionShape>;

/** How a source is defined; `SourceRules` say what may be said over HTTP. */
export const SourceDefinition = SourceDefinitionShape.superRefine(exactlyOneOrigin).meta({
  id: 'SourceDefinition',
  description: 'How the tools of a source are found.',
});
export type SourceDefinition = z.output<typeof SourceDefinition>;

/** A source in the config file. `tenant: '*'` offers it to all tenants. */
export const SourceSettings = z
  .discriminatedUnion('kind', [
    McpSourceDefinition.extend({ tenant: SourceTenant.default('default').describe('The tenant that has its tools; `*` for all tenants.') }),
    OpenApiSourceDefinition.extend({
      tenant: SourceTenant.default('default').describe('The tenant that has its tools; `*` for all tenants.'),
    }),
    FolderSourceDefinition.extend({
      tenant: SourceTenant.default('default').describe('The tenant that has its tools; `*` for all tenants.'),
    }),
    WorkerSourceDefinition.extend({
      tenant: SourceTenant.default('default').describe('The tenant whose workers it is about; `*` for all tenants.'),
    }),
  ])
  .superRefine(exactlyOneOrigin);
export type SourceSettings = z.output<typeof SourceSettings>;

/** What sources that keys add over HTTP may do. The config file is not bound by it. */
export const SourceRules = z.strictObject({
  allowCommands: z.boolean().default(false).describe('Sources added over HTTP may name commands and folders of the workers.'),
  secrets: z
    .array(EnvironmentName)
    .max(500)
    .default([])
    .describe('Environment variables of the workers that sources added over HTTP may name as secrets.'),
});
export type SourceRules = z.output<typeof SourceRules>;

/** A definition as it is stored for the workers. */
export const StoredSource = z.object({
  tenantId: SourceTenant,
  origin: z.enum(['config', 'api']),
  definition: SourceDefinition,
});
export type StoredSource = z.output<typeof StoredSource>;
