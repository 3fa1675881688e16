import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { stopReason, WorkerParts } from '../../../../test/support/worker-parts.js';
import { executeAttempt } from './execute-attempt.js';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { drainAttempts } from './drain-attempts.js';

describe('drainAttempts', () => {
  let parts: WorkerParts;
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  beforeAll(async () => {
    parts = await WorkerParts.start();
    const untilAborted: Parameters<WorkerParts['tool']>[1]['run'] = (_args, ctx) =>
      new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(stopReason(ctx.signal))));
    parts.tool('read', { run: untilAborted });
    parts.tool('write', { effect: 'once', run: untilAborted });
    parts.tool('writeShort', {
      effect: 'once',
      run: async (_args, ctx) => {
        await released;
        return `aborted: ${ctx.signal.aborted}`;
      },
    });
    parts.tool('deaf', { effect: 'once', run: () => new Promise(() => {}) });
  });
  afterAll(() => parts.close());

  /** Starts a call and resolves when its tool runs. */
  const begin = async (worker: AttemptDependencies, tool: string) => {
    const callId = await parts.submit(tool);
    const done = executeAttempt({ callId, attempt: 1 }, 'read', worker);
    await eventually(async () => (await parts.store.snapshot(callId))?.status === 'running', `${tool} to run`);
    return { callId, done };
  };

  it('hands back repeatable attempts on a drain without counting a failure, and lets the others finish [DX-09]', async () => {
    const worker = parts.worker();
    const [read, write] = [await begin(worker, 'read'), await begin(worker, 'writeShort')];
    const drained = drainAttempts(worker.inFlight, { drainMs: 60_000, stopGraceMs: 300 });
    await read.done;
    release();
    expect(await drained).toBe('idle');
    await write.done;
    expect(await parts.events(read.callId)).toMatchObject([
      {},
      {},
      { type: 'call.retry', data: { reason: 'worker_drained', nextAttempt: 2, delayMs: 0 } },
    ]);
    expect(await parts.store.snapshot(read.callId)).toMatchObject({ status: 'queued', failures: 0 });
    expect(await parts.store.read(write.callId)).toMatchObject({ outcome: 'completed', result: { content: [{ text: 'aborted: false' }] } });
  });

  it('ends an unrepeatable attempt as unknown if it does not end in time on a drain, also if it ignores the abort', async () => {
    const worker = parts.worker({ stopGraceMs: 200 });
    const [write, deaf] = [await begin(worker, 'write'), await begin(worker, 'deaf')];
    expect(await drainAttempts(worker.inFlight, { drainMs: 100, stopGraceMs: 200 })).toBe('idle');
    await Promise.all([write.done, deaf.done]);
    expect((await parts.events(write.callId)).at(-1)).toMatchObject({
      data: { outcome: 'unknown', error: { code: 'outcome_unknown' }, stopped: { how: 'stopped' } },
    });
    expect((await parts.events(deaf.callId)).at(-1)).toMatchObject({ data: { outcome: 'unknown', stopped: { how: 'unknown' } } });
  });

  it('hands back a call whose claim was granted during the drain, before its tool begins', async () => {
    const worker = parts.worker();
    worker.inFlight.requeueAll();
    const callId = await parts.submit('write');
    await executeAttempt({ callId, attempt: 1 }, 'read', worker);
    expect(await parts.types(callId)).toEqual(['call.submitted', 'call.start', 'call.retry']);
  });

  it('drains at once without running calls', async () => {
    const startedAt = performance.now();
    expect(await drainAttempts(parts.worker().inFlight, { drainMs: 10_000, stopGraceMs: 1_000 })).toBe('idle');
    expect(performance.now() - startedAt).toBeLessThan(9_000);
  });
});
