import { z } from 'zod';
import { AgentGlob } from '../values/principal.js';
import { AgentModel, AgentSourceDefinition } from './agent-source.js';
import {
  EnvironmentName,
  NameRules,
  SecretOrText,
  SecretRef,
  SOURCE_FIELDS,
  SourceEgress,
  SourceHeaders,
  SourceNetwork,
  SourceTenant,
} from './source-fields.js';

export * from './source-fields.js';
export * from './agent-source.js';

export const SOURCE_KINDS = ['mcp', 'openapi', 'folder', 'worker', 'agent', 'plugin'] as const;
export const SourceKind = z.enum(SOURCE_KINDS).meta({ id: 'SourceKind', description: 'How the tools of a source are reached.' });
export type SourceKind = z.output<typeof SourceKind>;

/** Types of the settings of a bundle. */
export const SETTING_TYPES = ['string', 'number', 'boolean', 'directory', 'file'] as const;

/** MCP bundle (`.mcpb`): a stdio server in a zip archive with a manifest. */
export const McpBundle = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional()
      .describe('Address of the bundle. Redirects are not followed.'),
    path: z
      .string()
      .startsWith('/', 'expected an absolute path')
      .max(4_096)
      .optional()
      .describe('File on the workers, instead of `url`. Config file only.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 digest: 64 lower-case hexadecimal digits, as sha256sum prints them')
      .describe('Digest of the bundle. One with another digest is not unpacked.'),
    config: z
      .record(z.string().min(1).max(128), z.union([SecretOrText, z.number(), z.boolean(), z.array(z.string().max(4_096)).max(64)]))
      .optional()
      .describe("Values for the settings of the bundle's `user_config`. Files and folders among them can be read by its server."),
  })
  .meta({
    id: 'McpBundle',
    description: 'An MCP bundle (`.mcpb`) at `url` or `path`. Over HTTP without both: the one that was uploaded with `POST /v1/bundles`.',
  });
export type McpBundle = z.output<typeof McpBundle>;

/** Model that answers the sampling requests of an MCP server. */
export const McpSampling = z
  .strictObject({
    model: AgentModel.describe('The model that is asked: texts only, without tools.'),
    maxCalls: z.number().int().min(1).max(1_000).default(5).describe('Most requests of the server during one call of a tool.'),
    maxTokens: z
      .number()
      .int()
      .min(1)
      .max(10_000_000)
      .default(20_000)
      .describe('Tokens, read and written, after which one call of a tool gets no further answer.'),
  })
  .meta({ id: 'McpSampling', description: 'Answers `sampling/createMessage` of a server by a model of the operator.' });
export type McpSampling = z.output<typeof McpSampling>;

const HttpUrl = z.url({ protocol: /^https?$/ }).max(2_048);

const Scopes = z
  .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/))
  .max(100)
  .optional();
const ClientName = z.string().min(1, 'expected the id of a client').max(4_096);

/** Client of OAuth 2.0 client credentials. */
const CLIENT_CREDENTIALS = {
  type: z.literal('clientCredentials'),
  clientId: z.union([ClientName, SecretRef]).describe('The id of the client.'),
  scopes: Scopes.describe('Scopes to ask for.'),
  audience: z.string().max(1_000).optional().describe('Audience to ask for, where the issuer needs it.'),
  send: z.enum(['basic', 'body']).default('basic').describe('How the client authenticates: HTTP Basic, or fields of the body.'),
};

const TokenResource = z
  .union([HttpUrl, z.literal(false)])
  .optional()
  .describe(
    'The resource that tokens are for (RFC 8707). Not set: as the metadata of the server name it, else `url` of the source. `false`: not sent, for issuers that refuse it.',
  );

const McpClientCredentials = z
  .strictObject({
    ...CLIENT_CREDENTIALS,
    issuer: HttpUrl.optional().describe(
      'The issuer of tokens, by its identifier: its metadata name the token endpoint, which must have the origin of the issuer. A server that names other issuers gets no token.',
    ),
    tokenUrl: HttpUrl.optional().describe('The token endpoint, instead of `issuer`. The client secret goes to this host only.'),
    clientSecret: SecretRef.describe('The secret of the client, by reference.'),
    resource: TokenResource,
  })
  .meta({ id: 'McpClientCredentials', description: 'OAuth 2.0 client credentials. Exactly one of `issuer` and `tokenUrl`.' });
