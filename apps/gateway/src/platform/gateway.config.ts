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

/** Token for the validated settings, which are values without a class to inject by. */
export const GATEWAY_CONFIG = Symbol('GATEWAY_CONFIG');

/** Most WebSockets and event streams open at one gateway. */
export interface SocketLimits {
  readonly perKey: number;
  readonly perTenant: number;
  readonly perAddress: number;
  /** Most sockets of one address that have not sent their key yet. */
  readonly unauthenticated: number;
}

/** Longest waits of the MCP endpoint before a response without the result. */
export interface McpTimes {
  /** Wait of a client without progress or tasks, which then gets a text on how to get the result, ms. */
  readonly answerMs: number;
  /** Wait of a client with tasks, which then gets the call as a task, ms. */
  readonly taskMs: number;
}

/** All external settings of the gateway, validated once at the start. */
export interface GatewayConfig extends FileSettings {
  /** Name of this process in events (`/gateway/<name>`) and logs. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly redisUrl: string;
  /** Database of lists and numbers; without it lists answer 503. */
  readonly databaseUrl?: string | undefined;
  /** Archive of calls that have left Redis. */
  readonly archiveUrl?: string | undefined;
  readonly partitions: number;
  readonly durability: 'local' | 'replicated';
  /** Replicas that `replicated` waits for; see `ReplicaNumber` for the default. */
  readonly replicas: number | undefined;
  readonly queueBackend: 'batching' | 'stock';
  readonly log: LogSettings;
  /** Present if spans are exported. */
  readonly tracing?: TracingConfig | undefined;
  /** Longest wait of a submission for the log while Redis is unreachable; then it is answered 503 and may be repeated. */
  readonly logDeadlineMs: number;
  /** Longest wait for Redis in each step of the start. */
  readonly startTimeoutMs: number;
  /** Longest wait of a drain for requests in flight, ms. */
  readonly drainMs: number;
  readonly retryMaxAttempts: number;
  /** Time for which a silent foreign worker keeps a call. */
  readonly leaseMs: number;
  /** Time between the cancel of a foreign worker's call and its end. */
  readonly stopGraceMs: number;
  readonly defaultPosture: Posture;
  readonly defaultQueueMs: number;
  readonly defaultTotalMs: number;
  readonly approvalMs: number;
  /** Longest wait of a call for input, after which it ends. */
  readonly inputMs: number;
  /** Host names, besides the loopback ones, accepted while the gateway is bound to loopback. */
  readonly allowedHosts: readonly string[];
  /** Origins, besides the gateway's own, that a browser may call from. */
  readonly allowedOrigins: readonly string[];
  readonly keys: readonly ApiKeyConfig[];
  /** URL under which clients reach the gateway, without a trailing slash. Default: the URL of each request. */
  readonly publicUrl?: string | undefined;
  readonly mcp: McpTimes;
  readonly sockets: SocketLimits;
  readonly trustedProxies: TrustedProxies;
  /** Requests per minute of a key without `ratePerMinute`, counted by each gateway separately. */
  readonly keyRatePerMinute: number;
  /** Acts per minute of a tenant, counted by each gateway separately. */
  readonly tenantActsPerMinute: number;
  /** Most bytes of a tenant's sessions in Redis. */
  readonly tenantSessionBytes: number;
  /** Most bytes of a tenant's open batches in one partition. */
  readonly tenantBatchBytes: number;
  /** Most bytes of a tenant's open calls in one partition. */
  readonly tenantCallBytes: number;
  /** Key required by `/metrics`; undefined for none. */
  readonly metricsKey?: string | undefined;
  /** Key that seals the tokens that people grant to sources. */
  readonly sourceTokenKey?: string | undefined;
  /** Secrets in the environment and keys of callers, redacted from all output of this process. */
  readonly secrets?: readonly string[];
  /** Root of session folders on workers; paths in arguments are evaluated relative to it. */
  readonly workspaceRoot?: string;
  /** Present with a config file: `read` reads the whole configuration again, or throws a ConfigError. */
  readonly file?: { readonly path: string; read(): GatewayConfig };
  /** Configuration with this file instead. Throws a ConfigError. */
  readonly withFile?: (file: ConfigFile) => GatewayConfig;
  /** Environment of hooks before a call: variables of commands, values for named variables, and allowed addresses of session webhooks. */
  readonly hookEnv?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly egress?: EgressPolicy;
}

interface ReadOptions {
  /** True while the gateway runs: the last key may be removed, and an empty file is one being written. */
  readonly running?: boolean;
  readonly withWorkers?: boolean;
  /** File content that replaces the file of TOOLYARD_CONFIG. */
  readonly given?: ConfigFile;
}

/**
 * Reads and validates the environment and the config file, if it names one. `unsaid`: posture of sessions if neither sets one.
 * `withWorkers`: a worker runs in this process too. `running`: the gateway is up. A file with `keys: []` may then remove the
 * last key, and an empty one changes nothing. A start needs a key, and treats an empty file as one without settings.
 * @throws ConfigError that lists all faults, one per line
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

/** Settings of the config file that the environment contradicts. `e`: undefined if the environment itself has faults. */
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
