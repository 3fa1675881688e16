import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { npmPostgres } from './npm-postgres.js';

/** Folder of each version's programs on Debian and Ubuntu; they are not on PATH. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';
const OLDEST_MAJOR = 14;

/** The programs of one PostgreSQL version. */
export interface PostgresPrograms {
  readonly postgres: string;
  readonly initdb: string;
  readonly major: number;
  /** Origin for the banner: `of this machine`. */
  readonly origin: string;
}

/**
 * The newest PostgreSQL of this machine from 14 on, else that of npm; for a folder that has data, the one that can open it. Undefined
 * without one: the caller goes on without a history database. `folder` is that of the private PostgreSQL.
 */
export function findPostgres(folder: string): PostgresPrograms | undefined {
  const major = majorOf(folder);
  const fits = (programs: PostgresPrograms) => programs.major >= OLDEST_MAJOR && (major === undefined || programs.major === major);
  const [newest] = folders()
    .flatMap((bin) => programsIn(bin, 'of this machine'))
    .filter(fits)
    .sort((a, b) => b.major - a.major);
  return newest ?? npmPrograms(folder).find(fits);
}

/** The programs of the optional npm package, where they run on this system. */
export function npmPrograms(folder: string): PostgresPrograms[] {
  const found = npmPostgres(folder);
  return found === undefined ? [] : programsIn(found, 'of npm');
}

/** The version that made the data in the folder; undefined when there is none yet. */
export function majorOf(folder: string): number | undefined {
  const path = join(folder, 'data/PG_VERSION');
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : undefined;
}

function folders(): string[] {
  const debian = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).map((version) => join(DEBIAN_FOLDER, version, 'bin')) : [];
  return [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...debian];
}

function programsIn(folder: string, origin: string): PostgresPrograms[] {
  const [postgres, initdb] = [join(folder, 'postgres'), join(folder, 'initdb')];
  if (!existsSync(postgres) || !existsSync(initdb)) return [];
  const { stdout } = spawnSync(postgres, ['--version'], { encoding: 'utf8' });
  const major = Number(/\b(\d+)\./.exec(stdout ?? '')?.[1]);
  return Number.isInteger(major) ? [{ postgres, initdb, major, origin }] : [];
}
