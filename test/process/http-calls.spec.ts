import { setInterval } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startTestGateway } from '../support/gateway.js';
import { startRedisServer } from '../support/redis-server.mjs';

/** All else of calls over HTTP is in test/api/http-calls.spec.ts. */
describe('calls over HTTP, cancelled,', () => {
  it('ends a queued call at once when it is cancelled, leaves no job in a queue, and ignores a second cancel [CC-37, EX-26]', async () => {
    // Separate Redis: the queues of the shared one contain jobs of other test files too.
    const server = await startRedisServer();
    const alone = await startTestGateway('cancelled-in-queue', { redisUrl: server.url });
    try {
      const waiting = async () =>
        (await alone.agent.get<{ queues: { waiting: number }[] }>('/v1/queues')).body.queues.reduce((sum, pool) => sum + pool.waiting, 0);
      const { body } = await alone.agent.submit('echo', {});
      await eventually(async () => (await waiting()) === 1, 'the call to wait');
      const cancel = () => alone.agent.request('POST', `/v1/calls/${body.id}/cancel`, { reason: 'no longer needed' });
      expect(await cancel()).toMatchObject({
        status: 202,
        body: { status: 'ended', outcome: 'cancelled', result: { content: [{ text: 'Cancelled' }] } },
      });
      await eventually(async () => (await waiting()) === 0, 'the job to be withdrawn');
      expect((await cancel()).status).toBe(202);
      expect((await alone.agent.events(body.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.end']);
    } finally {
      await alone.close();
      await server.stop();
    }
  });

  it('cancels a call even while updates change its version all the time', async () => {
    const gateway = await startTestGateway('e2e-http-calls');
    const { agent } = gateway;
    const { body } = await agent.submit('echo', {});
    const running = await gateway.claim(body.id);
    let cancelled = false;
    const updates = (async () => {
      // Fifty times what a worker sends at most.
      for await (const _tick of setInterval(5)) {
        if (cancelled) return;
        await running.update('tick');
      }
    })();
    expect((await agent.request('POST', `/v1/calls/${body.id}/cancel`)).status).toBe(202);
    cancelled = true;
    await updates;
    expect((await agent.events(body.id)).filter(({ type }) => type === 'call.cancel_requested')).toHaveLength(1);
    await gateway.close();
  });
});
