import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type { PoolSlots } from '#attempts';
import { type Pool, type PluginSettings, type RemoteHosts } from '#contracts';
import { memorySettings, type MemorySettings } from '#memory';
import { tracingConfig, type TracingConfig } from '#observability';
import { environmentFaults, type LogSettings, withoutEmpty, wrongEnvironment } from '#platform';
import { environmentSecrets } from '#redaction';
import { type EgressPolicy, type QuotaLimits, type SandboxConfig, egressPolicyFrom, sandboxConfig, validateSandboxConfig } from '#sandbox';
import { type BrowserSettings, type LanguageServerSettings, browserSettingsFrom, languageServersFrom } from '#tools';
import type { FileScopeSettings } from './file-scope.config.js';
import { readWorkerFile } from './worker-file.config.js';
import { WorkerEnv } from './worker-env.config.js';

/** Default slots of a pool: many for tools that wait, few for tools that start processes. */
const DEFAULT_SLOTS: Readonly<Record<Pool, number>> = { read: 64, write: 16, shell: 8, net: 32, agent: 16 };

/** Folder of lock files, with a name that no tenant can have. */
const LOCKS_FOLDER = '~locks';

export const WORKER_CONFIG = Symbol('WORKER_CONFIG');

/** Configuration of a worker, read once from the environment, then passed as a value. */
export interface WorkerConfig {
  readonly id: string;
  readonly redisUrl: string;
  /** Archive of calls that have left Redis. */
  readonly archiveUrl: string | undefined;
  readonly partitions: number;
  readonly durability: 'local' | 'replicated';
  /** Replicas that `replicated` waits for; see `ReplicaNumber` for the default. */
  readonly replicas: number | undefined;
  readonly tenantCallBytes: number;
  readonly queueBackend: 'batching' | 'stock';
  readonly pools: readonly PoolSlots[];
  readonly host: string;
  /** `off`: no health and metrics server, for example if another server of the process has them. */
  readonly port: number | 'off';
  /** Key that `/metrics` requires; none by default. */
  readonly metricsKey?: string | undefined;
  /** Key that seals the tokens granted to sources. */
  readonly sourceTokenKey?: string | undefined;
  readonly workspaceRoot: string;
  readonly quotas: QuotaLimits;
  /** Paths outside their workspaces that decisions may open for calls. */
  readonly files: FileScopeSettings;
  readonly leaseMs: number;
  /** Wait of each step of the start for Redis. */
  readonly startTimeoutMs: number;
  /** Time from SIGTERM until running calls that cannot be requeued are aborted. */
  readonly drainMs: number;
  /**
   * Time from an abort until the End of the attempt is written, even if the tool still runs. Below the slack after which the
   * reconciler ends it.
   */
  readonly stopGraceMs: number;
  /** Longest wait for input without which the call ends. */
  readonly inputMs: number;
  /** Upper limit of the attempts that a call may request. */
  readonly maxAttempts: number;
  readonly maxBackoffMs: number;
  /** Environment variables, with values, for child processes of tools. */
  readonly toolEnv: Readonly<Record<string, string>>;
  /** Folders of folder tools, for all tenants. */
  readonly toolFolders: readonly string[];
  /** File that names the plugins. */
  readonly configFile?: string | undefined;
  readonly plugins: readonly PluginSettings[];
  /** Hosts on which commands of some calls run, by name. */
  readonly remoteHosts: RemoteHosts;
  /** Environment from which hooks read the variables that they name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hosts that tools and webhooks of sessions may reach. */
  readonly egress: EgressPolicy;
  /** Secrets in the environment of this process, redacted in all of its output. */
  readonly secrets: readonly string[];
  readonly sandbox: SandboxConfig;
  readonly browser: BrowserSettings;
  readonly languageServers: LanguageServerSettings;
  /** Memory of tools; undefined without a database for it. */
  readonly memory: MemorySettings | undefined;
  /** Present if spans are exported. */
  readonly tracing?: TracingConfig | undefined;
  readonly log: LogSettings;
}

