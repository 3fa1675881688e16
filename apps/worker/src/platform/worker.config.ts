import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { PoolSlots } from '#attempts';
import { POOLS, Pool, type PluginSettings } from '#contracts';
import { ARCHIVE_ENV, commaList, ConfigError, LOG_ENV, type LogSettings, withoutEmpty } from '#platform';
import { environmentSecrets } from '#redaction';
import {
  EGRESS_ENV,
  type EgressPolicy,
  type QuotaLimits,
  SANDBOX_ENV,
  type SandboxConfig,
  TRACE_HOSTS_ENV,
  egressPolicyFrom,
  sandboxConfig,
  validateSandboxConfig,
} from '#sandbox';
import { MEMORY_ENV, memorySettings, type MemorySettings } from '#memory';
import {
  BROWSER_ENV,
  type BrowserSettings,
  LANGUAGE_SERVERS_ENV,
  type LanguageServerSettings,
  WEB_ENV,
  browserSettingsFrom,
  languageServersFrom,
} from '#tools';
import { readPluginSettings } from './plugin-settings.config.js';
import type { FileScopeSettings } from './file-scope.config.js';
import { TRACING_ENV, tracingConfig, type TracingConfig } from '#observability';

/** Slots of a pool when WORKER_CONCURRENCY does not name it: many where tools wait, few where they start processes. */
const DEFAULT_SLOTS: Readonly<Record<Pool, number>> = { read: 64, write: 16, shell: 8, net: 32, agent: 16 };

const milliseconds = (fallback: number, least: number, most: number) =>
  z.coerce
    .number({ error: `expected milliseconds from ${least} to ${most}` })
    .int()
    .min(least)
    .max(most)
    .default(fallback);

const pools = z
  .string()
  .default(POOLS.join(','))
  .transform(commaList)
  .pipe(z.array(z.enum(POOLS, { error: `expected a list of ${POOLS.join(', ')}` })).min(1, 'expected at least one pool'));

const slots = z
  .string()
  .default('')
  .transform((text, context) => {
    const bySlot: Partial<Record<Pool, number>> = {};
    for (const part of commaList(text)) {
      const match = /^([a-z]+)=(\d{1,4})$/.exec(part);
      const pool = Pool.safeParse(match?.[1]);
      const count = Number(match?.[2]);
      if (!pool.success || !(count >= 1))
        context.addIssue({
          code: 'custom',
          message: `expected pairs such as read=64,shell=8 with the pools ${POOLS.join(', ')}; got "${part}"`,
        });
      else bySlot[pool.data] = count;
    }
    return bySlot;
  });

const roots = z
  .string()
  .default('')
  .transform((text, context) =>
    commaList(text).flatMap((part) => {
      const match = /^(read|write)=(\/.*[^/])$/.exec(part);
      const [, access, path = ''] = match ?? [];
      if (match !== null && isFolder(path)) return [{ path, access: access === 'write' ? ('write' as const) : ('read' as const) }];
      const fault = match === null ? `got "${part}"` : `${path} is no folder`;
      context.addIssue({
        code: 'custom',
        message: `expected pairs such as read=/srv/vault,write=/srv/shared of folders that exist; ${fault}`,
      });
      return [];
    }),
  );

/**
 * Where a person's yes opens paths outside of the workspace: `/` is everywhere, `none` nowhere. A worker serves many
 * tenants: none unless its operator says so.
 */
const outsideRoots = z
  .string()
  .default('none')
  .transform((text) => (text.trim() === 'none' ? [] : commaList(text)))
  .pipe(z.array(z.string().startsWith('/', 'expected none, or a list of absolute paths such as /srv/data,/home/me')));

const GIBIBYTE = 1_073_741_824;
/** What the files of a workspace, or of all workspaces of a tenant, may take. */
const quota = (fallback: number) =>
  z
    .union([z.literal('none').transform(() => Infinity), z.coerce.number().int().min(1)], {
      error: 'expected a whole number from 1, or none',
    })
    .default(fallback);

/** Under a name that no tenant can have. */
const LOCKS_FOLDER = '~locks';

