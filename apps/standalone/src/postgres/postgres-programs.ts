import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian and Ubuntu install each version; they are not on PATH. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';
const OLDEST_MAJOR = 14;

/** The programs of one PostgreSQL version on this machine. */
export interface PostgresPrograms {
  readonly postgres: string;
  readonly initdb: string;
  readonly major: number;
}

/**
 * The newest PostgreSQL from 14 on; for a data folder that exists, the one that can open it. Undefined without one: the caller
 * goes on without a history database.
 */
export function findPostgres(dataFolder: string): PostgresPrograms | undefined {
  const major = majorOfData(dataFolder);
  return folders()
    .flatMap((folder) => programsIn(folder))
    .filter((programs) => programs.major >= OLDEST_MAJOR && (major === undefined || programs.major === major))
    .sort((a, b) => b.major - a.major)[0];
}

/** The version that made the data folder; undefined when there is none yet. */
export function majorOfData(dataFolder: string): number | undefined {
  const path = join(dataFolder, 'PG_VERSION');
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : undefined;
}

function folders(): string[] {
  const debian = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).map((version) => join(DEBIAN_FOLDER, version, 'bin')) : [];
  return [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...debian];
}

function programsIn(folder: string): PostgresPrograms[] {
  const [postgres, initdb] = [join(folder, 'postgres'), join(folder, 'initdb')];
  if (!existsSync(postgres) || !existsSync(initdb)) return [];
  const { stdout } = spawnSync(postgres, ['--version'], { encoding: 'utf8' });
  const major = Number(/\b(\d+)\./.exec(stdout ?? '')?.[1]);
  return Number.isInteger(major) ? [{ postgres, initdb, major }] : [];
}
