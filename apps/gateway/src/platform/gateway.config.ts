import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { type ApiKeyConfig, ConfigFile, DEFAULT_POSTURE, DEFAULT_TENANT, loginOrigin, type Posture, SCOPES } from '#contracts';
import { type EgressPolicy, egressPolicyFrom } from '#sandbox';
import { ConfigError, environmentFaults, type LogSettings, withoutEmpty } from '#platform';
import { environmentSecrets } from '#redaction';
import { tracingConfig, type TracingConfig } from '#observability';
import type { TrustedProxies } from './http/client-address.js';
import { GatewayEnv } from './gateway-env.config.js';
import { readConfigFile, type ConfigFileContent } from './config-file.config.js';
import { fileSettings, type FileSettings } from './file-settings.config.js';
import { hookVariableFaults } from './hook-variables.js';

/** Token for the validated settings; they are values, so there is no class to inject by. */
export const GATEWAY_CONFIG = Symbol('GATEWAY_CONFIG');

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
export interface GatewayConfig extends FileSettings {
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
  readonly log: LogSettings;
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
  /** Under which clients reach the gateway; else what each request names. Without a slash at its end. */
  readonly publicUrl?: string | undefined;
  readonly mcp: McpTimes;
  readonly sockets: SocketLimits;
  readonly trustedProxies: TrustedProxies;
  /** Requests a minute of a key without `ratePerMinute`, counted by each gateway by itself. */
  readonly keyRatePerMinute: number;
  /** Counted by each gateway by itself. */
  readonly tenantActsPerMinute: number;
  /** Limit of the bytes of the sessions of a tenant in Redis. */
  readonly tenantSessionBytes: number;
  /** Limit of the bytes of the open batches of a tenant in one partition. */
  readonly tenantBatchBytes: number;
  /** The same of its open calls. */
  readonly tenantCallBytes: number;
  /** What `/metrics` asks for; nothing when it is not set. */
  readonly metricsKey?: string | undefined;
  /** Seals the tokens that people let sources have. */
  readonly sourceTokenKey?: string | undefined;
  /** Secrets in the environment and the keys of callers: taken out of everything that this process writes. */
  readonly secrets?: readonly string[];
  /** Where workers keep the files of sessions; paths of arguments are judged as lying there. */
  readonly workspaceRoot?: string;
  /** There with a config file: `read` reads the whole configuration again, or throws a ConfigError. */
  readonly file?: { readonly path: string; read(): GatewayConfig };
  /** What the configuration would be with this file. Throws a ConfigError. */
  readonly withFile?: (file: ConfigFile) => GatewayConfig;
  /** What hooks before a call run with: the variables that commands see, where they find those that they name, and where webhooks of sessions may go. */
  readonly hookEnv?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly egress?: EgressPolicy;
}

interface ReadOptions {
  /** The gateway runs already: keys may be all gone, and an empty file is one that is being written. */
  readonly running?: boolean;
  readonly withWorkers?: boolean;
  /** Counts instead of the file that TOOLYARD_CONFIG names. */
  readonly given?: ConfigFile;
}

/**
 * Reads and checks the environment and, where it names one, the config file.
 * `unsaid`: the posture of sessions where neither of them has one. `withWorkers`: a worker runs in this process, too.
 * `running`: the gateway is up. A file with `keys: []` may take the last key away, and an empty one changes nothing. A start
 * needs a key, and takes an empty file for one without settings.
 * @throws ConfigError that lists every fault, one a line
 */
export function readGatewayConfig(
  env: NodeJS.ProcessEnv = process.env,
  unsaid: Posture = DEFAULT_POSTURE,
  { running = false, withWorkers = false, given }: ReadOptions = {},
): GatewayConfig {
  const parsed = GatewayEnv.safeParse(withoutEmpty(env));
  const path = env.TOOLYARD_CONFIG;
  const read: ConfigFileContent = given === undefined ? readFile(env, withWorkers) : { file: given, saysKeys: true, faults: [] };
  const { file = ConfigFile.parse({}), saysKeys = false } = read;
  const faults = [...(parsed.success ? [] : environmentFaults(parsed.error)), ...read.faults];
  if (running && read.isEmpty === true) faults.push(`${path}: expected settings, received an empty file; {} takes all settings back`);
  const egress = egressOf(env, faults);
  const mayLackKeys = running && saysKeys;
  if (faults.length === 0 && !mayLackKeys && !env.TOOLYARD_API_KEY && file.keys.length === 0 && file.jwt.length === 0) faults.push(NO_KEYS);
  faults.push(...contradictions(file, parsed.data));
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join('\n'));

  const e = parsed.data;
  return {
    ...fileSettings(file),
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
    log: { level: e.LOG_LEVEL, format: e.LOG_FORMAT },
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
    sockets: socketLimits(e),
    trustedProxies: e.GATEWAY_TRUSTED_PROXIES,
    keyRatePerMinute: e.KEY_RATE_PER_MINUTE,
    tenantActsPerMinute: e.TENANT_ACTS_PER_MINUTE,
    tenantSessionBytes: e.TENANT_SESSION_BYTES,
    tenantBatchBytes: e.TENANT_BATCH_BYTES,
    tenantCallBytes: e.TENANT_CALL_BYTES,
    metricsKey: e.METRICS_KEY,
    sourceTokenKey: e.SOURCE_TOKEN_KEY,
    hookEnv: Object.fromEntries(e.TOOL_ENV_ALLOWLIST.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    env,
    ...(egress === undefined ? {} : { egress }),
    secrets: [...environmentSecrets(env, { named: e.REDACT_ENV }), ...file.keys.flatMap(({ key }) => key ?? [])],
    workspaceRoot: resolve(e.WORKSPACE_ROOT ?? `${e.TOOLYARD_DATA}/workspaces`),
    withFile: (given) => readGatewayConfig(env, unsaid, { running: true, withWorkers, given }),
    ...(path ? { file: { path, read: () => readGatewayConfig(env, unsaid, { running: true, withWorkers }) } } : {}),
  };
}

const NO_KEYS =
  'TOOLYARD_API_KEY: expected an API key here, or `keys` or `jwt` in the file named by TOOLYARD_CONFIG; the gateway does not run without authentication';

function readFile(env: NodeJS.ProcessEnv, withWorkers: boolean): ConfigFileContent {
  const path = env.TOOLYARD_CONFIG;
  return path ? readConfigFile(path, (file) => hookVariableFaults(file, env, withWorkers)) : { faults: [] };
}

/** What the config file asks for and the environment does not allow. `e`: undefined where the environment is wrong itself. */
function contradictions({ login, tenants }: ConfigFile, e: z.output<typeof GatewayEnv> | undefined): string[] {
  const faults: string[] = [];
  if (login !== undefined && e !== undefined && loginOrigin(login, e.GATEWAY_PUBLIC_URL) === undefined)
    faults.push(
      'login.baseUrl: expected the origin under which people open the dashboard, here or as GATEWAY_PUBLIC_URL without a path; https, or http on this machine',
    );
  const erasable = Object.keys(tenants).find((tenant) => tenants[tenant]?.retention.erasable === true);
  if (erasable !== undefined && e?.DATABASE_URL === undefined)
    faults.push(`tenants.${erasable}.retention.erasable: needs a database for the keys of calls: set DATABASE_URL, for projectors too`);
  return faults;
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

function bootstrapKey(key: string, user: string | undefined): ApiKeyConfig {
  const users = { ...(user === undefined ? {} : { user }), users: ['*'] };
  return { id: 'bootstrap', key, tenant: DEFAULT_TENANT, agents: ['*'], ...users, scopes: [...SCOPES] };
}
