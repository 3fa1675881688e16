import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerFrame } from '#contracts';
import { Agent } from '../support/agent.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('a cancel fired at the instant a call finishes', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster();
  });
  afterAll(() => toolyard.close());

  it('ends each of 200 calls cancelled at their finish exactly once, as cancelled or completed [EX-23]', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const stream = await agent.stream();
    stream.send({ op: 'subscribe', id: 'all', filter: {} });
    await stream.frame('subscribed', 'all');
    // The last sign of life before the End: the Start of a call that ends at once, the only update of a command that ends with it.
    const cancelled = new Set<string>();
    stream.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(String(data)) as ServerFrame;
      const events = frame.op === 'event' ? [frame.event] : frame.op === 'events' ? frame.events : [];
      for (const event of events) {
        if (!('tool' in event)) continue;
        const { type, tool, subject } = event;
        if (!(type === 'call.update' || (type === 'call.start' && tool === 'echo')) || cancelled.has(subject)) continue;
        cancelled.add(subject);
        stream.send({ op: 'cancel', id: subject, callId: subject, reason: 'race' });
      }
    });

    const outcomes: (string | undefined)[] = [];
    for (let n = 0; n < 200; n += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_unused, k) => {
          const linger = `echo almost; sleep ${k === 9 ? 5 : k / 200}`;
          const { body } = await (k % 2 === 0 ? agent.submit('echo', { n }) : agent.submit('shell', { command: linger }));
          const call = await agent.ended(body.id);
          await stream.frame('ok', body.id);
          outcomes.push(call.outcome);
          expect((await agent.get(`/v1/calls/${body.id}`)).body).toEqual(call);
          expect((await agent.events(body.id)).filter((event) => event.type === 'call.end')).toHaveLength(1);
        }),
      );
    }
    expect(cancelled.size).toBe(200);
    expect(new Set(outcomes)).toEqual(new Set(['cancelled', 'completed']));
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
    stream.close();
  });
});
