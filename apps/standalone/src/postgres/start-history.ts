import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SupervisedChild } from '../child/supervised-child.js';
import type { DataDirectory } from '../data/data-directory.js';
import { StartupError } from '../start-failure.js';
import { findPostgres, majorOf } from './postgres-programs.js';

/** A database that starts later than this one is waited for; what is wrong for longer needs a person. */
const MOST_FAILURES = 20;

/** Relative to this file once it is compiled: the projector is a program of its own. */
const PROJECTOR = fileURLToPath(new URL('../../../projector/src/main.js', import.meta.url));

const MISSING = 'no PostgreSQL runs here: install postgresql, or the optional npm packages with npm ci';

export interface History {
  /** Undefined: lists answer 503 `history_unavailable`. */
  readonly databaseUrl: string | undefined;
  /** Label for the banner. */
  readonly label: string;
  stop(): Promise<void>;
}

/**
 * The database of lists and numbers: the one of `DATABASE_URL`, else a private PostgreSQL, with the programs of this machine or those
 * of npm, else none. A PostgreSQL that cannot start is no reason not to run calls: the label says why there are no lists.
 *
 * @throws StartupError when an earlier start has made a database that no PostgreSQL of this machine can open
 */
export async function startHistory(
  databaseUrl: string | undefined,
  directory: DataDirectory,
  tell: (line: string) => void,
): Promise<History> {
  if (databaseUrl === 'none') return without('DATABASE_URL=none');
  if (databaseUrl !== undefined) return { databaseUrl, label: 'the PostgreSQL of DATABASE_URL', stop: () => Promise.resolve() };
  const folder = join(directory.path, 'postgres');
  const programs = findPostgres(folder);
  if (programs === undefined) {
    const major = majorOf(folder);
    if (major === undefined) return without(MISSING);
    throw new StartupError(
      `The history in ${folder} was made by PostgreSQL ${major}, which is not installed any more. Install it or set DATABASE_URL. Where no tenant is erasable you may delete that folder: the projector makes it again from the event log. With erasable tenants it also has the keys of archived content.`,
    );
  }
  try {
    const { startPrivatePostgres } = await import('./private-postgres.js');
    const postgres = await startPrivatePostgres(folder, programs, tell);
    return {
      databaseUrl: postgres.url,
      label: `private PostgreSQL ${programs.major} ${programs.origin} (${folder})`,
      stop: () => postgres.stop(),
    };
  } catch (error) {
    if (error instanceof StartupError) return without(error.message);
    throw error;
  }
}

function without(reason: string): History {
  return { databaseUrl: undefined, label: `none: lists and numbers are not available (${reason})`, stop: () => Promise.resolve() };
}

/**
 * The projector as a child process, restarted when it exits. It ends when this process does. Resolves when it has made the tables, so
 * that lists can be asked for, or when it exits or takes too long: calls go on without lists.
 */
export async function startProjectorProcess(
  directory: DataDirectory,
  env: NodeJS.ProcessEnv,
  tell: (line: string) => void,
): Promise<{ stop(): Promise<void> }> {
  const logPath = join(directory.path, 'projector.log');
  let running: ChildProcess;
  const launch = () => {
    const log = openSync(logPath, 'a', 0o600);
    try {
      running = fork(PROJECTOR, { env: { ...env, PROJECTOR_PORT: 'off' }, detached: true, stdio: ['ignore', log, log, 'ipc'] });
      return running;
    } finally {
      closeSync(log);
    }
  };
  const child = new SupervisedChild({
    name: 'projector',
    launch,
    stopSignal: 'SIGTERM',
    logPath,
    meanwhile: 'Calls go on',
    tell,
    mostFailures: MOST_FAILURES,
  });
  const abandon = () => child.abandon();
  process.once('exit', abandon);
  await child.firstStart((failed) =>
    once(running, 'message', { signal: failed }).then(
      () => {},
      () => {},
    ),
  );
  return {
    stop: async () => {
      await child.stop();
      process.off('exit', abandon);
    },
  };
}
