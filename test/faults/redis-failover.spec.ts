import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { Agent, type Answer, type Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startReplicatedRedis, type ReplicatedRedis } from '../support/replicated-redis.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('Sentinel makes another Redis the master under load, with DURABILITY=replicated', () => {
  let redis: ReplicatedRedis;
  let toolyard: TestCluster;
  beforeAll(async () => {
    redis = await startReplicatedRedis({ replicas: 2 });
    toolyard = await startTestCluster({
      gateways: 2,
      workers: 2,
      env: { REDIS_URL: redis.url, DURABILITY: 'replicated', LEASE_MS: '5000' },
    });
  });
  afterAll(async () => {
    await toolyard?.close();
    await redis?.stop();
  });

  // The second finds the one replica that the first left, so that no other one can confirm what the new master lacks.
  it.each([
    ['killed', async () => (await redis.master()).kill()],
    ['relieved', () => redis.failover()],
  ])('ends every call with a 202 once, under its idempotency key, when the master is %s, and sockets hear of it', async (how, failOver) => {
    const agents = toolyard.gateways.map(({ url }) => new Agent(url));
    const agentOf = (name: number) => agents[name % agents.length] ?? new Agent('');
    const listeners = await Promise.all(agents.map((agent) => listen(agent)));
    const accepted = new Map<string, string>();
    const statuses = new Set<number>();
    let submitting = true;
    const submit = (name: number, n: number) => agentOf(name).submit('echo', { name, n }, {}, { 'idempotency-key': `${how}-${name}-${n}` });
    const load = Array.from({ length: 8 }, async (_unused, name) => {
      for (let n = 0; submitting; n++) {
        const { status, body } = await submit(name, n);
        statuses.add(status);
        if (status === 202) accepted.set(`${name}-${n}`, body.id);
      }
    });
    await eventually(() => accepted.size > 100, 'a first load of calls');
    const old = await redis.master();
    await failOver();
    await redis.promoted(old);
    const before = accepted.size;
    await eventually(() => accepted.size > before + 100, 'calls to be accepted again');
    submitting = false;
    await Promise.all(load);

    expect([...statuses].filter((status) => status !== 202 && status !== 503)).toEqual([]);
    // Each connection of a gateway finds the new master in its own time; until all have, an answer may be a 503.
    const answered = (ask: () => Promise<Answer<Call>>, what: string, fits = (_call: Call) => true) =>
      eventually(async () => {
        const { status, body } = await ask();
        return status !== 503 && fits(body) ? body : undefined;
      }, what);
    for (const id of accepted.values()) {
      const read = () => agentOf(0).get(`/v1/calls/${id}?wait=10`);
      expect(await answered(read, `call ${id} to end`, ({ status }) => status === 'ended')).toMatchObject({ outcome: 'completed' });
    }
    for (const [key, id] of [...accepted].slice(-20)) {
      const [name = 0, n = 0] = key.split('-').map(Number);
      expect((await answered(() => submit(name, n), 'the answer to a repetition')).id).toBe(id);
    }
    for (const listener of listeners)
      await eventually(() => [...accepted.values()].every((id) => knowsEnd(listener, id)), 'a socket to hear of all ends');
    for (const listener of listeners) listener.close();
    expect(await findInvariantViolations(redis.url)).toEqual([]);
  });
});

async function listen(agent: Agent): Promise<Stream> {
  const stream = await agent.stream();
  stream.send({ op: 'subscribe', id: 'ends', filter: { types: ['call.end'] } });
  await stream.frame('subscribed', 'ends');
  return stream;
}

/** True if the End was received, by its event, or by the state of the call in a resync if the new master lacks delivered events. */
function knowsEnd(listener: Stream, id: string): boolean {
  return listener.frames.some(({ frame }) => {
    if (frame.op === 'event') return frame.event.subject === id;
    if (frame.op === 'events') return frame.events.some(({ subject }) => subject === id);
    return frame.op === 'resync' && frame.snapshot.some((call) => call.id === id && call.status === 'ended');
  });
}
