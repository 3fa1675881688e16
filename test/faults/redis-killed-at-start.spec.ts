import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { programOf } from '../support/app-program.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { withoutWaitingLines } from '../support/waiting-lines.js';

/** Command that a process sends when a step of its start begins. */
const greeting = (name: string) => new RegExp(`setname\r\n\\$\\d+\r\n${name}\r\n`, 'i');
const GATEWAY: readonly (readonly [step: string, sends: RegExp])[] = [
  ['the first connection', greeting('gateway-start')],
  ['the check of the version', /\r\nconfig\r\n\$3\r\nGET\r\n/i],
  ['the check of the log', /\r\nset\r\n/i],
  ['the connection that fails fast', greeting('gateway-prompt')],
  ['the subscription', /\r\nsubscribe\r\n/i],
  ['the first read of the log', /\r\nxrevrange\r\n/i],
];
const WORKER: typeof GATEWAY = [
  ['the first connection', greeting('worker-start')],
  ['the check of the log', /\r\nset\r\n/i],
  ['the subscription', /\r\nsubscribe\r\n/i],
  ['the first heartbeat', /\r\ndel\r\n\$\d+\r\n[^\r]*worker/i],
];

const STEPS = Object.entries({ gateway: GATEWAY, worker: WORKER }).flatMap(([app, steps]) =>
  steps.map(([step, sends]) => ({ app: app as 'gateway' | 'worker', step: `${app}: ${step}`, sends })),
);

/** A start whose Redis is away from the moment when the process sends something. */
interface Start {
  readonly step: string;
  readonly url: string;
  said: string;
  readonly exitCode: () => number | null;
  readonly ended: Promise<unknown[]>;
  /** Resolves when Redis is away, or the process has ended before. */
  readonly wentAway: Promise<unknown>;
  readonly bringBack: () => Promise<void>;
}

describe('a gateway or worker whose Redis is killed while it starts', () => {
  let redis: RedisServer;
  const proxies: FaultyProxy[] = [];
  const children: ChildProcess[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-start-'));
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async ({ app, step, sends }: (typeof STEPS)[number], timeoutMs: number): Promise<Start> => {
    const proxy = await FaultyProxy.start(redis.url);
    proxies.push(proxy);
    let isAway = false;
    proxy.toServer = (piece) => {
      if (!isAway && !sends.test(piece.toString('latin1'))) return piece;
      if (!isAway) proxy.away();
      isAway = true;
      return undefined;
    };
    const port = await freePort();
    const env = {
      PATH: process.env['PATH'],
      REDIS_URL: proxy.url.replace('http:', 'redis:'),
      START_TIMEOUT_MS: String(timeoutMs),
      GATEWAY_PORT: String(port),
      WORKER_PORT: String(port),
      WORKER_POOLS: 'read',
      WORKSPACE_ROOT: folder,
      TOOLYARD_API_KEY: 'a-key-for-a-process-that-cannot-start',
      LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, [programOf(app)], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    children.push(child);
    const started: Start = {
      step,
      url: `http://127.0.0.1:${port}`,
      said: '',
      exitCode: () => child.exitCode,
      ended: once(child, 'exit'),
      wentAway: eventually(() => isAway || child.exitCode !== null, `${step} to begin`),
      bringBack: async () => {
        proxy.toServer = (piece) => piece;
        await proxy.back();
      },
    };
    child.stderr.on('data', (data: Buffer) => (started.said += String(data)));
    return started;
  };

  it('exits with 1 and one sentence if Redis is killed at any step of the start of a gateway or worker and stays away', async () => {
    const starts = await Promise.all(STEPS.map((at) => start(at, 30_000)));
    const ends = await Promise.all(starts.map(async ({ step, wentAway, ended }) => ({ step, away: await wentAway, ended: await ended })));
    expect(ends).toEqual(STEPS.map(({ step }) => ({ step, away: true, ended: [1, null] })));
    // On a slow machine other steps take longer than two seconds, too, and each says so.
    const sentence =
      /^(Redis does not answer .*; waiting for it up to 30 s\.\n)*(The (gateway|worker) cannot start: |Redis did not answer )[^\n]*\. [^\n]*REDIS_URL[^\n]*\.\n$/;
    expect(starts.filter(({ said }) => !sentence.test(said)).map(({ step, said }) => [step, said])).toEqual([]);
  });

  it('continues the start of a gateway or worker when Redis is killed at any step and comes back', async () => {
    const starts = await Promise.all(STEPS.map((at) => start(at, 60_000)));
    const isReady = async ({ url }: Start) => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;
    const results = await Promise.all(
      starts.map(async (started) => {
        const away = await started.wentAway;
        await started.bringBack();
        await eventually(async () => started.exitCode() !== null || isReady(started), `${started.step} to pass`);
        return { step: started.step, away, exitCode: started.exitCode(), said: withoutWaitingLines(started.said) };
      }),
    );
    expect(results).toEqual(STEPS.map(({ step }) => ({ step, away: true, exitCode: null, said: '' })));
  });
});
