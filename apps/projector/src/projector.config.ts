import { hostname } from 'node:os';
import { z } from 'zod';
import { ARCHIVE_ENV, commaList, environmentFaults, LOG_ENV, type LogSettings, withoutEmpty, wrongEnvironment } from '#platform';
import { environmentSecrets } from '#redaction';

const HOT_WINDOW = 'expected whole milliseconds from 60000 (a minute) to 31536000000 (a year)';
const HOT_WINDOW_CALLS = 'expected a whole number from 0 to 100000000';

/** Environment variables of a projector. `GatewayEnv` and `WorkerEnv` describe those that these apps read, too. */
export const ProjectorEnv = z.object({
  REDIS_URL: z.string().min(1).default('redis://127.0.0.1:6379'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected an address such as postgres://user:password@host:5432/database' })
    .optional(),
  ...ARCHIVE_ENV,
  ARCHIVE_SIGNING_KEY_FILE: z.string().min(1).optional().meta({
    description:
      'File with the Ed25519 key that signs checkpoints of the archive; made at the first start where it is missing. Not set: nothing is signed.',
    shownDefault: 'none; standalone: `archive-key` in `TOOLYARD_DATA`',
  }),
  CHECKPOINT_URL: ARCHIVE_ENV.ARCHIVE_URL.meta({
    description:
      'A second place for the checkpoints, which the operator of Redis and of the archive cannot write. Addresses as `ARCHIVE_URL`.',
    shownDefault: 'none',
  }),
  HOT_WINDOW_MS: z.coerce
    .number({ error: HOT_WINDOW })
    .int(HOT_WINDOW)
    .min(60_000, HOT_WINDOW)
    .max(365 * 24 * 3_600_000, HOT_WINDOW)
    .default(3_600_000)
    .meta({ description: 'Milliseconds after its End at which an archived call leaves Redis.', shownDefault: '`3600000` (1 h)' }),
  HOT_WINDOW_CALLS: z.coerce
    .number({ error: HOT_WINDOW_CALLS })
    .int(HOT_WINDOW_CALLS)
    .min(0, HOT_WINDOW_CALLS)
    .max(100_000_000, HOT_WINDOW_CALLS)
    .default(20_000)
    .describe('Ended and archived calls above this number leave Redis before, the oldest first.'),
  PARTITIONS: z.coerce.number().int().min(1).max(999).default(16),
  PROJECTOR_ID: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 of the characters A-Z a-z 0-9 . _ -')
    .optional()
    .meta({ description: 'Its name in logs.', shownDefault: 'host and process id' }),
  PROJECTOR_HOST: z.string().min(1).default('127.0.0.1').describe('Where it serves health and metrics.'),
  PROJECTOR_PORT: z
    .union([z.literal('off'), z.coerce.number().int().min(0).max(65_535)], {
      error: 'expected a port from 0 (any free one) to 65535, or "off"',
    })
    .default(7413)
    .meta({ description: 'Port of health and metrics, or `off`.', shownDefault: '`7413`' }),
  HISTORY_RETENTION_DAYS: z.coerce.number({ error: 'expected a whole number of days' }).int().min(1).max(36_500).optional().meta({
    description: 'Days after its end after which a call leaves lists and numbers; `tenants.*.retention` of the config file goes before it.',
    shownDefault: 'for ever',
  }),
  ARCHIVE_RETENTION_DAYS: z.coerce.number({ error: 'expected a whole number of days' }).int().min(1).max(36_500).optional().meta({
    description:
      'Days after its end after which a call is deleted from the archive; `tenants.*.retention` of the config file goes before it. Needs ARCHIVE_SIGNING_KEY_FILE.',
    shownDefault: 'for ever',
  }),
  TOOLYARD_CONFIG: z.string().optional(),
  METRICS_KEY: z.string().min(16, 'expected at least 16 characters').optional(),
  START_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(600_000).default(15_000),
  REDACT_ENV: z.string().default('').transform(commaList),
  ...LOG_ENV,
});

/** Configuration of a projector, read once from the environment, then passed as a value. */
export interface ProjectorConfig {
  readonly id: string;
  readonly redisUrl: string;
  /** Absent: this process makes no rows. */
  readonly databaseUrl: string | undefined;
  /** Absent: this process archives nothing. */
  readonly archiveUrl: string | undefined;
  /** Absent: checkpoints are not signed. */
  readonly signingKeyFile: string | undefined;
  readonly checkpointUrl: string | undefined;
  readonly hotWindow: { readonly maxAgeMs: number; readonly maxCalls: number };
  readonly partitions: number;
  readonly host: string;
  readonly port: number | 'off';
  /** Days after its end after which a call leaves the history; undefined: never. */
  readonly retentionDays: number | undefined;
  /** Days after its end after which a call leaves the archive; undefined: never. */
  readonly archiveRetentionDays: number | undefined;
  /** File with `tenants.*.retention`. */
  readonly configPath: string | undefined;
  readonly metricsKey: string | undefined;
  readonly startTimeoutMs: number;
  readonly log: LogSettings;
  /** Secrets in the environment of this process, redacted in all of its output. */
  readonly secrets: readonly string[];
}

/** Reads the configuration; `NAME=` means not set. Throws one ConfigError whose message lists every fault, one a line. */
export function readProjectorConfig(env: Readonly<Record<string, string | undefined>>): ProjectorConfig {
  const parsed = ProjectorEnv.safeParse(withoutEmpty(env));
  if (!parsed.success) throw wrongEnvironment('projector', environmentFaults(parsed.error));
  const values = parsed.data;
  if (values.DATABASE_URL === undefined && values.ARCHIVE_URL === undefined)
    throw wrongEnvironment('projector', [
      'DATABASE_URL, ARCHIVE_URL: expected one of them: rows for lists, the archive, or both are what it makes',
    ]);
  return {
    id:
      values.PROJECTOR_ID ??
      `${hostname()
        .replace(/[^A-Za-z0-9._-]/g, '-')
        .slice(0, 100)}-${process.pid}`,
    redisUrl: values.REDIS_URL,
    databaseUrl: values.DATABASE_URL,
    archiveUrl: values.ARCHIVE_URL,
    signingKeyFile: values.ARCHIVE_SIGNING_KEY_FILE,
    checkpointUrl: values.CHECKPOINT_URL,
    hotWindow: { maxAgeMs: values.HOT_WINDOW_MS, maxCalls: values.HOT_WINDOW_CALLS },
    partitions: values.PARTITIONS,
    host: values.PROJECTOR_HOST,
    port: values.PROJECTOR_PORT,
    retentionDays: values.HISTORY_RETENTION_DAYS,
    archiveRetentionDays: values.ARCHIVE_RETENTION_DAYS,
    configPath: values.TOOLYARD_CONFIG,
    metricsKey: values.METRICS_KEY,
    startTimeoutMs: values.START_TIMEOUT_MS,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    secrets: environmentSecrets(env, { named: values.REDACT_ENV }),
  };
}
