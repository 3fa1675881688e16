import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type AgentSettings,
  Autonomy,
  ConfigFile,
  DEFAULT_TENANT,
  DEFAULT_POSTURE,
  type Hook,
  type ApiKeyConfig,
  LIMITS,
  type Limits,
  PermissionMode,
  type PolicySettings,
  type Posture,
  type SessionHookSettings,
  SCOPES,
  type SafetySettings,
  type SourceRules,
  type SourceSettings,
} from '#contracts';
import { type EgressPolicy, egressPolicyFrom } from '#sandbox';
import { commaList, ConfigError, withoutEmpty } from '#platform';
import { environmentSecrets } from '#redaction';
import { TRACING_ENV, tracingConfig, type TracingConfig } from '#observability';
import { readConfigFile } from './config-file.config.js';

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

/** Everything the gateway takes from outside, validated once at the start. */
export interface GatewayConfig {
  /** Names this process in events (`/gateway/<name>`) and logs. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly redisUrl: string;
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
  readonly defaultPosture: Posture;
  readonly defaultQueueMs: number;
  readonly defaultTotalMs: number;
  readonly approvalMs: number;
  /** Host names besides the loopback ones that a request may carry while the gateway is bound to loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins besides the gateway's own that a browser may call from. */
  readonly allowedOrigins: readonly string[];
  readonly keys: readonly ApiKeyConfig[];
  readonly sockets: SocketLimits;
  /** Requests a minute of a key without `ratePerMinute`, counted by each gateway by itself. */
  readonly keyRatePerMinute: number;
  /** What `/metrics` asks for; nothing when it is not set. */
  readonly metricsKey?: string | undefined;
  /** For all agents; what it does not set comes from its profile. */
  readonly policy?: PolicySettings;
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
  /** For all agents. */
  readonly limits?: Limits;
  /** For all agents. */
  readonly hooks?: readonly Hook[];
  readonly sessionHooks?: SessionHookSettings;
  /** What hooks before a call run with: the variables that commands see, where they find those that they name, and where webhooks of sessions may go. */
  readonly hookEnv?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly egress?: EgressPolicy;
  /** Sources of tools, for the workers. */
  readonly sources?: readonly SourceSettings[];
  readonly sourceRules?: SourceRules;
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

const Environment = z.object({
  GATEWAY_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ -')
    .optional(),
  GATEWAY_HOST: z.string().min(1).default('127.0.0.1'),
  GATEWAY_PORT: integer(0, 65_535, 7411),
  GATEWAY_ALLOWED_HOSTS: list,
  GATEWAY_ALLOWED_ORIGINS: list.pipe(
    z.array(z.url({ protocol: /^https?$/, error: 'expected origins such as https://tools.example.com, separated by commas' })),
  ),
  REDIS_URL: z.string().min(1).default('redis://127.0.0.1:6379'),
  PARTITIONS: integer(1, 999, 16),
  DURABILITY: z.enum(['local', 'replicated']).default('local'),
  REPLICAS: integer(1, 9, 1),
  QUEUE_BACKEND: z.enum(['batching', 'stock']).default('batching'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_DEADLINE_MS: integer(100, 60_000, 5000),
  START_TIMEOUT_MS: integer(1_000, 600_000, 15_000),
  DRAIN_MS: integer(0, 600_000, 25_000),
  RETRY_MAX_ATTEMPTS: integer(1, 20, 20),
  DEFAULT_AUTONOMY: Autonomy.optional(),
  DEFAULT_PERMISSION_MODE: PermissionMode.optional(),
  DEFAULT_QUEUE_MS: integer(1, LIMITS.queueMs, 3_600_000),
  DEFAULT_TOTAL_MS: integer(1, LIMITS.totalMs, 86_400_000),
  APPROVAL_MS: integer(1000, LIMITS.totalMs, 3_600_000),
  TOOLYARD_API_KEY: z.string().min(16, 'expected at least 16 characters').optional(),
  KEY_RATE_PER_MINUTE: integer(1, 1_000_000_000, 60_000),
  SOCKETS_PER_KEY: integer(1, 1_000_000, 1000),
  SOCKETS_PER_TENANT: integer(1, 1_000_000, 5000),
  SOCKETS_PER_ADDRESS: integer(1, 1_000_000, 2000),
  SOCKETS_UNAUTHENTICATED: integer(1, 1_000_000, 50),
  METRICS_KEY: z.string().min(16, 'expected at least 16 characters').optional(),
  TOOLYARD_CONFIG: z.string().min(1).optional(),
  TOOLYARD_DATA: z.string().min(1).default('.toolyard'),
  REDACT_ENV: list,
  WORKSPACE_ROOT: z.string().min(1).optional(),
  ...TRACING_ENV,
  TOOL_ENV_ALLOWLIST: list.prefault('PATH,LANG,LC_ALL,TZ,TERM'),
});

/**
 * Reads and checks the environment and, where it names one, the config file. `unsaid` is the posture of sessions for which neither
 * of them says one. `running`: the gateway is up, and a file that says `keys: []` takes the last key away; a start needs one.
 * Throws a ConfigError that lists every fault.
 */
export function readGatewayConfig(
  env: NodeJS.ProcessEnv = process.env,
  unsaid: Posture = DEFAULT_POSTURE,
  { running = false } = {},
): GatewayConfig {
  const faults: string[] = [];
  const parsed = Environment.safeParse(withoutEmpty(env));
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));

