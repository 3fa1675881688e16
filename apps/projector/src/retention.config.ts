import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { TenantRetention, validationFaults } from '#contracts';
import { archiveDaysOf, longestArchiveDays, type RetentionPolicy } from '#history';
import { ConfigError, indented } from '#platform';
import type { ArchiveDays } from '#sealing';
import type { ProjectorConfig } from './projector.config.js';

/** What a projector reads of the config file; gateways check all of it. */
const RetentionFile = z.object({ tenants: z.record(z.string(), z.object({ retention: TenantRetention.default({}) })).default({}) });

/**
 * How long calls are kept, as environment and config file say now.
 * @throws ConfigError for a file that cannot be read: nothing may be deleted then, since it may hold a legal hold
 */
export function readRetention({
  retentionDays: days,
  archiveRetentionDays: archiveDays,
  configPath,
}: Partial<Pick<ProjectorConfig, 'retentionDays' | 'archiveRetentionDays' | 'configPath'>>): RetentionPolicy {
  if (configPath === undefined) return { days, archiveDays, tenants: {} };
  const parsed = RetentionFile.safeParse(settingsIn(configPath));
  if (!parsed.success)
    throw new ConfigError(`The retention in ${configPath} (TOOLYARD_CONFIG) is wrong:\n${indented(validationFaults(parsed.error))}`);
  const tenants = Object.fromEntries(Object.entries(parsed.data.tenants).map(([tenant, { retention }]) => [tenant, retention]));
  return { days, archiveDays, tenants };
}

/** What was read last, while it cannot be read now: sealing goes on while a person corrects the file. */
export function orLast<T>(read: () => T, onError: (error: unknown) => void): () => T {
  let last: { readonly value: T } | undefined;
  return () => {
    try {
      last = { value: read() };
    } catch (error) {
      if (last === undefined) throw error;
      onError(error);
    }
    return last.value;
  };
}

/** @throws ConfigError for a file that cannot be read, and for what has no database or key that it needs */
export function checkRetention(config: ProjectorConfig): void {
  const retention = readRetention(config);
  erasableTenants(retention, config.databaseUrl);
  if (config.archiveUrl !== undefined) archiveRetention(retention, config.signingKeyFile);
}

/** Tenants whose content is encrypted in the archive. @throws ConfigError where there is no place for keys */
export function erasableTenants({ tenants }: RetentionPolicy, databaseUrl: string | undefined): readonly string[] {
  const erasable = Object.keys(tenants).filter((tenant) => tenants[tenant]?.erasable === true);
  if (erasable.length > 0 && databaseUrl === undefined)
    throw new ConfigError(
      `TOOLYARD_CONFIG: tenants.${erasable[0]}.retention.erasable needs a database for the keys of calls: set DATABASE_URL, for gateways too`,
    );
  return erasable;
}

/**
 * How long the archive keeps calls; undefined where it keeps all. Events of no tenant stay as long as those of any.
 * @throws ConfigError where there is no key to sign with what is deleted
 */
export function archiveRetention(policy: RetentionPolicy, signingKeyFile: string | undefined): ArchiveDays | undefined {
  const longest = longestArchiveDays(policy);
  if (longest === undefined) return undefined;
  if (signingKeyFile === undefined)
    throw new ConfigError(
      'ARCHIVE_RETENTION_DAYS, tenants.*.retention.archiveDays: what is deleted from the archive is said in signed form: set ARCHIVE_SIGNING_KEY_FILE',
    );
  return (tenantId, owner) => (tenantId === '' ? longest : archiveDaysOf(policy, tenantId, owner));
}

/** A file without settings is one that was cut: it may have held a tenant. */
function settingsIn(path: string): unknown {
  const settings = read(path);
  if (settings === null || settings === undefined)
    throw new ConfigError(`TOOLYARD_CONFIG: expected settings in ${path}, and it is empty. Write {} into it if there are none`);
  return settings;
}

function read(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(
      `TOOLYARD_CONFIG: expected a readable YAML or JSON file at ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
