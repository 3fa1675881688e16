import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Call } from '#contracts';
import { createRedis } from '#redis';
import { programOf } from './app-program.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.mjs';
import { checkArchive } from './invariants/check-archive.js';
import { forgetHistories, historiesOf } from './invariants/client-histories.js';
import { readFullLog } from './log-invariants.js';
import { startRedisServer } from './redis-server.mjs';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `npm start` without npm: the standalone app as a real process on a data directory. */
export interface StandaloneProcess {
  readonly url: string;
  readonly data: string;
  readonly child: ChildProcess;
  /** Everything it has printed. */
  output(): string;
  /** The line of its banner that makes a first call with curl. */
  firstCall(): string;
  key(): string;
  redisPid(): number;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the banner is there; rejects when it ended instead. */
  up(): Promise<void>;
  ended(): Promise<Ended>;
}

const running = new Set<ChildProcess>();
/** Addresses of the gateways that worked on each data directory. */
const directories = new Map<string, Set<string>>();

/** A fresh data directory, removed by `cleanUp`. */
export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-standalone-'));
  directories.set(directory, new Set());
  return directory;
}

/** `command` starts it. Detached, it leads a process group of its own. */
export async function spawnStandalone(
  data: string,
  env: Record<string, string> = {},
  [program = '', ...args]: readonly string[] = [process.execPath, programOf('standalone')],
  options: { readonly detached?: boolean; readonly cwd?: string } = {},
): Promise<StandaloneProcess> {
  const port = env['GATEWAY_PORT'] ?? String(await freePort());
  const child = spawn(program, args, {
    ...options,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TOOLYARD_DATA: data,
      GATEWAY_PORT: port,
      DATABASE_URL: 'none',
      ARCHIVE_URL: 'none',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const url = `http://127.0.0.1:${port}`;
  const urls = directories.get(data);
  if (urls?.has(url) === false) forgetHistories(url);
  urls?.add(url);
  let said = '';
  const remember = (chunk: Buffer) => (said += String(chunk));
  child.stdout.on('data', remember);
  child.stderr.on('data', remember);
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  return {
    url,
    data,
    child,
    output: () => said,
    firstCall: () => said.split('\n').find((text) => text.trimStart().startsWith('curl ')) ?? 'echo no line for curl',
    key: () => readFileSync(join(data, 'key'), 'utf8').trim(),
    redisPid: () => Number(readFileSync(join(data, 'redis.pid'), 'utf8')),
    signal: (signal) => void child.kill(signal),
    ended: () => ended,
    up: async () => {
      await eventually(() => {
        if (child.exitCode !== null) throw new Error(`standalone ended with ${child.exitCode}:\n${said}`);
        return said.includes('A first call:');
      }, `standalone on ${data} to be up`);
    },
  };
}

/**
 * Ends what a test left running, and the Redis and PostgreSQL of what was killed; removes the data. Rejects with what the log and
 * what clients saw violate of the invariants.
 */
export async function cleanUp(): Promise<void> {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const over = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await over;
    clearTimeout(force);
  }
  running.clear();
  const violations: string[] = [];
  for (const [directory, urls] of directories) {
    endRedisOf(directory);
    await endPostgresOf(directory);
    violations.push(...(await violationsIn(directory, urls)));
    rmSync(directory, { recursive: true, force: true });
  }
  directories.clear();
  if (violations.length > 0) throw new Error(`violations of the invariants:\n${violations.join('\n')}`);
}

/** Calls may be open: the next start of standalone would end them. */
async function violationsIn(directory: string, urls: ReadonlySet<string>): Promise<string[]> {
  const dir = join(directory, 'redis');
  if (!existsSync(join(dir, 'appendonlydir'))) return [];
  const server = await startRedisServer({ dir, settings: ['--appendonly', 'yes', '--save', ''] });
  const redis = createRedis(server.url);
  try {
    const log = await readFullLog(redis, 16, { byApps: true });
    const archive = join(directory, 'archive');
    const ofArchive = existsSync(archive) ? await checkArchive(`file://${archive}`) : [];
    return [...log.violations, ...ofArchive, ...[...urls].flatMap((url) => historiesOf(url).check(log))];
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

function endRedisOf(directory: string): void {
  try {
    const pid = Number(readFileSync(join(directory, 'redis.pid'), 'utf8'));
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('redis-server')) process.kill(pid, 'SIGKILL');
  } catch {
    // Errors are ignored: the process has ended by itself, as it should.
  }
}

/** Stops PostgreSQL before the removal of its folder. */
async function endPostgresOf(directory: string): Promise<void> {
  const pidFile = join(directory, 'postgres/data/postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  if (isRunning(pid)) process.kill(pid, 'SIGINT');
  await eventually(() => !isRunning(pid), 'PostgreSQL to stop');
}

export function isRunning(pid: number): boolean {
  try {
    // A zombie still answers signal 0 and is over all the same.
    return process.kill(pid, 0) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Submits a call and waits for its end. */
export async function submit(app: StandaloneProcess, body: unknown, wait = 60): Promise<Call> {
  const answer = await fetch(`${app.url}/v1/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.key()}`, 'content-type': 'application/json', prefer: `wait=${wait}` },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  const call = Call.parse(await answer.json());
  historiesOf(app.url).answered({ key: app.key(), callId: call.id, sessionId: call.sessionId, idempotencyKey: undefined });
  return call;
}

export async function read(app: StandaloneProcess, callId: string, wait = 60): Promise<Call> {
  const answer = await fetch(`${app.url}/v1/calls/${callId}?wait=${wait}`, { headers: { authorization: `Bearer ${app.key()}` } });
  return Call.parse(await answer.json());
}

export const echo = (text: string) => ({ tool: 'echo', arguments: { text } });
