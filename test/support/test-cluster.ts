import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContentKeyStore } from '#history';
import { createRedis } from '#redis';
import { openArchivedLog } from '#sealing';
import { Agent, TEST_KEY } from './agent.js';
import { programOf } from './app-program.js';
import { eventually } from './eventually.js';
import { Availability } from './invariants/availability.js';
import { checkArchive } from './invariants/check-archive.js';
import { forgetHistories, historiesOf } from './invariants/client-histories.js';
import { comeToRest } from './invariants/come-to-rest.js';
import { fourEyesIn } from './invariants/four-eyes.js';
import { readFullLog, type FullLog } from './log-invariants.js';
import { openTestDatabase, startTestProjector, testDatabase } from './postgres.js';
import { freePort } from './free-port.mjs';
import { startRedisServer, type RedisServer } from './redis-server.mjs';
import { gatewayUrls } from './validated/gateways.js';

export { TEST_KEY };

/** No call waits for approval; tests about approvals set their own. An empty text is the gateway's own default. */
export const OPEN_POSTURE = { DEFAULT_AUTONOMY: 'full', DEFAULT_PERMISSION_MODE: 'danger-full-access' };

/** App of Toolyard as a real process. */
export interface AppProcess {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
  /** The last 16 KiB of its log. */
  log(): string;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with how it ended. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A whole installation: private Redis with AOF, gateways and workers, all real processes on loopback. */
export interface TestCluster {
  readonly redis: RedisServer;
  /** URL of the database, present with `lists`. */
  readonly databaseUrl: string | undefined;
  readonly workspaceRoot: string;
  readonly gateways: AppProcess[];
  readonly workers: AppProcess[];
  /** Acts with TEST_KEY at the first gateway. @throws without one */
  readonly agent: Agent;
  /** `program`: its main file, of another release. */
  gateway(env?: Record<string, string>, program?: string): Promise<AppProcess>;
  /** `inherited`: open files that its parent leaves to it, by the numbers of their descriptors. `launcher`: words that run a command. */
  worker(
    env?: Record<string, string>,
    inherited?: Readonly<Record<number, number>>,
    program?: string,
    launcher?: readonly string[],
  ): Promise<AppProcess>;
  /** A projector as a process of its own, on a database of its own unless `env` names one. `launcher` are words that run a command. */
  projector(env?: Record<string, string>, launcher?: readonly string[]): Promise<AppProcess>;
  /** Cancels the open calls of a tenant. @throws when one of them gets no End. */
  endCallsOf(tenantId: string): Promise<void>;
  /**
   * Ends everything, politely first; resolves when no process is left. Before, what is still open is cancelled, and every
   * call must get its End; after, rejects with what the log and what clients saw violate of the invariants.
   */
  close(): Promise<void>;
}

export interface TestClusterOptions {
  readonly gateways?: number;
  readonly workers?: number;
  /** Environment of every app. */
  readonly env?: Record<string, string>;
  readonly gatewayEnv?: Record<string, string>;
  /** Content of a config file for every app. */
  readonly config?: object;
  readonly redisSettings?: readonly string[];
  /** Gateways answer lists: with a database and a projector. Without, lists answer 503. */
  readonly lists?: boolean;
  /** `close` reads every event of every call. Default true. */
  readonly checked?: boolean;
}

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];

