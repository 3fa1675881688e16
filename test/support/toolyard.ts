import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startRedisServer, type RedisServer } from './redis-server.mjs';
import { eventually } from './eventually.js';

export const TEST_KEY = 'test-key-of-the-default-tenant';

/** Nobody is asked; what is asked and denied is the subject of tests that say so. An empty text is what a gateway has by itself. */
export const OPEN_POSTURE = { DEFAULT_AUTONOMY: 'full', DEFAULT_PERMISSION_MODE: 'danger-full-access' };

/** One app of Toolyard as a real process of its own. */
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
export interface Toolyard {
  readonly redis: RedisServer;
  readonly workspaceRoot: string;
  readonly gateways: AppProcess[];
  readonly workers: AppProcess[];
  gateway(env?: Record<string, string>): Promise<AppProcess>;
  worker(env?: Record<string, string>): Promise<AppProcess>;
  /** Ends everything, politely first; resolves when no process is left. */
  close(): Promise<void>;
}

export interface ToolyardOptions {
  readonly gateways?: number;
  readonly workers?: number;
  /** For every app. */
  readonly env?: Record<string, string>;
  readonly gatewayEnv?: Record<string, string>;
  readonly redisSettings?: readonly string[];
}

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];

export async function startToolyard({
  gateways = 1,
  workers = 1,
  env = {},
  gatewayEnv = {},
  redisSettings = DURABLE,
}: ToolyardOptions = {}): Promise<Toolyard> {
  const redis = await startRedisServer({ settings: redisSettings });
  const workspaceRoot = mkdtempSync(join(tmpdir(), 'toolyard-workspaces-'));
  const shared = {
    REDIS_URL: redis.url,
    TOOLYARD_API_KEY: TEST_KEY,
    WORKSPACE_ROOT: workspaceRoot,
    LOG_LEVEL: 'warn',
    ...OPEN_POSTURE,
    ...env,
  };

  const toolyard: Toolyard = {
    redis,
    workspaceRoot,
    gateways: [],
    workers: [],
    gateway: async (more = {}) => {
      const port = Number(more['GATEWAY_PORT'] ?? (await freePort()));
      const app = startApp('gateway', port, { ...shared, GATEWAY_PORT: String(port), ...gatewayEnv, ...more });
      toolyard.gateways.push(app);
      await isReady(app);
      return app;
    },
    worker: async (more = {}) => {
      const port = await freePort();
      const app = startApp('worker', port, { ...shared, WORKER_PORT: String(port), ...more });
      toolyard.workers.push(app);
      await isReady(app);
      return app;
    },
    close: async () => {
      const apps = [...toolyard.gateways, ...toolyard.workers];
      for (const app of apps) {
        app.signal('SIGCONT');
        app.signal('SIGTERM');
      }
      const patience = setTimeout(() => apps.forEach((app) => app.signal('SIGKILL')), 5000);
      await Promise.all(apps.map((app) => app.ended()));
      clearTimeout(patience);
      await redis.stop();
      rmSync(workspaceRoot, { recursive: true, force: true });
    },
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

function startApp(name: 'gateway' | 'worker', port: number, env: Record<string, string>): AppProcess {
  const child = spawn(process.execPath, ['--enable-source-maps', `dist/apps/${name}/src/main.js`], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const remember = (chunk: Buffer) => (log = (log + String(chunk)).slice(-16_384));
  child.stdout.on('data', remember);
  child.stderr.on('data', remember);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    child,
    log: () => log,
    signal: (signal) => void child.kill(signal),
    ended: () => ended,
  };
}

async function isReady(app: AppProcess): Promise<void> {
  await eventually(
    async () => {
      if (app.child.exitCode !== null) throw new Error(`${app.name} ended with ${app.child.exitCode}:\n${app.log()}`);
      const answer = await fetch(`${app.url}/readyz`).catch(() => undefined);
      return answer?.ok === true;
    },
    `${app.name} at ${app.url} to be ready`,
    60_000,
  );
}