export type McpClientCredentials = z.output<typeof McpClientCredentials>;

const McpAuthorizationCode = z
  .strictObject({
    type: z.literal('authorizationCode'),
    issuer: HttpUrl.optional().describe(
      'The issuer of tokens, by its identifier. Not set: the first one that the metadata of the server name.',
    ),
    clientId: ClientName.optional().describe('The id of the client at `issuer`. Not set: Toolyard registers itself there (RFC 7591).'),
    clientSecret: SecretRef.optional().describe(
      'The secret of the client, by reference, in the environment of gateways and workers. It goes to the origin of `issuer` only.',
    ),
    scopes: Scopes.describe('Scopes to ask for. Not set: those that the server asks for.'),
    resource: TokenResource,
  })
  .meta({ id: 'McpAuthorizationCode', description: 'OAuth 2.0 authorization code with PKCE: a person lets the source have tokens.' });
export type McpAuthorizationCode = z.output<typeof McpAuthorizationCode>;

/** Authentication of Toolyard at an MCP server over HTTP. */
export const McpAuth = z
  .discriminatedUnion('type', [McpClientCredentials, McpAuthorizationCode])
  .meta({ id: 'McpAuth', description: 'OAuth 2.0: client credentials, or an authorization by a person.' });
export type McpAuth = z.output<typeof McpAuth>;

/** MCP server: Streamable HTTP by `url`, or stdio by `command` or `bundle`. */
export const McpSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('mcp'),
    names: NameRules.optional(),
    egress: SourceEgress.optional(),
    network: SourceNetwork.optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional()
      .describe('Address of a Streamable HTTP server.'),
    headers: SourceHeaders.optional(),
    auth: McpAuth.optional().describe(
      'Of an MCP server: OAuth 2.0 for `url`, by client credentials or by an authorization code. Each request carries a token of the issuer.',
    ),
    command: z
      .array(z.string().min(1).max(4_096))
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Program and arguments of a stdio server. It runs in the sandbox of its pool. Config file, or `sourceRules.allowCommands`.',
      ),
    bundle: McpBundle.optional(),
    env: z
      .record(EnvironmentName, SecretOrText)
      .optional()
      .describe('Environment variables of the command, or of the server of the bundle.'),
    paths: z
      .array(z.string().startsWith('/', 'expected an absolute path').max(4_096))
      .max(64)
      .optional()
      .describe('Files and folders that the command may read in its sandbox.'),
    sampling: McpSampling.optional().describe(
      'A model of the operator for a server that asks for one during a call. Each answer is an event `call.turn` of the call. Not set: the model of the MCP client that made the call, if it offers one. Config file only.',
    ),
    concurrency: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe('Calls that one worker sends at the same time; further ones wait for their turn there. Not set: no limit.'),
  })
  .meta({
    id: 'McpSourceDefinition',
    description: 'A server of the Model Context Protocol. Exactly one of `url`, `command` and `bundle`.',
  });
export type McpSourceDefinition = z.output<typeof McpSourceDefinition>;

/** Folder of tools: each sub-folder with a `tool.yaml` is a tool. */
export const FolderSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('folder'),
    network: SourceNetwork.optional(),
    path: z.string().startsWith('/', 'expected an absolute path').max(4_096).describe('Folder on the workers. Config file only.'),
  })
  .meta({ id: 'FolderSourceDefinition', description: 'A folder of tools on the workers.' });
export type FolderSourceDefinition = z.output<typeof FolderSourceDefinition>;

/** Operator's settings for the tools that workers in other languages announce under this name. */
export const WorkerSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('worker'),
    secrets: z
      .record(z.string().min(1).max(128), z.record(EnvironmentName, SecretRef))
      .optional()
      .describe(
        'Secrets that go to the workers with each call of a tool, by the name of the tool: `{deploy: {API_TOKEN: {secretEnv: DEPLOY_TOKEN}}}`, from the environment of the gateways. Only to keys with `workerSecrets`.',
      ),
    workspaceRoot: z
      .string()
      .startsWith('/', 'expected an absolute path')
      .max(4_096)
      .optional()
      .describe('Where the workers see `WORKSPACE_ROOT`, such as a shared volume. Not set: calls name no folder.'),
  })
  .meta({ id: 'WorkerSourceDefinition', description: 'Rules of the operator for tools that foreign workers announce under this name.' });
