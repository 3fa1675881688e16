import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createRedis } from '#redis';
import { ToolError } from '#tool-sdk';
import { eventually } from '../../../../test/support/eventually.js';
import { stopReason, WorkerParts } from '../../../../test/support/worker-parts.js';
import { CancelListener } from './cancel-listener.js';
import { executeAttempt } from './execute-attempt.js';
import type { AttemptDependencies } from './attempt-dependencies.js';

describe('CancelListener', () => {
  let parts: WorkerParts;
  let worker: AttemptDependencies;
  let listener: CancelListener;
  let waiting = 0;
  const seen: { graceMs: number; reason: unknown }[] = [];

  beforeAll(async () => {
    parts = await WorkerParts.start();
    worker = parts.worker({ stopGraceMs: 3_000 });
    listener = new CancelListener(
      createRedis(parts.server.url, { role: 'subscriber', name: 'cancels' }),
      parts.store,
      worker.inFlight,
      3_000,
      pino({ level: 'silent' }),
    );
    await listener.start();
    parts.tool('wait', {
      run: (_args, ctx) =>
        new Promise((_resolve, reject) => {
          waiting += 1;
          ctx.signal.addEventListener('abort', () => {
            seen.push({ graceMs: ctx.graceMs, reason: ctx.signal.reason });
            reject(stopReason(ctx.signal));
          });
        }),
    });
    parts.tool('deaf', { run: () => new Promise(() => {}) });
  });
  afterAll(async () => {
    listener.close();
    await parts.close();
  });

  const started = (callId: string) => eventually(async () => (await parts.store.snapshot(callId))?.status === 'running', 'the call to run');

  it('aborts the tool with the reason and less than the caller’s grace [CC-43]', async () => {
    const callId = await parts.submit('wait');
    const running = executeAttempt({ callId, attempt: 1 }, 'read', worker);
    await eventually(() => waiting === 1, 'the tool to run');
    await parts.cancel(callId, 60_000);
    await running;
    expect(seen).toEqual([{ graceMs: expect.any(Number), reason: expect.any(ToolError) }]);
    expect(seen[0]?.graceMs).toBeLessThan(60_000);
    expect(seen[0]?.graceMs).toBeGreaterThan(30_000);
    expect((await parts.events(callId)).at(-1)).toMatchObject({
      type: 'call.end',
      data: { outcome: 'cancelled', error: { code: 'cancelled', message: 'Cancelled' }, stopped: { how: 'stopped' } },
    });
  });

  it('ends a call after the grace if its tool ignores the abort', async () => {
    const callId = await parts.submit('deaf');
    const running = executeAttempt({ callId, attempt: 1 }, 'read', worker);
    await started(callId);
    const cancelledAt = performance.now();
    await parts.cancel(callId, 300);
    await running;
    expect(performance.now() - cancelledAt).toBeLessThan(10_000);
    expect((await parts.events(callId)).at(-1)).toMatchObject({
      source: '/worker/w1',
      data: { outcome: 'cancelled', stopped: { how: 'unknown' } },
    });
  });

  it('notices a cancel that was sent during a lost connection', async () => {
    const callId = await parts.submit('wait');
    const running = executeAttempt({ callId, attempt: 1 }, 'read', worker);
    await started(callId);
    // Disconnects all subscribers; the cancel is published before they reconnect.
    await Promise.all([parts.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'), parts.cancel(callId, 5_000)]);
    await running;
    expect((await parts.events(callId)).at(-1)).toMatchObject({ data: { outcome: 'cancelled' } });
  });

  it('writes one End for any order of a cancel and a finish [EX-23]', async () => {
    parts.tool('quick', { run: () => new Promise((resolve) => setImmediate(() => resolve('done'))) });
    for (let n = 0; n < 50; n++) {
      const callId = await parts.submit('quick');
      const running = executeAttempt({ callId, attempt: 1 }, 'read', worker);
      await parts.cancel(callId, 1_000).catch(() => {});
      await running;
      expect((await parts.types(callId)).filter((type) => type === 'call.end')).toHaveLength(1);
      expect(['completed', 'cancelled']).toContain((await parts.store.read(callId))?.outcome);
    }
  });
});
