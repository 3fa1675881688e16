import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { POOLS, Pool } from '#contracts';
import { MEMORY_ENV } from '#memory';
import { TRACING_ENV } from '#observability';
import { ARCHIVE_ENV, commaList, LOG_ENV } from '#platform';
import { EGRESS_ENV, SANDBOX_ENV, TRACE_HOSTS_ENV } from '#sandbox';
import { BROWSER_ENV, LANGUAGE_SERVERS_ENV, WEB_ENV } from '#tools';

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
 * Folders in which an approval may open paths outside of the workspace: `/` for all, `none` for none. Default `none`, since a
 * worker serves many tenants.
 */
const outsideRoots = z
  .string()
  .default('none')
  .transform((text) => (text.trim() === 'none' ? [] : commaList(text)))
  .pipe(z.array(z.string().startsWith('/', 'expected none, or a list of absolute paths such as /srv/data,/home/me')));

const GIBIBYTE = 1_073_741_824;
/** Limit of the files of a workspace, or of all workspaces of a tenant. */
const quota = (fallback: number) =>
  z
    .union([z.literal('none').transform(() => Infinity), z.coerce.number().int().min(1)], {
      error: 'expected a whole number from 1, or none',
    })
    .default(fallback);

/** Environment variables of a worker. `GatewayEnv` describes those that a gateway reads, too. */
export const WorkerEnv = z.object({
  REDIS_URL: z.string().min(1).default('redis://127.0.0.1:6379'),
  ...ARCHIVE_ENV,
  PARTITIONS: z.coerce.number().int().min(1).max(999).default(16),
  DURABILITY: z.enum(['local', 'replicated']).default('local'),
  REPLICAS: z.coerce.number().int().min(1).max(9).optional(),
  TENANT_CALL_BYTES: z.coerce.number().int().min(16_777_216).max(1_000_000_000_000).default(134_217_728),
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
  SOURCE_TOKEN_KEY: z.string().min(32, 'expected at least 32 characters').optional(),
  REDACT_ENV: z.string().default('').transform(commaList),
  WORKSPACE_ROOT: z.string().min(1).optional(),
  SHARED_ROOTS: roots.describe('More folders for file tools: `read=/srv/vault,write=/srv/shared`.'),
  OUTSIDE_ROOTS: outsideRoots.meta({
    description: 'Folders where approved paths outside the workspace are opened.',
    shownDefault: '`none`; standalone: `/`',
  }),
  WORKSPACE_QUOTA_BYTES: quota(10 * GIBIBYTE).meta({
    description:
      'Disk space of the files of one session, of the bundles of a tenant, or of an MCP server that it added, in bytes; `none`: no limit.',
    shownDefault: '`10737418240` (10 GiB)',
  }),
  WORKSPACE_QUOTA_FILES: quota(500_000).describe(
    'Files and folders of one session, of the bundles of a tenant, or of an MCP server that it added; `none`: no limit.',
  ),
  TENANT_QUOTA_BYTES: quota(50 * GIBIBYTE).meta({
    description:
      'Disk space of all sessions of a tenant in bytes, and apart from them of the bundles of its MCP servers; `none`: no limit.',
    shownDefault: '`53687091200` (50 GiB)',
  }),
  TENANT_QUOTA_FILES: quota(2_500_000).describe(
    'Files and folders of all sessions of a tenant, and apart from them of the bundles of its MCP servers; `none`: no limit.',
  ),
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
