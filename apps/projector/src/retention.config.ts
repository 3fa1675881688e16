import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { TenantRetention, validationFaults } from '#contracts';
import { archiveDaysOf, longestArchiveDays, type RetentionPolicy } from '#history';
import { ConfigError, indentLines } from '#platform';
import type { ArchiveDays } from '#sealing';
import type { ProjectorConfig } from './projector.config.js';

/** Part of the config file for projectors; gateways check all of it. */
const RetentionFile = z.object({ tenants: z.record(z.string(), z.object({ retention: TenantRetention.default({}) })).default({}) });

/**
 * Reads the retention from environment and config file.
 * @throws ConfigError for an unreadable file, which forbids deletions, since it may contain a legal hold
 */
export function readRetention({
  retentionDays: days,
  archiveRetentionDays: archiveDays,
  configPath,
}: Partial<Pick<ProjectorConfig, 'retentionDays' | 'archiveRetentionDays' | 'configPath'>>): RetentionPolicy {
  if (configPath === undefined) return { days, archiveDays, tenants: {} };
  const parsed = RetentionFile.safeParse(settingsIn(configPath));
  if (!parsed.success)
    throw new ConfigError(`The retention in ${configPath} (TOOLYARD_CONFIG) is wrong:\n${indentLines(validationFaults(parsed.error))}`);
  const tenants = Object.fromEntries(Object.entries(parsed.data.tenants).map(([tenant, { retention }]) => [tenant, retention]));
  return { days, archiveDays, tenants };
}

/** Returns the last value while a read fails, so that sealing continues until the file is corrected. */
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

/** @throws ConfigError for an unreadable file, and for settings without the database or key that they require */
export function checkRetention(config: ProjectorConfig): void {
  const retention = readRetention(config);
  erasableTenants(retention, config.databaseUrl);
  if (config.archiveUrl !== undefined) archiveRetention(retention, config.signingKeyFile);
}

/** Tenants whose content is encrypted in the archive. @throws ConfigError without a database for keys */
export function erasableTenants({ tenants }: RetentionPolicy, databaseUrl: string | undefined): readonly string[] {
  const erasable = Object.keys(tenants).filter((tenant) => tenants[tenant]?.erasable === true);
  if (erasable.length > 0 && databaseUrl === undefined)
    throw new ConfigError(
      `TOOLYARD_CONFIG: tenants.${erasable[0]}.retention.erasable needs a database for the keys of calls: set DATABASE_URL, for gateways too`,
    );
  return erasable;
}

/**
 * Retention of the archive; undefined if it keeps all. Events without a tenant stay as long as the longest of any.
 * @throws ConfigError without a key to sign deletions
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

/** Rejects an empty file, which may have been cut and lost a tenant. */
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