export type WorkerSourceDefinition = z.output<typeof WorkerSourceDefinition>;

/** npm package that workers have loaded. Only `plugins` of the config file creates such a source. */
export const PluginSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('plugin'),
    package: z.string().min(1).max(1_024).describe('The package, as `plugins` of the config file names it.'),
  })
  .meta({ id: 'PluginSourceDefinition', description: 'An npm package that workers have loaded. Only the config file names plugins.' });
export type PluginSourceDefinition = z.output<typeof PluginSourceDefinition>;

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
    z.strictObject({
      ...CLIENT_CREDENTIALS,
      tokenUrl: HttpUrl.describe('Where OAuth 2.0 tokens are issued. The client secret goes to this host only.'),
      clientSecret: SecretOrText.describe('The secret of the client.'),
    }),
  ])
  .describe('Credentials of every request. A secret is a reference: `{"secretEnv": "NAME"}`.');

/** OpenAPI document, in which each operation is a tool. */
export const OpenApiSourceDefinition = z
  .strictObject({
    ...SOURCE_FIELDS,
    kind: z.literal('openapi'),
    names: NameRules.optional(),
    egress: SourceEgress.optional(),
    document: HttpUrl.optional().describe('Address of the document, of OpenAPI 3 or Swagger 2.0, JSON or YAML.'),
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
      .array(z.enum(['get', 'head', 'options', 'query', 'post', 'put', 'patch', 'delete', 'trace']))
      .max(9)
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

const checkAuth = ({ url, headers = {} }: McpSourceDefinition, auth: McpAuth, context: z.RefinementCtx) => {
  if (url === undefined) context.addIssue({ code: 'custom', path: ['auth'], message: 'expected a server with `url`' });
  if (auth.type === 'clientCredentials' && (auth.issuer === undefined) === (auth.tokenUrl === undefined))
    context.addIssue({ code: 'custom', path: ['auth', 'issuer'], message: 'expected exactly one of `issuer` and `tokenUrl`' });
  if (auth.type === 'authorizationCode' && auth.clientId !== undefined && auth.issuer === undefined)
    context.addIssue({ code: 'custom', path: ['auth', 'issuer'], message: 'expected the issuer that knows `clientId`' });
  if (auth.type === 'authorizationCode' && auth.clientSecret !== undefined && auth.clientId === undefined)
    context.addIssue({ code: 'custom', path: ['auth', 'clientId'], message: 'expected the client that `clientSecret` is of' });
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    context.addIssue({ code: 'custom', path: ['headers'], message: 'expected no header Authorization beside `auth`' });
};

const exactlyOneOrigin = (source: SourceDefinitionShape, context: z.RefinementCtx) => {
  if (source.kind === 'openapi' && (source.document === undefined) === (source.path === undefined))
    context.addIssue({ code: 'custom', path: ['document'], message: 'expected exactly one of `document` and `path`' });
  if (source.kind !== 'mcp') return;
  const { url, command, bundle } = source;
  if ([url, command, bundle].filter((it) => it !== undefined).length !== 1)
    context.addIssue({ code: 'custom', path: ['url'], message: 'expected exactly one of `url`, `command` and `bundle`' });
  if (url === undefined && source.egress !== undefined)
    context.addIssue({ code: 'custom', path: ['egress'], message: 'expected a server with `url`; for a program there is `network`' });
  if (url !== undefined && source.network !== undefined)
    context.addIssue({ code: 'custom', path: ['network'], message: 'expected a program; for a server with `url` there is `egress`' });
  if (source.auth !== undefined) checkAuth(source, source.auth, context);
  if (bundle?.url !== undefined && bundle.path !== undefined)
    context.addIssue({ code: 'custom', path: ['bundle', 'url'], message: 'expected `url` or `path`, not both' });
};

/** Checks that a bundle in the config file has a place: uploaded bundles belong to a tenant. */
const bundleWithPlace = (source: SourceDefinitionShape, context: z.RefinementCtx) => {
  if (source.kind !== 'mcp' || source.bundle === undefined) return;
  if (source.bundle.url === undefined && source.bundle.path === undefined)
    context.addIssue({ code: 'custom', path: ['bundle', 'url'], message: 'expected exactly one of `url` and `path`' });
};

const SourceDefinitionShape = z.discriminatedUnion('kind', [
  McpSourceDefinition,
  OpenApiSourceDefinition,
  FolderSourceDefinition,
  WorkerSourceDefinition,
  AgentSourceDefinition,
  PluginSourceDefinition,
]);
type SourceDefinitionShape = z.output<typeof SourceDefinitionShape>;

/** Definition of a source; `SourceRules` limit definitions over HTTP. */
export const SourceDefinition = SourceDefinitionShape.superRefine(exactlyOneOrigin).meta({
  id: 'SourceDefinition',
  description: 'How the tools of a source are found.',
});
export type SourceDefinition = z.output<typeof SourceDefinition>;

/** Source in the config file. `tenant: '*'` offers it to all tenants. */
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
    AgentSourceDefinition.extend({
      tenant: SourceTenant.default('default').describe('The tenant that has the sub-agent; `*` for all tenants.'),
    }),
  ])
  .superRefine(exactlyOneOrigin)
  .superRefine(bundleWithPlace);
