import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type TenantRetention,
  type AgentSettings,
  Autonomy,
  ConfigFile,
  DEFAULT_TENANT,
  DEFAULT_POSTURE,
  type Hook,
  type ApiKeyConfig,
  type JwtIssuer,
  Label,
  LIMITS,
  type Limits,
  PermissionMode,
  type PolicySettings,
  type Posture,
  type SessionHookSettings,
  SCOPES,
  type SafetySettings,
  type SkillRoot,
  type SourceRules,
  type SourceSettings,
  type WebhookSettings,
} from '#contracts';
import { EGRESS_ENV, type EgressPolicy, egressPolicyFrom } from '#sandbox';
import { ARCHIVE_ENV, commaList, ConfigError, withoutEmpty } from '#platform';
import { environmentSecrets } from '#redaction';
import { TRACING_ENV, tracingConfig, type TracingConfig } from '#observability';
import { trustedProxies, type TrustedProxies } from './http/client-address.js';
import { readConfigFile } from './config-file.config.js';
import { hookVariableFaults } from './hook-variables.js';

/** Token for the validated settings; they are values, so there is no class to inject by. */
export const GATEWAY_CONFIG = Symbol('GATEWAY_CONFIG');

/** What holds for single agents, by tenant and name: agents of two tenants that share a name share nothing else. */
export type AgentsByTenant = Readonly<Record<string, Readonly<Record<string, AgentSettings>>>>;

/** How many WebSockets and event streams one gateway holds open. */
export interface SocketLimits {
  readonly perKey: number;
  readonly perTenant: number;
  readonly perAddress: number;
  /** Of one address, that have not said their key yet. */
  readonly unauthenticated: number;
}

/** How long the MCP endpoint waits before it answers without the result. */
export interface McpTimes {
  /** Then a client without progress or tasks learns how to ask again, ms. */
  readonly answerMs: number;
  /** Then a client with tasks gets the call as a task, ms. */
  readonly taskMs: number;
}

/** Everything the gateway takes from outside, validated once at the start. */
export interface GatewayConfig {
  /** Names this process in events (`/gateway/<name>`) and logs. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly redisUrl: string;
  /** Where lists and numbers are; undefined: lists answer 503. */
  readonly databaseUrl?: string | undefined;
  /** Where calls are that have left Redis. */
  readonly archiveUrl?: string | undefined;
  readonly partitions: number;
  readonly durability: 'local' | 'replicated';
  readonly replicas: number;
  readonly queueBackend: 'batching' | 'stock';
  readonly logLevel: string;
  /** There when spans are exported. */
  readonly tracing?: TracingConfig | undefined;
  /** How long a submission waits for the log while Redis is out of reach; then it is answered 503 and may be repeated. */
  readonly logDeadlineMs: number;
  /** How long each step of the start waits for Redis. */
  readonly startTimeoutMs: number;
  /** How long a drain waits for requests in flight, ms. */
  readonly drainMs: number;
  readonly retryMaxAttempts: number;
  /** How long a silent foreign worker keeps a call. */
  readonly leaseMs: number;
  /** Between the cancel of a foreign worker's call and its end. */
  readonly stopGraceMs: number;
  readonly defaultPosture: Posture;
  readonly defaultQueueMs: number;
  readonly defaultTotalMs: number;
  readonly approvalMs: number;
  /** How long a call waits for input without which it ends. */
  readonly inputMs: number;
  /** Host names besides the loopback ones that a request may carry while the gateway is bound to loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins besides the gateway's own that a browser may call from. */
  readonly allowedOrigins: readonly string[];
  readonly keys: readonly ApiKeyConfig[];
  /** Issuers of JWTs that are accepted besides the keys. */
  readonly jwt?: readonly JwtIssuer[];
  /** Under which clients reach the gateway; else what each request names. Without a slash at its end. */
  readonly publicUrl?: string | undefined;
  readonly mcp: McpTimes;
  readonly sockets: SocketLimits;
  readonly trustedProxies: TrustedProxies;
  /** Requests a minute of a key without `ratePerMinute`, counted by each gateway by itself. */
  readonly keyRatePerMinute: number;
  /** What `/metrics` asks for; nothing when it is not set. */
  readonly metricsKey?: string | undefined;
  /** For all agents; what it does not set comes from its profile. */
  readonly policy?: PolicySettings;
  /** How long calls are kept, and whether their content can be erased, by tenant. */
  readonly retention?: Readonly<Record<string, TenantRetention>>;
  /** By tenant and name. */
  readonly agents?: AgentsByTenant;
  /** A call is allowed by another key than the one that submitted it. */
  readonly fourEyes?: boolean;
  /** What happens to arguments and outputs before anybody sees them. */
  readonly safety?: SafetySettings;
  /** Secrets in the environment and the keys of callers: taken out of everything that this process writes. */
  readonly secrets?: readonly string[];
  /** Where workers keep the files of sessions; paths of arguments are judged as lying there. */
  readonly workspaceRoot?: string;
  /** There with a config file: `read` reads the whole configuration again, or throws a ConfigError. */
  readonly file?: { readonly path: string; read(): GatewayConfig };
  /** What the configuration would be with this file. Throws a ConfigError. */
  readonly withFile?: (file: ConfigFile) => GatewayConfig;
  /** For all agents. */
  readonly limits?: Limits;
  /** For all agents. */
  readonly hooks?: readonly Hook[];
  readonly sessionHooks?: SessionHookSettings;
  /** What hooks before a call run with: the variables that commands see, where they find those that they name, and where webhooks of sessions may go. */
  readonly hookEnv?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly egress?: EgressPolicy;
  /** By tenant. */
  readonly webhooks?: Readonly<Record<string, readonly WebhookSettings[]>>;
  /** Sources of tools, for the workers. */
  readonly sources?: readonly SourceSettings[];
  readonly sourceRules?: SourceRules;
  /** Where the skills are that the tool `skill` loads. */
  readonly skills?: readonly SkillRoot[];
}

