import { z } from 'zod';
import { Autonomy, Label, LIMITS, PermissionMode } from '#contracts';
import { TRACING_ENV } from '#observability';
import { ARCHIVE_ENV, commaList, LOG_ENV } from '#platform';
import { EGRESS_ENV } from '#sandbox';
import { trustedProxies } from './http/client-address.js';

const list = z.string().default('').transform(commaList);
const optionalInteger = (min: number, max: number) => {
  const error = ({ input }: { readonly input?: unknown }) => `expected a whole number from ${min} to ${max}; got ${JSON.stringify(input)}`;
  return z
    .string()
    .regex(/^\d{1,12}$/, { error })
    .transform(Number)
    .pipe(z.number({ error }).min(min, { error }).max(max, { error }));
};
const integer = (min: number, max: number, preset: number) => optionalInteger(min, max).default(preset);

/** Environment variables of a gateway. Has the descriptions of variables shared with workers. */
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
  REPLICAS: optionalInteger(1, 9)
    .optional()
    .meta({ description: 'How many replicas `replicated` waits for.', shownDefault: 'all that Sentinel knows, else 1' }),
  QUEUE_BACKEND: z.enum(['batching', 'stock']).default('batching').describe('`stock`: the backend of BullMQ itself.'),
  ...LOG_ENV,
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
  KEY_RATE_PER_MINUTE: integer(1, 1_000_000_000, 60_000).describe(
    'Requests a minute of a key without its own `ratePerMinute`; no such key makes one with a higher rate.',
  ),
  TENANT_ACTS_PER_MINUTE: integer(1, 1_000_000_000, 3000).describe(
    'Administrative acts a minute of one tenant: changes of keys, sessions, lasting grants, sources and schedules, and erasures. Acts that revoke something, such as a key, are counted apart, with the same limit.',
  ),
  TENANT_SESSION_BYTES: integer(1, 1_000_000_000_000, 268_435_456).meta({
    description:
      'What Redis keeps of all sessions of a tenant in bytes: settings, grants, lists of agents, messages of people, also those in ended batches, hooks of their calls; also saved views and sessions of MCP clients. Outputs of foreign workers have as many bytes of their own until their attempts end.',
    shownDefault: '`268435456` (256 MiB)',
  }),
  TENANT_BATCH_BYTES: integer(1, 1_000_000_000_000, 67_108_864).meta({
    description:
      'What Redis keeps of the batches of a tenant that have not ended in bytes, in each partition of the log: those of one session are in one, those of many sessions in all `PARTITIONS`, and have so many times as much.',
    shownDefault: '`67108864` (64 MiB)',
  }),
  TENANT_CALL_BYTES: integer(16_777_216, 1_000_000_000_000, 134_217_728).meta({
    description:
      'The same of the calls of a tenant that have not ended: arguments, the events that change them, what suspended calls keep (states, updates, turns of sub-agents), inputs and arguments that people edit. With the last three they have at most twice as many. The least is more than one call can have. Set it alike for gateways and workers.',
    shownDefault: '`134217728` (128 MiB)',
  }),
  SOCKETS_PER_KEY: integer(1, 1_000_000, 1000).describe('Open WebSockets, event streams and polling workers of one key.'),
  SOCKETS_PER_TENANT: integer(1, 1_000_000, 5000).describe('Open WebSockets, event streams and polling workers of one tenant.'),
  SOCKETS_PER_ADDRESS: integer(1, 1_000_000, 2000).describe(
    'Open WebSockets, event streams and polling workers of one client address, for IPv6 of one /64 network.',
  ),
  SOCKETS_UNAUTHENTICATED: integer(1, 1_000_000, 50).describe('WebSockets of one address that have not sent their key yet.'),
  METRICS_KEY: z
    .string()
    .min(16, 'expected at least 16 characters')
    .optional()
    .describe('Bearer token that `/metrics` requires, at least 16 characters.'),
  SOURCE_TOKEN_KEY: z.string().min(32, 'expected at least 32 characters').optional().meta({
    description:
      'Seals the OAuth tokens that people let MCP sources have, at least 32 random characters; the same for all gateways and workers. Not set: `auth.type: authorizationCode` does not work. After a change people authorize again.',
    shownDefault: 'standalone: generated at the first start',
  }),
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
