import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallHandler, StartConsumer } from '#queue';
import { ToolError } from '#tool-sdk';
import { eventually } from '../../../../test/support/eventually.js';
import { WorkerParts } from '../../../../test/support/worker-parts.js';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { ToolCallProcessor } from './tool-call.processor.js';

describe('the processor of jobs', () => {
  let parts: WorkerParts;
  beforeAll(async () => {
    parts = await WorkerParts.start();
    parts.tool('echo', { run: () => 'done' });
  });
  afterAll(() => parts.close());

  const processorOf = (deps: AttemptDependencies) => {
    let handler: CallHandler = async () => {};
    const start: StartConsumer = (_pool, _slots, given) => {
      handler = given;
      return { running: 0, setConcurrency: () => {}, close: async () => {} };
    };
    const dispatched: unknown[] = [];
    const queue = {
      dispatch: async (_pool: unknown, job: unknown, priority: unknown, tenantId: unknown) =>
        void dispatched.push([job, priority, tenantId]),
    };
    const processor = new ToolCallProcessor([{ pool: 'read', slots: 1 }], start, queue, parts.store, deps);
    processor.start();
    return { processor, dispatched, handle: (...given: Parameters<CallHandler>) => handler(...given) };
  };

  it('drops the job when the End is sent, and counts the call as running until the answer', async () => {
    const deps = parts.worker();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const end: AttemptDependencies['log']['end'] = async (input, sent) => {
      const written = await parts.log.end(input, sent);
      await answered;
      return written;
    };
    const log = Object.assign(Object.create(parts.log), { end });
    const { handle } = processorOf({ ...deps, log });
    const callId = await parts.submit('echo');
    await handle({ callId, attempt: 1 });
    expect(deps.inFlight.size).toBe(1);
    answer();
    await deps.inFlight.idle();
    expect(await parts.store.read(callId)).toMatchObject({ outcome: 'completed' });
  });

  it('runs already claimed calls while the processor stops, and hands back the others', async () => {
    const { processor, dispatched, handle } = processorOf(parts.worker());
    const [claimed, fresh] = [await parts.submit('echo'), await parts.submit('echo', {}, { priority: 'high' })];
    const closing = processor.close();
    await Promise.all([handle({ callId: claimed, attempt: 1 }, { kind: 'lost' }), handle({ callId: fresh, attempt: 1 })]);
    await closing;
    await processor.close();
    expect(dispatched).toEqual([[{ callId: fresh, attempt: 1 }, 'high', 'test']]);
    expect((await parts.store.snapshot(fresh))?.status).toBe('queued');
    expect(await parts.types(claimed)).toEqual(['call.submitted', 'call.start', 'call.end']);
  });

  it('dispatches an early job again when it is due, with the priority and tenant of its call', async () => {
    parts.tool('flaky', { retry: { maxAttempts: 2, backoffMs: 50 }, run: () => Promise.reject(new ToolError('unavailable', 'not now')) });
    const { dispatched, handle } = processorOf({ ...parts.worker(), random: () => 1 });
    const callId = await parts.submit('flaky', {}, { priority: 'low', retry: { maxAttempts: 2, backoffMs: 3_000, maxBackoffMs: 3_000 } });
    await handle({ callId, attempt: 1 });
    await handle({ callId, attempt: 2 });
    await eventually(() => dispatched.length === 2, 'the retry, and the job that came too early');
    expect(dispatched).toEqual([
      [{ callId, attempt: 2 }, 'low', 'test'],
      [{ callId, attempt: 2 }, 'low', 'test'],
    ]);
  });
});