export async function startTestCluster({
  gateways = 1,
  workers = 1,
  env = {},
  gatewayEnv = {},
  config,
  redisSettings = DURABLE,
  lists = false,
  checked = true,
}: TestClusterOptions = {}): Promise<TestCluster> {
  const availability = new Availability();
  const redis = observed(await startRedisServer({ settings: redisSettings }), availability);
  const databaseUrl = lists ? await testDatabase() : undefined;
  const projector = databaseUrl === undefined ? undefined : await startTestProjector(databaseUrl, redis.url, env['ARCHIVE_URL']);
  const workspaceRoot = mkdtempSync(join(tmpdir(), 'toolyard-workspaces-'));
  const configFolder = mkdtempSync(join(tmpdir(), 'toolyard-config-'));
  const configFile = join(configFolder, 'toolyard.json');
  if (config !== undefined) writeFileSync(configFile, JSON.stringify(config));
  const shared: Record<string, string> & { readonly REDIS_URL: string } = {
    REDIS_URL: redis.url,
    TOOLYARD_API_KEY: TEST_KEY,
    WORKSPACE_ROOT: workspaceRoot,
    LOG_LEVEL: 'warn',
    OUTSIDE_ROOTS: '/',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(config === undefined ? {} : { TOOLYARD_CONFIG: configFile }),
    ...OPEN_POSTURE,
    ...env,
  };

  const projectors: AppProcess[] = [];
  const toolyard: TestCluster = {
    redis,
    databaseUrl,
    workspaceRoot,
    gateways: [],
    workers: [],
    get agent() {
      const [first] = toolyard.gateways;
      if (first === undefined) throw new Error('the installation has no gateway');
      return new Agent(first.url);
    },
    gateway: async (more = {}, program = programOf('gateway')) => {
      const port = Number(more['GATEWAY_PORT'] ?? gatewayEnv['GATEWAY_PORT'] ?? (await freePort()));
      const app = startApp('gateway', port, { ...shared, GATEWAY_PORT: String(port), ...gatewayEnv, ...more }, { program });
      if (!toolyard.gateways.some(({ url }) => url === app.url)) forgetHistories(app.url);
      toolyard.gateways.push(app);
      gatewayUrls.add(app.url);
      await isReady(app);
      return app;
    },
    worker: async (more = {}, inherited = {}, program = programOf('worker'), launcher = []) => {
      const port = await freePort();
      const env = { ...shared, WORKER_PORT: String(port), ...more };
      const app = observedWorker(startApp('worker', port, env, { program, inherited, launcher, host: more['WORKER_HOST'] }), availability);
      toolyard.workers.push(app);
      await isReady(app);
      return app;
    },
    projector: async (more = {}, launcher = []) => {
      const port = await freePort();
      const databaseUrl = more['DATABASE_URL'] ?? (await testDatabase());
      const settings = { REDIS_URL: redis.url, LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl, PROJECTOR_PORT: String(port), ...more };
      const app = startApp('projector', port, settings, { launcher });
      projectors.push(app);
      await isReady(app);
      return app;
    },
    endCallsOf: (tenantId) => rest(shared.REDIS_URL, Number(env['PARTITIONS'] ?? 16), tenantId),
    close: async () => {
      const url = shared.REDIS_URL;
      const partitions = Number(env['PARTITIONS'] ?? 16);
      const faults: unknown[] = [];
      const attempt = (step: () => Promise<unknown>) => step().catch((error: unknown) => faults.push(error));
      for (const app of [...toolyard.gateways, ...toolyard.workers, ...projectors]) app.signal('SIGCONT');
      await attempt(() => rest(url, partitions));
      const apps = [...toolyard.gateways, ...toolyard.workers, ...projectors];
      for (const app of apps) app.signal('SIGTERM');
      const patience = setTimeout(() => apps.forEach((app) => app.signal('SIGKILL')), 5000);
      await Promise.all(apps.map((app) => app.ended()));
      clearTimeout(patience);
      for (const { url } of toolyard.gateways) gatewayUrls.delete(url);
      if (checked) await attempt(() => check(url, partitions));
      await projector?.close();
      await redis.stop();
      for (const folder of [workspaceRoot, configFolder]) rmSync(folder, { recursive: true, force: true });
      if (faults.length > 0) throw new AggregateError(faults, faults.map(String).join('\n'));
    },
  };
  const rest = async (url: string, partitions: number, tenantId?: string) => {
    if (url === redis.url) await redis.start();
    const connection = createRedis(url);
    const needWorker = async () => {
      if (!toolyard.workers.some(isAlive)) await toolyard.worker();
    };
    try {
      await comeToRest(connection, partitions, needWorker, tenantId);
    } finally {
      connection.disconnect();
    }
  };
  const check = async (url: string, partitions: number) => {
    const connection = createRedis(url);
    const db = databaseUrl === undefined ? undefined : openTestDatabase(databaseUrl);
    try {
      const archive =
        env['ARCHIVE_URL'] === undefined ? undefined : await openArchivedLog(env['ARCHIVE_URL'], db && new ContentKeyStore(db));
      const log = await readFullLog(connection, partitions, {
        atRest: true,
        byApps: true,
        fourEyes: fourEyesIn(shared['TOOLYARD_CONFIG']),
        secrets: [TEST_KEY],
        archive,
        ...(url === redis.url ? { awayMs: availability.awayMs } : {}),
      });
      const violations = [...log.violations, ...toolyard.gateways.flatMap((app) => historiesOf(app.url).check(log))];
      if (env['ARCHIVE_URL'] !== undefined) violations.push(...(await checkArchive(env['ARCHIVE_URL'])));
      for (const app of [...toolyard.gateways, ...toolyard.workers])
        if (app.log().includes(TEST_KEY)) violations.push(`I16 the log of a ${app.name} holds an API key`);
      if (violations.length > 0)
        throw new Error(`${violations.length} violations of the invariants:\n${violations.slice(0, 40).map(withTenant(log)).join('\n')}`);
    } finally {
      connection.disconnect();
      await db?.destroy();
    }
  };

  try {
    await Promise.all([
      ...Array.from({ length: gateways }, () => toolyard.gateway()),
      ...Array.from({ length: workers }, () => toolyard.worker()),
    ]);
  } catch (error) {
    await toolyard.close();
    throw error;
  }
  return toolyard;
}

