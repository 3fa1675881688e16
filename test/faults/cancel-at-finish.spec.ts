import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { violationsOf } from '../support/installation-log.js';
import { startToolyard, type Toolyard } from '../support/toolyard.js';

describe('a cancel fired at the instant a call finishes', () => {
  let toolyard: Toolyard;
  beforeAll(async () => {
    toolyard = await startToolyard();
  });
  afterAll(() => toolyard.close());

  it('ends each of 200 calls exactly once, as cancelled or as completed', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const stream = await agent.stream();
    stream.send({ op: 'subscribe', id: 'all', filter: {} });
    await stream.frame('subscribed', 'all');

    for (let n = 0; n < 200; n += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_unused, k) => {
          const { body } = await agent.submit(k % 2 === 0 ? 'echo' : 'shell', k % 2 === 0 ? { n } : { command: 'true' });
          const cancel = await agent.request('POST', `/v1/calls/${body.id}/cancel`, { reason: 'race' });
          expect(cancel.status).toBe(202);
          const call = await agent.ended(body.id);
          expect(['cancelled', 'completed']).toContain(call.outcome);
          expect((await agent.events(body.id)).filter((event) => event.type === 'call.end')).toHaveLength(1);
        }),
      );
    }
    const outcomes = new Set(stream.events('all').flatMap(({ event }) => (event.type === 'call.end' ? [event.data.outcome] : [])));
    expect(outcomes.has('cancelled')).toBe(true);
    expect(await violationsOf(toolyard.redis.url)).toEqual([]);
    stream.close();
  }, 90_000);
});