const list = z.string().default('').transform(commaList);
const integer = (min: number, max: number, preset: number) => {
  const error = ({ input }: { readonly input?: unknown }) => `expected a whole number from ${min} to ${max}; got ${JSON.stringify(input)}`;
  return z
    .string()
    .regex(/^\d{1,12}$/, { error })
    .transform(Number)
    .pipe(z.number({ error }).min(min, { error }).max(max, { error }))
    .default(preset);
};

/** The variables that a gateway reads. Descriptions of those that a worker reads, too, are here. */
export const GatewayEnv = z.object({
  GATEWAY_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ -')
    .optional()
    .meta({ description: 'Its name in events and logs.', shownDefault: 'host and process id' }),
  GATEWAY_HOST: z.string().min(1).default('127.0.0.1').describe('Address where it listens.'),
  GATEWAY_PORT: integer(0, 65_535, 7411).describe('Port where it listens; 0 takes any free port.'),
  GATEWAY_ALLOWED_HOSTS: list.describe('Further `Host` headers to accept, separated by commas.'),
  GATEWAY_TRUSTED_PROXIES: list
    .transform((proxies, context) => {
      try {
        return trustedProxies(proxies);
      } catch (error) {
        context.addIssue(`expected addresses, networks such as 10.0.0.0/8, or loopback, linklocal, uniquelocal: ${String(error)}`);
        return z.NEVER;
      }
    })
    .describe('Proxies whose `X-Forwarded-For` names the client, as addresses or networks. Of others the header is ignored.'),
  GATEWAY_ALLOWED_ORIGINS: list
    .pipe(z.array(z.url({ protocol: /^https?$/, error: 'expected origins such as https://tools.example.com, separated by commas' })))
    .describe('Further browser origins to accept, separated by commas.'),
  GATEWAY_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'expected a URL such as https://tools.example.com' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({ description: 'The URL under which clients reach it, for metadata and links.', shownDefault: 'that of the request' }),
  MCP_ANSWER_MS: integer(0, 600_000, 25_000).describe(
    'Milliseconds after which an MCP client without progress or tasks learns how to ask again.',
  ),
  MCP_TASK_MS: integer(0, 600_000, 2_000).describe('Milliseconds after which an MCP client with tasks gets the call as a task.'),
  REDIS_URL: z
    .string()
    .min(1)
    .default('redis://127.0.0.1:6379')
    .describe('Redis to use; standalone starts a private one where it is not set.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected an address such as postgres://user:password@host:5432/database' })
    .optional()
    .meta({
      description:
        'PostgreSQL database of lists and numbers, which a projector fills. Not set: lists answer 503 `history_unavailable`. For workers: where tools remember things of users. Not set: no memory tools.',
      shownDefault: 'none; standalone: a private one, with `none` none',
    }),
  ...ARCHIVE_ENV,
  PARTITIONS: integer(1, 999, 16).describe('Partitions of the log; fixed at the first start on a Redis.'),
  DURABILITY: z.enum(['local', 'replicated']).default('local').describe('`replicated`: what is acknowledged is also on replicas.'),
  REPLICAS: integer(1, 9, 1).describe('How many replicas `replicated` waits for.'),
  QUEUE_BACKEND: z.enum(['batching', 'stock']).default('batching').describe('`stock`: the backend of BullMQ itself.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ description: 'The least important messages that are logged.', shownDefault: '`info`; standalone: `warn`' }),
  LOG_DEADLINE_MS: integer(100, 60_000, 5000).describe('Milliseconds that a request waits for Redis before it gets 503.'),
  START_TIMEOUT_MS: integer(1_000, 600_000, 15_000).describe(
    'Milliseconds that each step of the start waits for Redis; then the process exits with 1.',
  ),
  DRAIN_MS: integer(0, 600_000, 25_000).describe('Milliseconds that a stop waits for requests and running calls.'),
  RETRY_MAX_ATTEMPTS: integer(1, 20, 20).describe('Upper limit of `retry.maxAttempts` of calls.'),
  LEASE_MS: integer(500, 600_000, 30_000).describe('Milliseconds that a silent worker keeps a call.'),
  STOP_GRACE_MS: integer(0, 3_500, 3_000).describe('Milliseconds that an aborted tool has before its call is ended.'),
  DEFAULT_AUTONOMY: Autonomy.optional().meta({
    description: 'Autonomy of a session that sets none.',
    shownDefault: '`supervised`; standalone: `full`',
  }),
  DEFAULT_PERMISSION_MODE: PermissionMode.optional().meta({
    description: 'Permission mode of a session that sets none.',
    shownDefault: '`workspace-write`; standalone: `danger-full-access`',
  }),
  DEFAULT_QUEUE_MS: integer(1, LIMITS.queueMs, 3_600_000).meta({
    description: 'Longest wait in a queue of a call that sets none, in milliseconds.',
    shownDefault: '`3600000` (1 h)',
  }),
  DEFAULT_TOTAL_MS: integer(1, LIMITS.totalMs, 86_400_000).meta({
    description: 'Longest life of a call that sets none, in milliseconds.',
    shownDefault: '`86400000` (24 h)',
  }),
  APPROVAL_MS: integer(1000, LIMITS.totalMs, 3_600_000).meta({
    description: 'Milliseconds that an approval waits before it expires as denied.',
    shownDefault: '`3600000` (1 h)',
  }),
  INPUT_MS: integer(1000, LIMITS.totalMs, 3_600_000).meta({
    description: 'Milliseconds that a call waits for input before it ends as timed out.',
    shownDefault: '`3600000` (1 h)',
  }),
  TOOLYARD_API_KEY: z.string().min(16, 'expected at least 16 characters').optional().meta({
    description:
      'A key with all scopes for the tenant `default` and all its agents, at least 16 characters. For the command line tool: the key that it sends.',
    shownDefault: 'standalone: generated at the first start',
  }),
  TOOLYARD_USER: Label.optional().meta({
    description: 'The user of calls with TOOLYARD_API_KEY that name none: whose notes and facts their tools read and write.',
    shownDefault: 'none; standalone: `local`',
  }),
  KEY_RATE_PER_MINUTE: integer(1, 1_000_000_000, 60_000).describe('Requests a minute of a key without its own `ratePerMinute`.'),
  SOCKETS_PER_KEY: integer(1, 1_000_000, 1000).describe('Open WebSockets and event streams of one key.'),
  SOCKETS_PER_TENANT: integer(1, 1_000_000, 5000).describe('Open WebSockets and event streams of one tenant.'),
  SOCKETS_PER_ADDRESS: integer(1, 1_000_000, 2000).describe(
    'Open WebSockets and event streams of one client address, for IPv6 of one /64 network.',
  ),
  SOCKETS_UNAUTHENTICATED: integer(1, 1_000_000, 50).describe('WebSockets of one address that have not sent their key yet.'),
  METRICS_KEY: z
    .string()
    .min(16, 'expected at least 16 characters')
    .optional()
    .describe('Bearer token that `/metrics` requires, at least 16 characters.'),
  TOOLYARD_CONFIG: z.string().min(1).optional().describe('Path of the [config file](#config-file).'),
  TOOLYARD_DATA: z.string().min(1).default('.toolyard').describe('Data folder: key and address of standalone, its Redis data, workspaces.'),
  REDACT_ENV: list.describe('Names of further variables whose values are secret.'),
  WORKSPACE_ROOT: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Where sessions keep their files.', shownDefault: '`workspaces` in `TOOLYARD_DATA`' }),
  ...TRACING_ENV,
  ...EGRESS_ENV,
  TOOL_ENV_ALLOWLIST: list.prefault('PATH,LANG,LC_ALL,TZ,TERM').describe('Variables that commands of tools and hooks see.'),
});