/** Adds the tenant of the call that a violation names, and so the test file. */
function withTenant({ calls }: FullLog): (violation: string) => string {
  return (violation) => {
    const callId = [...calls.keys()].find((id) => violation.includes(id));
    const [first] = (callId !== undefined && calls.get(callId)) || [];
    return first === undefined ? violation : `${violation} (tenant ${first.tenantid})`;
  };
}

function isAlive({ child }: AppProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** The same server, which says when it is away. `start` of one that runs does nothing. */
function observed(server: RedisServer, availability: Availability): RedisServer {
  let up = true;
  availability.began('redis');
  const downAfter = async (stopped: Promise<void>) => {
    up = false;
    availability.ended('redis');
    await stopped;
  };
  return {
    port: server.port,
    url: server.url,
    get pid() {
      return server.pid;
    },
    start: async () => {
      if (up) return;
      await server.start();
      up = true;
      availability.began('redis');
    },
    kill: () => downAfter(server.kill()),
    stop: () => downAfter(server.stop()),
    signal: (signal) => {
      if (signal === 'SIGSTOP') availability.ended('redis');
      if (signal === 'SIGCONT') availability.began('redis');
      return server.signal(signal);
    },
  };
}

function observedWorker(app: AppProcess, availability: Availability): AppProcess {
  const name = `worker ${app.url}`;
  availability.began(name);
  app.child.once('exit', () => availability.ended(name));
  return {
    ...app,
    signal: (signal) => {
      if (signal === 'SIGSTOP') availability.ended(name);
      if (signal === 'SIGCONT' && isAlive(app)) availability.began(name);
      app.signal(signal);
    },
  };
}

interface StartOptions {
  readonly program?: string;
  readonly launcher?: readonly string[];
  readonly inherited?: Readonly<Record<number, number>>;
  readonly host?: string | undefined;
}

function startApp(
  name: 'gateway' | 'worker' | 'projector',
  port: number,
  env: Record<string, string>,
  { program: main = programOf(name), launcher = [], inherited = {}, host = '127.0.0.1' }: StartOptions = {},
): AppProcess {
  // Source maps are off, since they take a tenth of the start time.
  const [program, ...words] = [...launcher, process.execPath, main];
  const child = spawn(program, words, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...descriptorsAfter(3, inherited)],
  });
  let log = '';
  // Far more than a test waits for: a line that fell out would never be found.
  const remember = (chunk: Buffer) => (log = (log + String(chunk)).slice(-1_048_576));
  child.stdout?.on('data', remember);
  child.stderr?.on('data', remember);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return {
    name,
    url: `http://${host}:${port}`,
    child,
    log: () => log,
    signal: (signal) => void child.kill(signal),
    ended: () => ended,
  };
}

function descriptorsAfter(first: number, files: Readonly<Record<number, number>>): (number | 'ignore')[] {
  const last = Math.max(first - 1, ...Object.keys(files).map(Number));
  return Array.from({ length: last - first + 1 }, (_, index) => files[first + index] ?? 'ignore');
}

async function isReady(app: AppProcess): Promise<void> {
  let last = 'no answer';
  const asked = async () => {
    if (app.child.exitCode !== null) throw new Error(`${app.name} ended with ${app.child.exitCode}:\n${app.log()}`);
    const answer = await fetch(`${app.url}/readyz`).catch(() => undefined);
    last = answer === undefined ? 'no answer' : await answer.text();
    return answer?.ok === true;
  };
  await eventually(asked, `${app.name} at ${app.url} to be ready`).catch((cause: Error) => {
    throw new Error(`${cause.message}: ${last}\n${app.log()}`, { cause });
  });
}