/** Reads the configuration; `NAME=` means not set. Throws one ConfigError whose message lists every fault, one a line. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  const parsed = WorkerEnv.safeParse(withoutEmpty(env));
  if (!parsed.success) throw wrongEnvironment('worker', environmentFaults(parsed.error));
  const values = parsed.data;
  const unused = Object.keys(values.WORKER_CONCURRENCY).filter((pool) => !values.WORKER_POOLS.some((served) => served === pool));
  if (env['WORKER_POOLS'] !== undefined && unused.length > 0) {
    throw wrongEnvironment('worker', [`WORKER_CONCURRENCY: names ${unused.join(', ')}, which WORKER_POOLS does not`]);
  }
  const sandbox = sandboxConfig(values);
  const contradictions = validateSandboxConfig(sandbox);
  if (contradictions.length > 0) throw wrongEnvironment('worker', contradictions);
  const dataFolder = resolve(values.TOOLYARD_DATA);
  const workspaceRoot = resolve(values.WORKSPACE_ROOT ?? `${values.TOOLYARD_DATA}/workspaces`);
  return {
    id:
      values.WORKER_ID ??
      `${hostname()
        .replace(/[^A-Za-z0-9._-]/g, '-')
        .slice(0, 100)}-${randomBytes(4).toString('hex')}`,
    redisUrl: values.REDIS_URL,
    archiveUrl: values.ARCHIVE_URL,
    partitions: values.PARTITIONS,
    durability: values.DURABILITY,
    replicas: values.REPLICAS,
    tenantCallBytes: values.TENANT_CALL_BYTES,
    queueBackend: values.QUEUE_BACKEND,
    pools: [...new Set(values.WORKER_POOLS)].map((pool) => ({ pool, slots: values.WORKER_CONCURRENCY[pool] ?? DEFAULT_SLOTS[pool] })),
    host: values.WORKER_HOST,
    port: values.WORKER_PORT,
    metricsKey: values.METRICS_KEY,
    sourceTokenKey: values.SOURCE_TOKEN_KEY,
    workspaceRoot,
    quotas: quotasOf(values),
    files: {
      sharedRoots: values.SHARED_ROOTS,
      outsideRoots: values.OUTSIDE_ROOTS,
      ownFolders: [workspaceRoot, dataFolder],
      locks: join(workspaceRoot, LOCKS_FOLDER),
    },
    leaseMs: values.LEASE_MS,
    startTimeoutMs: values.START_TIMEOUT_MS,
    drainMs: values.DRAIN_MS,
    stopGraceMs: values.STOP_GRACE_MS,
    inputMs: values.INPUT_MS,
    maxAttempts: values.RETRY_MAX_ATTEMPTS ?? 20,
    maxBackoffMs: values.RETRY_MAX_BACKOFF_MS,
    toolEnv: Object.fromEntries(values.TOOL_ENV_ALLOWLIST.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    toolFolders: values.TOOLYARD_TOOLS,
    ...(values.TOOLYARD_CONFIG === undefined ? {} : { configFile: resolve(values.TOOLYARD_CONFIG) }),
    ...readWorkerFile(values.TOOLYARD_CONFIG),
    env,
    egress: orConfigError(() => egressPolicyFrom(env)),
    secrets: environmentSecrets(env, { named: values.REDACT_ENV, visible: values.TOOL_ENV_ALLOWLIST }),
    sandbox,
    browser: browserSettingsFrom(env),
    languageServers: orConfigError(() => languageServersFrom(env)),
    memory: orConfigError(() => memorySettings(values, values.DATABASE_URL)),
    tracing: tracingConfig(values, 'toolyard-worker'),
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
  };
}

function quotasOf(values: z.output<typeof WorkerEnv>): QuotaLimits {
  return {
    workspace: { bytes: values.WORKSPACE_QUOTA_BYTES, files: values.WORKSPACE_QUOTA_FILES },
    tenant: { bytes: values.TENANT_QUOTA_BYTES, files: values.TENANT_QUOTA_FILES },
  };
}

function orConfigError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw wrongEnvironment('worker', [error instanceof Error ? error.message : String(error)]);
  }
}
