import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { SupervisedChild } from '../child/supervised-child.js';
import { processIdentity } from '../data/process-identity.js';
import { StartupError } from '../start-failure.js';
import { giveToGuarded, guardCommand } from './guard-command.js';
import { majorOf, type PostgresPrograms } from './postgres-programs.js';

const USER = 'toolyard';
/** Longest folder of a socket: the name of the socket follows, and every system takes 103 bytes. */
const MAX_SOCKET_FOLDER_BYTES = 85;
const POLITE_MS = 10_000;
const UNFINISHED = 'unfinished-';

/** Settings for one installation: no network, and little memory. */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '50',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  jit: 'off',
};

export interface PrivatePostgres {
  readonly url: string;
  readonly pid: number | undefined;
  /** Ends its connections and stops it with its data on disk. Idempotent. */
  stop(): Promise<void>;
}

/**
 * A private PostgreSQL as a child process, in its own process group. It is reached by a Unix socket in a folder that only this
 * user can open. If it exits, it is restarted; clients connect again. If this process ends without `stop`, the child gets SIGINT, on
 * Linux also after SIGKILL; one that was left behind is stopped first.
 *
 * @throws StartupError
 */
export async function startPrivatePostgres(
  folder: string,
  programs: PostgresPrograms,
  tell: (line: string) => void,
): Promise<PrivatePostgres> {
  const prefix = guardCommand();
  if (prefix === undefined)
    throw new StartupError(
      'PostgreSQL does not run as root, and setpriv (util-linux) cannot change the user: start Toolyard as another user',
    );
  const [data, logPath] = [join(folder, 'data'), join(folder, 'postgres.log')];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await stopOrphan(data);
  await createData(folder, prefix, programs);
  giveToGuarded(data);
  const sockets = socketFolder(folder);
  const words = [...prefix, programs.postgres, '-D', data, ...settingWords({ ...SETTINGS, unix_socket_directories: sockets.path })];
  const child = new SupervisedChild({
    name: 'PostgreSQL',
    launch: () => launch(words, logPath),
    stopSignal: 'SIGINT',
    logPath,
    meanwhile: 'Calls go on; lists come back with it',
    tell,
  });
  const abandon = () => child.abandon();
  process.once('exit', abandon);
  const stop = async () => {
    await child.stop();
    process.off('exit', abandon);
    sockets.remove();
  };
  const url = `postgres://${USER}@localhost/postgres?host=${encodeURIComponent(sockets.path)}`;
  try {
    await child.firstStart((signal) => answers(url, signal));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    get pid() {
      return child.pid;
    },
    stop,
  };
}

async function createData(folder: string, prefix: readonly string[], { initdb }: PostgresPrograms): Promise<void> {
  if (majorOf(folder) !== undefined) return;
  // An interrupted one leaves a folder that looks complete: it gets its name when it is. The one before may still be written to.
  for (const name of readdirSync(folder).filter((found) => found.startsWith(UNFINISHED)))
    rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  const made = mkdtempSync(join(folder, UNFINISHED));
  giveToGuarded(made);
  const words = [...prefix, initdb, '-D', made, '-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C'];
  const data = join(folder, 'data');
  await promisify(execFile)(words[0] ?? '', words.slice(1)).catch((error: Error & { readonly stderr?: string }) => {
    throw new StartupError(`PostgreSQL could not create ${data}: ${error.stderr?.trim() || error.message}`, { cause: error });
  });
  renameSync(made, data);
}

/** The folder of the data, or a temporary one where its path is too long for a socket. */
function socketFolder(folder: string): { readonly path: string; remove(): void } {
  if (Buffer.byteLength(folder) <= MAX_SOCKET_FOLDER_BYTES) return { path: folder, remove: () => {} };
  const path = mkdtempSync(join(tmpdir(), 'toolyard-postgres-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function settingWords(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function launch(words: readonly string[], logPath: string): ChildProcess {
  const log = openSync(logPath, 'a', 0o600);
  try {
    return spawn(words[0] ?? '', words.slice(1), { detached: true, stdio: ['ignore', log, log] });
  } finally {
    closeSync(log);
  }
}

async function answers(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return;
    } catch {
      await delay(50, undefined, { signal }).catch(() => {});
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** Stops the server that a killed Toolyard left running on this folder. A process that reuses the pid is not touched. */
async function stopOrphan(data: string): Promise<void> {
  const pid = serverOf(data);
  if (pid === undefined) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + POLITE_MS;
  while (serverOf(data) === pid) {
    if (performance.now() > deadline) process.kill(pid, 'SIGKILL');
    await delay(25);
  }
}

function serverOf(data: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
    return processIdentity(pid) !== undefined && readlinkSync(`/proc/${pid}/cwd`) === data ? pid : undefined;
  } catch {
    return undefined;
  }
}