  const path = env.TOOLYARD_CONFIG;
  const { file = ConfigFile.parse({}), saysKeys = false, faults: fileFaults } = path ? readConfigFile(path) : { faults: [] };
  faults.push(...fileFaults);
  const egress = egressOf(env, faults);
  if (faults.length === 0 && !env.TOOLYARD_API_KEY && file.keys.length === 0 && !(running && saysKeys)) {
    faults.push(
      'TOOLYARD_API_KEY: expected an API key here, or `keys` in the file named by TOOLYARD_CONFIG; the gateway does not run without authentication',
    );
  }
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join('\n'));

  const e = parsed.data;
  return {
    name: e.GATEWAY_NAME ?? `${hostname()}-${process.pid}`,
    host: e.GATEWAY_HOST,
    port: e.GATEWAY_PORT,
    redisUrl: e.REDIS_URL,
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
    defaultQueueMs: e.DEFAULT_QUEUE_MS,
    defaultTotalMs: e.DEFAULT_TOTAL_MS,
    approvalMs: e.APPROVAL_MS,
    allowedHosts: e.GATEWAY_ALLOWED_HOSTS,
    allowedOrigins: e.GATEWAY_ALLOWED_ORIGINS,
    keys: [...(e.TOOLYARD_API_KEY ? [bootstrapKey(e.TOOLYARD_API_KEY)] : []), ...file.keys],
    sockets: socketLimits(e),
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
    hookEnv: Object.fromEntries(e.TOOL_ENV_ALLOWLIST.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    env,
    ...(egress === undefined ? {} : { egress }),
    safety: file.safety,
    secrets: [...environmentSecrets(env, { named: e.REDACT_ENV }), ...file.keys.flatMap(({ key }) => key ?? [])],
    workspaceRoot: resolve(e.WORKSPACE_ROOT ?? `${e.TOOLYARD_DATA}/workspaces`),
    ...(path ? { file: { path, read: () => readGatewayConfig(env, unsaid, { running: true }) } } : {}),
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

function postureOf(e: z.output<typeof Environment>, { defaults: { posture } }: ConfigFile, unsaid: Posture): Posture {
  return {
    autonomy: e.DEFAULT_AUTONOMY ?? posture?.autonomy ?? unsaid.autonomy,
    permissionMode: e.DEFAULT_PERMISSION_MODE ?? posture?.permissionMode ?? unsaid.permissionMode,
  };
}

function socketLimits(e: z.output<typeof Environment>): SocketLimits {
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

function bootstrapKey(key: string): ApiKeyConfig {
  return { id: 'bootstrap', key, tenant: DEFAULT_TENANT, agents: ['*'], scopes: [...SCOPES] };
}
