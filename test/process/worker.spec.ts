import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { z } from 'zod';
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { POOLS, WorkerStatus, type SubmittedData } from '#contracts';
import { CallStore, EventLog } from '#event-log';
import { BullCallQueue } from '#queue';
import { createRedis, keys, type RedisConnection } from '#redis';
import { programOf } from '../support/app-program.js';
import { connected } from '../support/connected.js';
import { eventually } from '../support/eventually.js';
import { aSubmission } from '../support/sample-calls.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';
import { withoutWaitingLines } from '../support/waiting-lines.js';

const WORKER = [programOf('worker')];
const AUTHOR = { source: '/gateway/test', actor: 'apikey:test' };

describe('a worker process', () => {
  let toolyard: TestCluster;
  let redis: RedisConnection;
  let log: EventLog;
  let store: CallStore;
  let queue: BullCallQueue;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, workers: 0 });
    redis = createRedis(toolyard.redis.url);
    log = await EventLog.open(redis, { partitions: 16 });
    store = new CallStore(redis);
    queue = await connected(new BullCallQueue({ redisUrl: toolyard.redis.url }));
  });
  afterAll(async () => {
    await queue.close();
    await log.close();
    redis.disconnect();
    await toolyard.close();
  });

  const accept = async (tool: string, args: SubmittedData['arguments'], more: Partial<SubmittedData> = {}) => {
    const callId = log.newCallId('default');
    const submitted = aSubmission({ tool, arguments: args, retry: { maxAttempts: 3, backoffMs: 0, maxBackoffMs: 0 }, ...more });
    await log.accept({ callId, meta: { tenantId: 'default', tool }, submitted, author: AUTHOR });
    return callId;
  };
  const submit = async (...args: Parameters<typeof accept>) => {
    const callId = await accept(...args);
    await queue.dispatch(args[2]?.pool ?? 'read', { callId, attempt: 1 }, 'normal');
    return callId;
  };
  const shell = (command: string, more: Partial<SubmittedData> = {}) =>
    submit(
      'shell',
      { command },
      { tier: 'privileged', effect: 'once', pool: 'shell', retry: { maxAttempts: 1, backoffMs: 0, maxBackoffMs: 0 }, ...more },
    );
  const ended = async (callId: string) => {
    await eventually(async () => (await store.snapshot(callId))?.status === 'ended', `${callId} to end`);
    return store.read(callId);
  };
  const running = (callId: string) => eventually(async () => (await store.snapshot(callId))?.status === 'running', `${callId} to run`);
  const statusOf = async (worker: AppProcess) =>
    fetch(`${worker.url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  const registered = async () =>
    Promise.all(
      (await redis.zrangebyscore(keys.workers(), '-inf', '+inf')).map(async (id) =>
        WorkerStatus.parse(JSON.parse((await redis.get(keys.worker(id))) ?? '')),
      ),
    );

  it('runs calls in a worker that reports its identity and state, and exits at SIGTERM without leftovers [EX-22]', async () => {
    const worker = await toolyard.worker({ WORKER_ID: 'w-one', WORKER_POOLS: 'read,shell', WORKER_CONCURRENCY: 'shell=2' });
    expect(await (await fetch(`${worker.url}/livez`)).json()).toEqual({ status: 'ok' });
    const call = await ended(await submit('echo', { n: 1 }));
    expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'json', json: { n: 1 } }] } });

    const slow = await shell('until [ -e go ]; do sleep 0.05; done; echo gone');
    await running(slow);
    const seen = await eventually(
      async () => (await registered()).find(({ calls }) => calls.includes(slow)),
      'the call on the list of workers',
    );
    const { sandbox } = z.object({ sandbox: WorkerStatus.shape.sandbox }).parse(await (await fetch(`${worker.url}/readyz`)).json());
    expect(Object.keys(sandbox ?? {}).sort()).toEqual(['read', 'shell']);
    expect(sandbox?.shell?.ok).toBe(true);
    expect(seen.sandbox).toEqual(sandbox);
    expect(seen).toMatchObject({
      id: 'w-one',
      draining: false,
      pools: [
        { pool: 'read', slots: 64, running: 0 },
        { pool: 'shell', slots: 2, running: 1 },
      ],
    });
    expect(await (await fetch(`${worker.url}/metrics`)).text()).toContain('toolyard_worker_slots_busy{pool="shell"} 1');

    worker.signal('SIGTERM');
    await eventually(async () => (await statusOf(worker)) === 503, 'readiness to go off');
    await eventually(async () => (await registered()).some(({ id, draining }) => id === 'w-one' && draining), 'the list to show it');
    writeFileSync(join(toolyard.workspaceRoot, 'default', 'default', 'go'), '');
    expect(await worker.ended()).toEqual({ code: 0, signal: null });
    expect(await ended(slow)).toMatchObject({ outcome: 'completed', attempt: 1, result: { content: [{ type: 'text', text: 'gone\n' }] } });
    expect(await registered()).toEqual([]);
    expect(withoutWaitingLines(worker.log())).toBe('');
  });

  it('hands a repeatable call to the next worker, and starts no unclaimed one', async () => {
    const first = await toolyard.worker({ WORKER_CONCURRENCY: 'shell=1', WORKER_POOLS: 'shell' });
    const repeatable = await shell('until [ -e again ]; do sleep 0.05; done; echo done', {
      effect: 'idempotent',
      retry: { maxAttempts: 1, backoffMs: 0, maxBackoffMs: 0 },
    });
    await running(repeatable);
    const waiting = await shell('echo waited');
    first.signal('SIGTERM');
    expect(await first.ended()).toEqual({ code: 0, signal: null });
    expect(await store.snapshot(repeatable)).toMatchObject({ status: 'queued', failures: 0, attempt: 1 });
    expect(await store.snapshot(waiting)).toMatchObject({ status: 'queued', attempt: 0 });

    writeFileSync(join(toolyard.workspaceRoot, 'default', 'default', 'again'), '');
    await toolyard.worker({ WORKER_POOLS: 'shell' });
    expect(await ended(repeatable)).toMatchObject({ outcome: 'completed', attempt: 2 });
    expect(await ended(waiting)).toMatchObject({ outcome: 'completed', attempt: 1 });
  });

  it('exits a worker at once at the second signal', async () => {
    const worker = await toolyard.worker({ WORKER_POOLS: 'net' });
    const callId = await shell('sleep 20', { pool: 'net' });
    await running(callId);
    worker.signal('SIGTERM');
    await eventually(async () => (await statusOf(worker)) === 503, 'the drain to begin');
    worker.signal('SIGINT');
    expect(await worker.ended()).toEqual({ code: 130, signal: null });
  });

  it('shows five queues with their workers to tools for BullMQ', async () => {
    const worker = await toolyard.worker({ WORKER_ID: 'worker-one' });
    const queues = POOLS.map(
      (pool) => new Queue(keys.queueName(pool), { prefix: keys.queuePrefix(pool), connection: { url: toolyard.redis.url } }),
    );
    expect(new Set(queues.map(({ name }) => name)).size).toBe(5);
    for (const each of queues) {
      expect(await each.getJobCounts()).toMatchObject({ failed: 0, prioritized: 0 });
      const shown = await eventually(
        async () => (await each.getWorkers()).find(({ rawname }) => rawname?.endsWith(':w:worker-one')),
        `the worker of ${each.name}`,
      );
      expect(shown['name']).toBe(each.name);
      await each.close();
    }
    worker.signal('SIGTERM');
    await worker.ended();
  });

  it('renews leases while the thread that runs tools computes', async () => {
    const callId = await accept('echo', {});
    const { stdout } = await promisify(execFile)(process.execPath, ['test/process/worker-blocked.fixture.mjs', toolyard.redis.url, callId]);
    const { heard, leftMs, leaseMs } = JSON.parse(stdout);
    expect(heard).toEqual([]);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(leaseMs);
  });

  it('reports all faults in the environment of a worker in one message, and the fix for a used port', async () => {
    const run = (env: Record<string, string>) =>
      new Promise<{ code: number | null; text: string }>((resolve) => {
        const child = spawn(process.execPath, WORKER, {
          env: { PATH: process.env['PATH'] ?? '', REDIS_URL: toolyard.redis.url, ...env },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let text = '';
        child.stderr.on('data', (chunk: Buffer) => (text += String(chunk)));
        child.once('close', (code) => resolve({ code, text: withoutWaitingLines(text) }));
      });
    expect(await run({ WORKER_POOLS: 'reed', LEASE_MS: 'soon' })).toEqual({
      code: 1,
      text: expect.stringMatching(/WORKER_POOLS: .*\n.*LEASE_MS: /),
    });
    const taken = String(toolyard.redis.port);
    expect(await run({ WORKER_PORT: taken })).toEqual({
      code: 1,
      text: expect.stringMatching(/^The worker cannot listen: the port is in use\..*\n$/),
    });
    expect(await run({ PARTITIONS: '7', WORKER_PORT: '0' })).toEqual({
      code: 1,
      text: expect.stringMatching(/^This Redis holds an event log of 16 partitions.*\n$/),
    });
  });
});
