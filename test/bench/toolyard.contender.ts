import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { CallPoster } from './call-poster.js';
import type { Contender } from './load.js';
import { endProcess, type StartRedis } from './processes.js';

export const KEY = 'bench-key-of-the-default-tenant';
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const BODY = JSON.stringify({ tool: 'echo', arguments: { text: 'x'.repeat(100) } });
const READY_MS = 30_000;

export interface ToolyardUnderTest extends Contender {
  readonly gatewayUrl: string;
}

/**
 * The real gateway and worker processes, of the release that is built in `folder`. A call: POST /v1/calls, over when its End has
 * reached the client's WebSocket.
 */
export async function startToolyard(startRedis: StartRedis, folder = '.', gatewayEnv: NodeJS.ProcessEnv = {}): Promise<ToolyardUnderTest> {
  const redis = await startRedis();
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
  const gateway = startApp('gateway', { ...env, GATEWAY_PORT: new URL(gatewayUrl).port, ...gatewayEnv }, folder);
  const worker = startApp('worker', { ...env, WORKER_PORT: new URL(workerUrl).port, WORKER_CONCURRENCY: 'read=50' }, folder);
  await Promise.all([isReady(gateway, gatewayUrl), isReady(worker, workerUrl)]);

  const poster = new CallPoster(gatewayUrl, HEADERS, BODY, { connections: 32, pipelining: 4 });
  const ends = await subscribeToEnds(gatewayUrl);
  return {
    name: 'Toolyard',
    redisUrl: redis.url,
    gatewayUrl,
    processes: { redis: redis.pid ?? 0, gateway: gateway.pid ?? 0, worker: worker.pid ?? 0, client: process.pid },
    start: () => poster.post(),
    onDone: (listener) => {
      ends.listener = listener;
    },
    close: async () => {
      ends.socket.terminate();
      poster.close();
      await Promise.all([endProcess(gateway), endProcess(worker)]);
      await redis.stop();
      rmSync(workspaces, { recursive: true, force: true });
    },
  };
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

/** With the flags of `npm run gateway` and `npm run worker`. */
export function startApp(name: 'gateway' | 'worker', env: NodeJS.ProcessEnv, folder = '.'): ChildProcess {
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
