import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { BatchPoster } from './batch-poster.js';
import { CallPoster } from './call-poster.js';
import { mapValues } from './figures.js';
import type { Contender } from './load.js';
import { startPostgres } from './postgres.js';
import { endProcess, type StartRedis } from './processes.js';

export const KEY = 'bench-key-of-the-default-tenant';
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const CALL = { tool: 'echo', arguments: { text: 'x'.repeat(100) } };
const READY_MS = 30_000;

export interface ToolyardUnderTest extends Contender {
  readonly gatewayUrl: string;
  /** The same processes, asked by 100 calls a request. Closed with this one. */
  readonly batches: Contender;
  /** Calls so far. */
  submitted(): number;
}

/**
 * The real processes of the release that is built in `folder`, projector and sealer apart. A call: POST /v1/calls, over when its End has
 * reached the client's WebSocket.
 */
export async function startToolyard(startRedis: StartRedis, folder = '.', gatewayEnv: NodeJS.ProcessEnv = {}): Promise<ToolyardUnderTest> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  const workspaces = mkdtempSync(join(tmpdir(), 'toolyard-bench-'));
  const env = {
    ...process.env,
    REDIS_URL: redis.url,
    TOOLYARD_API_KEY: KEY,
    WORKSPACE_ROOT: workspaces,
    LOG_LEVEL: 'warn',
    NODE_ENV: 'production',
    DEFAULT_AUTONOMY: 'full',
    DEFAULT_PERMISSION_MODE: 'danger-full-access',
  };
  const gatewayUrl = `http://127.0.0.1:${await freePort()}`;
  const workerUrl = `http://127.0.0.1:${await freePort()}`;
  const gateway = startApp(
    'gateway',
    { ...env, DATABASE_URL: postgres.url, GATEWAY_PORT: new URL(gatewayUrl).port, ...gatewayEnv },
    folder,
  );
  const worker = startApp('worker', { ...env, WORKER_PORT: new URL(workerUrl).port, WORKER_CONCURRENCY: 'read=50' }, folder);
  const { projector, sealer } = await startHistory(env, postgres.url, folder);
  await Promise.all([isReady(gateway, gatewayUrl), isReady(worker, workerUrl)]);

  const poster = new CallPoster(gatewayUrl, HEADERS, JSON.stringify(CALL), { connections: 32, pipelining: 4 });
  const batchPoster = new BatchPoster(gatewayUrl, HEADERS, CALL);
  const ends = await subscribeToEnds(gatewayUrl);
  let submitted = 0;
  const pids = { redis, postgres, gateway, worker, projector, sealer, client: process };
  const shared = {
    redisUrl: redis.url,
    processes: mapValues(pids, ({ pid }) => pid ?? 0),
    onDone: (listener: (ids: readonly string[]) => void) => {
      ends.listener = listener;
    },
  };
  const counted = (post: () => Promise<string>) => () => {
    submitted++;
    return post();
  };
  return {
    ...shared,
    name: 'Toolyard',
    gatewayUrl,
    start: counted(() => poster.post()),
    batches: {
      ...shared,
      name: 'Toolyard, batches',
      loads: ['flood'],
      start: counted(() => batchPoster.post()),
      close: () => batchPoster.close(),
    },
    submitted: () => submitted,
    close: async () => {
      ends.socket.terminate();
      poster.close();
      await batchPoster.close();
      await Promise.all([gateway, worker, projector, sealer].map(endProcess));
      await Promise.all([redis.stop(), postgres.stop()]);
      rmSync(workspaces, { recursive: true, force: true });
    },
  };
}

/** Rows by one process and sealing by another, so that each shows what it costs. */
async function startHistory(env: NodeJS.ProcessEnv, databaseUrl: string, folder: string) {
  const archive = `file://${join(env['WORKSPACE_ROOT'] ?? '', '.archive')}`;
  const [rowsPort, sealerPort] = await Promise.all([freePort(), freePort()]);
  const projector = startApp('projector', { ...env, DATABASE_URL: databaseUrl, PROJECTOR_PORT: String(rowsPort) }, folder);
  const sealer = startApp('projector', { ...env, ARCHIVE_URL: archive, PROJECTOR_PORT: String(sealerPort) }, folder);
  await Promise.all([isReady(projector, `http://127.0.0.1:${rowsPort}`), isReady(sealer, `http://127.0.0.1:${sealerPort}`)]);
  return { projector, sealer };
}

async function subscribeToEnds(gatewayUrl: string): Promise<{ socket: WebSocket; listener: (ids: readonly string[]) => void }> {
  const socket = openSocket(gatewayUrl);
  const ends: { socket: WebSocket; listener: (ids: readonly string[]) => void } = { socket, listener: () => {} };
  await once(socket, 'open');
  socket.send(JSON.stringify({ op: 'subscribe', id: 1, filter: { types: ['call.end'] }, batch: true }));
  await new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.includes('"op":"subscribed"')) resolve();
      else ends.listener(subjectsIn(text));
    });
  });
  return ends;
}

const SUBJECT = '"subject":"';

/** Cheaper than JSON.parse: the load must cost the machine little. */
function subjectsIn(text: string): string[] {
  const ids: string[] = [];
  for (let at = text.indexOf(SUBJECT); at >= 0; at = text.indexOf(SUBJECT, at)) {
    const start = at + SUBJECT.length;
    at = text.indexOf('"', start);
    ids.push(text.slice(start, at));
  }
  return ids;
}

export function openSocket(gatewayUrl: string): WebSocket {
  return new WebSocket(`${gatewayUrl.replace(/^http/, 'ws')}/v1/stream`, { headers: { authorization: HEADERS.authorization } });
}

/** Starts an app with the flags of `npm run gateway`, `npm run worker` and `npm run projector`. */
export function startApp(name: 'gateway' | 'worker' | 'projector' | 'standalone', env: NodeJS.ProcessEnv, folder = '.'): ChildProcess {
  return spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=32', `dist/apps/${name}/src/main.js`], {
    cwd: folder,
    env: { KEY_RATE_PER_MINUTE: '1000000000', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export async function isReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.at(-1)} ended with ${child.exitCode}.`);
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    if (performance.now() > deadline) throw new Error(`${url} was not ready within ${READY_MS} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('No loopback port is free.');
  return address.port;
}