/** The variables that a worker reads. `GatewayEnv` describes those that a gateway reads, too. */
export const WorkerEnv = z.object({
  REDIS_URL: z.string().min(1).default('redis://127.0.0.1:6379'),
  ...ARCHIVE_ENV,
  PARTITIONS: z.coerce.number().int().min(1).max(999).default(16),
  DURABILITY: z.enum(['local', 'replicated']).default('local'),
  REPLICAS: z.coerce.number().int().min(1).max(9).default(1),
  QUEUE_BACKEND: z.enum(['batching', 'stock']).default('batching'),
  WORKER_ID: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ -')
    .optional()
    .meta({ description: 'Its name in events and logs.', shownDefault: 'host and random' }),
  WORKER_POOLS: pools.describe('The pools that it serves.'),
  WORKER_CONCURRENCY: slots.meta({
    description: 'Calls at a time, by pool, such as `shell=4,net=8`.',
    shownDefault: '`read=64,write=16,shell=8,net=32,agent=16`',
  }),
  WORKER_HOST: z.string().min(1).default('127.0.0.1').describe('Where it serves health and metrics.'),
  WORKER_PORT: z
    .union([z.literal('off'), z.coerce.number().int().min(0).max(65_535)], {
      error: 'expected a port from 0 (any free one) to 65535, or "off"',
    })
    .default(7412)
    .meta({ description: 'Port of health and metrics, or `off`.', shownDefault: '`7412`; standalone: `off`' }),
  METRICS_KEY: z.string().min(16, 'expected at least 16 characters').optional(),
  REDACT_ENV: z.string().default('').transform(commaList),
  WORKSPACE_ROOT: z.string().min(1).optional(),
  SHARED_ROOTS: roots.describe('More folders for file tools: `read=/srv/vault,write=/srv/shared`.'),
  OUTSIDE_ROOTS: outsideRoots.meta({
    description: 'Folders where approved paths outside the workspace are opened.',
    shownDefault: '`none`; standalone: `/`',
  }),
  WORKSPACE_QUOTA_BYTES: quota(10 * GIBIBYTE).meta({
    description: 'Disk space of the files of one session in bytes; `none`: no limit.',
    shownDefault: '`10737418240` (10 GiB)',
  }),
  WORKSPACE_QUOTA_FILES: quota(500_000).describe('Files and folders of one session; `none`: no limit.'),
  TENANT_QUOTA_BYTES: quota(50 * GIBIBYTE).meta({
    description: 'Disk space of all sessions of a tenant in bytes; `none`: no limit.',
    shownDefault: '`53687091200` (50 GiB)',
  }),
  TENANT_QUOTA_FILES: quota(2_500_000).describe('Files and folders of all sessions of a tenant; `none`: no limit.'),
  TOOLYARD_CONFIG: z.string().min(1).optional(),
  TOOLYARD_DATA: z.string().min(1).default('.toolyard'),
  LEASE_MS: milliseconds(30_000, 500, 600_000).describe('Milliseconds that a silent worker keeps a call.'),
  START_TIMEOUT_MS: milliseconds(15_000, 1_000, 600_000),
  DRAIN_MS: milliseconds(25_000, 0, 3_600_000),
  STOP_GRACE_MS: milliseconds(3_000, 0, 3_500).describe('Milliseconds that an aborted tool has before its call is ended.'),
  INPUT_MS: milliseconds(3_600_000, 1_000, 604_800_000),
  RETRY_MAX_ATTEMPTS: z.coerce.number().int().min(1).max(20).optional(),
  RETRY_MAX_BACKOFF_MS: milliseconds(600_000, 0, 86_400_000).describe('Upper limit of the pause between attempts, in milliseconds.'),
  TOOLYARD_TOOLS: z
    .string()
    .default('')
    .transform((text) => commaList(text).map((path) => resolve(path)))
    .meta({ description: 'Folders of folder tools, separated by commas; their tools are offered to all tenants.', shownDefault: 'none' }),
  TOOL_ENV_ALLOWLIST: z.string().default('PATH,LANG,LC_ALL,TZ,TERM').transform(commaList),
  ...SANDBOX_ENV,
  ...TRACING_ENV,
  ...EGRESS_ENV,
  ...TRACE_HOSTS_ENV,
  ...WEB_ENV,
  ...BROWSER_ENV,
  ...LANGUAGE_SERVERS_ENV,
  DATABASE_URL: z.url({ protocol: /^postgres(?:ql)?$/, error: 'expected a URL such as postgres://user@host:5432/toolyard' }).optional(),
  ...MEMORY_ENV,
  ...LOG_ENV,
});

export const WORKER_CONFIG = Symbol('WORKER_CONFIG');