export type SourceSettings = z.output<typeof SourceSettings>;

/** Destinations of a secret that a tenant's key may name. */
export const SecretRule = z.strictObject(
  {
    name: EnvironmentName.describe('The environment variable.'),
    tenants: z.array(AgentGlob).min(1).max(500).describe('The tenants whose sources may name it, as names or globs.'),
    hosts: z
      .array(z.string().regex(/^(?:http:\/\/)?[A-Za-z0-9.*:-]{1,260}$/, 'expected a host, with its port where that is not the default one'))
      .min(1)
      .max(500)
      .describe(
        'The hosts that it, and OAuth tokens that are issued for it, may be sent to: `api.example.com`, `*.example.com:8443`; by https only, unless it is written `http://api.internal`. A command needs `*`.',
      ),
  },
  'expected {name, tenants, hosts}: who may send the secret, and where to',
);
export type SecretRule = z.output<typeof SecretRule>;

/** Limits of sources that keys add over HTTP. The config file is not bound by them. */
export const SourceRules = z.strictObject({
  kinds: z
    .array(z.enum(['mcp', 'openapi', 'agent', 'folder']))
    .max(4)
    .default(['mcp', 'openapi', 'agent', 'folder'])
    .describe('Kinds of sources that may be added over HTTP. Those of other kinds are refused, and their tools are gone.'),
  allowCommands: z.boolean().default(false).describe('Sources added over HTTP may name commands and folders of the workers.'),
  secrets: z
    .array(SecretRule)
    .max(500)
    .default([])
    .describe('Which environment variables of the workers sources added over HTTP may name as secrets. Not listed: none.'),
  bundleBytes: z
    .number()
    .int()
    .min(0)
    .max(1_073_741_824)
    .default(67_108_864)
    .describe('Size of all uploaded bundles of one tenant; Redis holds them while a source uses them. 0: none can be uploaded.'),
  catalogBytes: z
    .number()
    .int()
    .min(1_024)
    .max(1_073_741_824)
    .default(33_554_432)
    .describe(
      'Size of the tool lists of all sources that were added over HTTP, or announced by workers, for one tenant; every process keeps them in memory. What was accepted of them, also under earlier names, may take four times as much in Redis.',
    ),
});
export type SourceRules = z.output<typeof SourceRules>;

/** Definition in the form stored for the workers. */
export const StoredSource = z.object({
  tenantId: SourceTenant,
  origin: z.enum(['config', 'api']),
  definition: SourceDefinition,
  /** Changes after a person has authorized the source, so that workers try it at once. */
  authorized: z.string().optional(),
});
export type StoredSource = z.output<typeof StoredSource>;
