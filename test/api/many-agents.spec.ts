import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import type { Stream } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const AGENTS = 20;
const CALLS_EACH = 50;

/** The same choices in every run, different for every agent. */
function* choices(seed: number): Generator<number, never> {
  for (let state = seed * 2_654_435_761 + 1; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe('1,000 calls of 20 agents that repeat themselves', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await useTenant('many-agents');
  });
  afterAll(() => tenant.close());

  it('makes one call for each Idempotency-Key, with one End and the right result, by HTTP and WebSocket [DX-02, DX-04, EV-03]', async () => {
    const idOfKey = new Map<string, Set<string>>();
    const argumentsOfKey = new Map<string, unknown>();
    const remember = (key: string, id: string) => idOfKey.set(key, (idOfKey.get(key) ?? new Set()).add(id));

    const submitOverSocket = async (stream: Stream, frameId: string, key: string, args: unknown) => {
      stream.send({ op: 'submit', id: frameId, call: { tool: 'echo', arguments: args }, idempotencyKey: key });
      return (await stream.frame('accepted', frameId)).call.id;
    };
    const oneAgent = async (name: number) => {
      const agent = name % 2 === 0 ? tenant.agent : tenant.other;
      const stream = await agent.stream();
      const random = choices(name);
      for (let n = 0; n < CALLS_EACH; n++) {
        const key = `agent-${name}-call-${Math.floor(n * (0.5 + random.next().value / 2))}`;
        const args = { key, text: 'x'.repeat(key.length) };
        argumentsOfKey.set(key, args);
        const repeats = random.next().value < 0.3 ? 2 : 1;
        await Promise.all(
          Array.from({ length: repeats }, async (_unused, repeat) => {
            const overSocket = random.next().value < 0.5;
            remember(
              key,
              overSocket
                ? await submitOverSocket(stream, `${n}.${repeat}`, key, args)
                : (await agent.submit('echo', args, {}, { 'idempotency-key': key })).body.id,
            );
          }),
        );
      }
      stream.close();
    };
    await Promise.all(Array.from({ length: AGENTS }, (_unused, name) => oneAgent(name)));

    expect([...idOfKey.values()].filter((ids) => ids.size !== 1)).toEqual([]);
    const { agent: reader } = tenant;
    await Promise.all(
      [...idOfKey].map(async ([key, ids]) => {
        const call = await reader.ended([...ids][0] ?? '');
        expect(call).toMatchObject({ outcome: 'completed', attempt: 1, arguments: argumentsOfKey.get(key) as Call['arguments'] });
        expect(call.result?.structuredContent ?? call.result?.content).toEqual(expect.anything());
        expect(JSON.stringify(call.result)).toContain(key);
        expect((await reader.events(call.id)).filter((event) => event.type === 'call.end')).toHaveLength(1);
      }),
    );
  });

  it('refuses an Idempotency-Key with another body', async () => {
    const { agent } = tenant;
    await agent.submit('echo', { a: 1 }, {}, { 'idempotency-key': 'same' });
    expect(await agent.submit('echo', { a: 2 }, {}, { 'idempotency-key': 'same' })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });
});