/** Everything a worker needs to know; made once from the environment, then passed as a value. */
export interface WorkerConfig {
  readonly id: string;
  readonly redisUrl: string;
  /** Where calls are that have left Redis. */
  readonly archiveUrl: string | undefined;
  readonly partitions: number;
  readonly durability: 'local' | 'replicated';
  readonly replicas: number;
  readonly queueBackend: 'batching' | 'stock';
  readonly pools: readonly PoolSlots[];
  readonly host: string;
  /** `off`: no health and metrics server, as when another server of the same process has them. */
  readonly port: number | 'off';
  /** What `/metrics` asks for; nothing when it is not set. */
  readonly metricsKey?: string | undefined;
  readonly workspaceRoot: string;
  readonly quotas: QuotaLimits;
  /** What calls may reach besides their workspaces, where the decision about them says so. */
  readonly files: FileScopeSettings;
  readonly leaseMs: number;
  /** How long each step of the start waits for Redis. */
  readonly startTimeoutMs: number;
  /** From SIGTERM until running calls that cannot be handed back are aborted. */
  readonly drainMs: number;
  /**
   * From an abort until the attempt is given up and its End is written, whatever the tool does. Below the slack after
   * which the reconciler ends it.
   */
  readonly stopGraceMs: number;
  /** How long a call waits for input without which it ends. */
  readonly inputMs: number;
  /** A ceiling over what calls ask for. */
  readonly maxAttempts: number;
  readonly maxBackoffMs: number;
  /** The environment variables that child processes of tools see, and their values. */
  readonly toolEnv: Readonly<Record<string, string>>;
  /** Folders of folder tools, for all tenants. */
  readonly toolFolders: readonly string[];
  /** The file that names the plugins. */
  readonly configFile?: string | undefined;
  readonly plugins: readonly PluginSettings[];
  /** Where hooks find the variables that they name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where tools and webhooks of sessions may go. */
  readonly egress: EgressPolicy;
  /** Secrets in the environment of this process: taken out of everything that it writes. */
  readonly secrets: readonly string[];
  readonly sandbox: SandboxConfig;
  readonly browser: BrowserSettings;
  readonly languageServers: LanguageServerSettings;
  /** Undefined without a database for what tools remember. */
  readonly memory: MemorySettings | undefined;
  /** There when spans are exported. */
  readonly tracing?: TracingConfig | undefined;
  readonly log: LogSettings;
}

/** `NAME=` means not set. Throws one ConfigError whose message lists every fault, one a line. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  const parsed = WorkerEnv.safeParse(withoutEmpty(env));
  if (!parsed.success) throw new ConfigError(faultsOf(parsed.error));
  const values = parsed.data;
  const unused = Object.keys(values.WORKER_CONCURRENCY).filter((pool) => !values.WORKER_POOLS.some((served) => served === pool));
  if (env['WORKER_POOLS'] !== undefined && unused.length > 0) {
    throw new ConfigError(
      `The worker's environment is wrong:\n  WORKER_CONCURRENCY: names ${unused.join(', ')}, which WORKER_POOLS does not`,
    );
  }
  const sandbox = sandboxConfig(values);
  const contradictions = validateSandboxConfig(sandbox);
  if (contradictions.length > 0) throw new ConfigError(`The worker's environment is wrong:\n  ${contradictions.join('\n  ')}`);
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
    queueBackend: values.QUEUE_BACKEND,
    pools: [...new Set(values.WORKER_POOLS)].map((pool) => ({ pool, slots: values.WORKER_CONCURRENCY[pool] ?? DEFAULT_SLOTS[pool] })),
    host: values.WORKER_HOST,
    port: values.WORKER_PORT,
    metricsKey: values.METRICS_KEY,
    workspaceRoot,
    quotas: {
      workspace: { bytes: values.WORKSPACE_QUOTA_BYTES, files: values.WORKSPACE_QUOTA_FILES },
      tenant: { bytes: values.TENANT_QUOTA_BYTES, files: values.TENANT_QUOTA_FILES },
    },
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
    plugins: values.TOOLYARD_CONFIG === undefined ? [] : readPluginSettings(values.TOOLYARD_CONFIG),
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

function orConfigError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(`The worker's environment is wrong:\n  ${error instanceof Error ? error.message : String(error)}`);
  }
}

function faultsOf(error: z.ZodError): string {
  const lines = error.issues.map((issue) => `  ${String(issue.path[0] ?? 'environment')}: ${issue.message}`);
  return `The worker's environment is wrong:\n${lines.join('\n')}`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