interface ReadOptions {
  /** Keys may be all gone: the gateway runs already. */
  readonly running?: boolean;
  readonly withWorkers?: boolean;
  /** Counts instead of the file that TOOLYARD_CONFIG names. */
  readonly given?: ConfigFile;
}

/**
 * Reads and checks the environment and, where it names one, the config file. `unsaid` is the posture of sessions for which neither
 * of them says one. `withWorkers`: a worker runs in this process, too. `running`: the gateway is up, and a file that says `keys: []` takes the last key away; a start needs one.
 * Throws a ConfigError that lists every fault.
 */
export function readGatewayConfig(
  env: NodeJS.ProcessEnv = process.env,
  unsaid: Posture = DEFAULT_POSTURE,
  { running = false, withWorkers = false, given }: ReadOptions = {},
): GatewayConfig {
  const faults: string[] = [];
  const parsed = GatewayEnv.safeParse(withoutEmpty(env));
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));

  const path = env.TOOLYARD_CONFIG;
  const {
    file = ConfigFile.parse({}),
    saysKeys = false,
    faults: fileFaults,
  } = given !== undefined
    ? { file: given, saysKeys: true, faults: [] }
    : path
      ? readConfigFile(path, (file) => hookVariableFaults(file, env, withWorkers))
      : { faults: [] };
  faults.push(...fileFaults);
  const egress = egressOf(env, faults);
  if (faults.length === 0 && !env.TOOLYARD_API_KEY && file.keys.length === 0 && file.jwt.length === 0 && !(running && saysKeys)) {
    faults.push(
      'TOOLYARD_API_KEY: expected an API key here, or `keys` or `jwt` in the file named by TOOLYARD_CONFIG; the gateway does not run without authentication',
    );
  }
  const erasable = Object.keys(file.tenants).find((tenant) => file.tenants[tenant]?.retention.erasable === true);
  if (erasable !== undefined && parsed.data?.DATABASE_URL === undefined)
    faults.push(`tenants.${erasable}.retention.erasable: needs a database for the keys of calls: set DATABASE_URL, for projectors too`);
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join('\n'));

  const e = parsed.data;
  return {
    name: e.GATEWAY_NAME ?? `${hostname()}-${process.pid}`,
    host: e.GATEWAY_HOST,
    port: e.GATEWAY_PORT,
    redisUrl: e.REDIS_URL,
    databaseUrl: e.DATABASE_URL,
    archiveUrl: e.ARCHIVE_URL,
    partitions: e.PARTITIONS,
    durability: e.DURABILITY,
    replicas: e.REPLICAS,
    queueBackend: e.QUEUE_BACKEND,
    logLevel: e.LOG_LEVEL,
    tracing: tracingConfig(e, 'toolyard-gateway'),
    logDeadlineMs: e.LOG_DEADLINE_MS,
    startTimeoutMs: e.START_TIMEOUT_MS,
    drainMs: e.DRAIN_MS,
    retryMaxAttempts: e.RETRY_MAX_ATTEMPTS,
    defaultPosture: postureOf(e, file, unsaid),
    leaseMs: e.LEASE_MS,
    stopGraceMs: e.STOP_GRACE_MS,
    defaultQueueMs: e.DEFAULT_QUEUE_MS,
    defaultTotalMs: e.DEFAULT_TOTAL_MS,
    approvalMs: e.APPROVAL_MS,
    inputMs: e.INPUT_MS,
    allowedHosts: e.GATEWAY_ALLOWED_HOSTS,
    allowedOrigins: e.GATEWAY_ALLOWED_ORIGINS,
    publicUrl: e.GATEWAY_PUBLIC_URL,
    mcp: { answerMs: e.MCP_ANSWER_MS, taskMs: e.MCP_TASK_MS },
    keys: [...(e.TOOLYARD_API_KEY ? [bootstrapKey(e.TOOLYARD_API_KEY, e.TOOLYARD_USER)] : []), ...file.keys],
    jwt: file.jwt,
    sockets: socketLimits(e),
    trustedProxies: e.GATEWAY_TRUSTED_PROXIES,
    keyRatePerMinute: e.KEY_RATE_PER_MINUTE,
    metricsKey: e.METRICS_KEY,
    limits: file.limits,
    policy: file.policy,
    agents: agentsByTenant(file),
    fourEyes: file.approvals.fourEyes,
    hooks: file.hooks,
    sessionHooks: file.sessionHooks,
    sources: file.sources,
    sourceRules: file.sourceRules,
    skills: file.skills,
    hookEnv: Object.fromEntries(e.TOOL_ENV_ALLOWLIST.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    env,
    ...(egress === undefined ? {} : { egress }),
    retention: Object.fromEntries(Object.entries(file.tenants).map(([tenant, { retention }]) => [tenant, retention])),
    webhooks: Object.fromEntries(Object.entries(file.tenants).map(([tenant, { webhooks }]) => [tenant, webhooks])),
    safety: file.safety,
    secrets: [...environmentSecrets(env, { named: e.REDACT_ENV }), ...file.keys.flatMap(({ key }) => key ?? [])],
    workspaceRoot: resolve(e.WORKSPACE_ROOT ?? `${e.TOOLYARD_DATA}/workspaces`),
    withFile: (given) => readGatewayConfig(env, unsaid, { running: true, withWorkers, given }),
    ...(path ? { file: { path, read: () => readGatewayConfig(env, unsaid, { running: true, withWorkers }) } } : {}),
  };
}

function egressOf(env: NodeJS.ProcessEnv, faults: string[]): EgressPolicy | undefined {
  try {
    return egressPolicyFrom(env);
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function postureOf(e: z.output<typeof GatewayEnv>, { defaults: { posture } }: ConfigFile, unsaid: Posture): Posture {
  return {
    autonomy: e.DEFAULT_AUTONOMY ?? posture?.autonomy ?? unsaid.autonomy,
    permissionMode: e.DEFAULT_PERMISSION_MODE ?? posture?.permissionMode ?? unsaid.permissionMode,
  };
}

function socketLimits(e: z.output<typeof GatewayEnv>): SocketLimits {
  return {
    perKey: e.SOCKETS_PER_KEY,
    perTenant: e.SOCKETS_PER_TENANT,
    perAddress: e.SOCKETS_PER_ADDRESS,
    unauthenticated: e.SOCKETS_UNAUTHENTICATED,
  };
}

function agentsByTenant({ agents, tenants }: ConfigFile): AgentsByTenant {
  const named = Object.fromEntries(Object.entries(tenants).map(([tenant, settings]) => [tenant, settings.agents]));
  return { ...named, [DEFAULT_TENANT]: { ...agents, ...named[DEFAULT_TENANT] } };
}

function bootstrapKey(key: string, user: string | undefined): ApiKeyConfig {
  const users = { ...(user === undefined ? {} : { user }), users: ['*'] };
  return { id: 'bootstrap', key, tenant: DEFAULT_TENANT, agents: ['*'], ...users, scopes: [...SCOPES] };
}
