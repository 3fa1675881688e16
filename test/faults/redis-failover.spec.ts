import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, ServerFrame } from '#contracts';
import { ToolyardClient } from '#client';
import { createRedis } from '#redis';
import { Agent, type Answer, type Stream } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startReplicatedRedis, type ReplicatedRedis } from '../support/replicated-redis.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Failovers after which a master that was started again at once competes with its successor. */
const RESTARTS = Number(process.env['FAILOVERS'] ?? 2);

describe.each([
  ['with DURABILITY=replicated', {}, [...Array.from({ length: RESTARTS }, (_, n) => `killed and started again (${n + 1})`), 'relieved']],
  ['with REPLICAS=1 as well', { REPLICAS: '1' }, ['killed']],
])('Sentinel makes another Redis the master under load, %s', (_settings, env, ends) => {
  let redis: ReplicatedRedis;
  let toolyard: TestCluster;
  beforeAll(async () => {
    redis = await startReplicatedRedis({ replicas: 2 });
    toolyard = await startTestCluster({
      gateways: 2,
      workers: 2,
      env: { REDIS_URL: redis.url, DURABILITY: 'replicated', LEASE_MS: '5000', ...env },
    });
  });
  afterAll(async () => {
    await toolyard?.close();
    await redis?.stop();
  });

  const failOver = async (how: string) => {
    if (how === 'relieved') return redis.failover();
    const master = await redis.master();
    await master.kill();
    if (how === 'killed') return;
    // Takes writes, with the replica that is not promoted, until Sentinel makes it a replica.
    await redis.missed(master);
    await master.start();
  };

  it.each(ends)(
    'ends every call with a 202 once, under its idempotency key, when the master is %s, and sockets hear of it',
    async (how) => {
      const agents = toolyard.gateways.map(({ url }) => new Agent(url));
      const agentOf = (name: number) => agents[name % agents.length] ?? new Agent('');
      const listeners = await Promise.all(agents.map((agent) => listen(agent)));
      const accepted = new Map<string, string>();
      const statuses = new Set<number>();
      let submitting = true;
      const submit = (name: number, n: number) =>
        agentOf(name).submit('echo', { name, n }, {}, { 'idempotency-key': `${how.replaceAll(' ', '-')}-${name}-${n}` });
      const load = Array.from({ length: 8 }, async (_unused, name) => {
        for (let n = 0; submitting; n++) {
          const { status, body } = await submit(name, n);
          statuses.add(status);
          if (status === 202) accepted.set(`${name}-${n}`, body.id);
        }
      });
      await eventually(() => accepted.size > 100, 'a first load of calls');
      const old = await redis.master();
      await failOver(how);
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
      if (how !== 'killed') await redis.follows(old);
      expect(await findInvariantViolations(redis.url)).toEqual([]);
    },
  );
});

describe('Sentinel makes a Redis the master that lacks a call, with DURABILITY=local', () => {
  let redis: ReplicatedRedis;
  let toolyard: TestCluster;
  beforeAll(async () => {
    redis = await startReplicatedRedis({ replicas: 1 });
    toolyard = await startTestCluster({ workers: 0, env: { REDIS_URL: redis.url } });
  });
  afterAll(async () => {
    for (const server of redis?.servers ?? []) server.signal('SIGCONT');
    await toolyard?.close();
    await redis?.stop();
  });

  it('ends the streams and waits of the lost call with call_lost, and accepts it again under its idempotency key', async () => {
    const url = toolyard.gateways[0]?.url ?? '';
    const agent = new Agent(url);
    const master = await redis.master();
    const replica = redis.servers.find((server) => server !== master);
    replica?.signal('SIGSTOP');
    const ofMaster = createRedis(master.url);
    await ofMaster.call('CLIENT', 'KILL', 'TYPE', 'replica');
    ofMaster.disconnect();
    // Without the records of `agent`, whose calls and events all have to be in the log at the end.
    const client = new ToolyardClient({ baseUrl: url, apiKey: agent.key });
    let isLive = false;
    const all = client.watch({}, { onState: ({ state }) => (isLive ||= state === 'live') });
    await eventually(() => isLive, 'the watch to be live');
    const submit = async (prefer: string) => {
      const headers = { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json', 'idempotency-key': 'lost', prefer };
      const answer = await fetch(`${url}/v1/calls`, { method: 'POST', headers, body: '{"tool":"echo","arguments":{}}' });
      return { status: answer.status, body: (await answer.json()) as { id?: string; callId?: string; code?: string } };
    };
    const waited = submit('wait=60');
    const first = await all.next();
    const callId = first.value?.kind === 'event' ? first.value.event.subject : '';
    const one = client.watch({ callId });
    expect(await one.next()).toMatchObject({ value: { event: { type: 'call.submitted' } } });
    const headers = { authorization: `Bearer ${agent.key}`, accept: 'text/event-stream' };
    const events = await fetch(`${url}/v1/calls/${callId}/events`, { headers });

    await master.kill();
    replica?.signal('SIGCONT');
    await redis.promoted(master);
    expect(await waited).toMatchObject({ status: 410, body: { code: 'call_lost', callId } });
    // The gateway may have answered `unavailable` before, upon which a client subscribes again.
    expect(await events.text()).toMatch(/call_lost|unavailable/);
    await expect(one.next()).rejects.toMatchObject({ code: expect.stringMatching(/^(call_lost|resource_not_found)$/) });
    client.close();
    const again = await eventually(async () => {
      const { status, body } = await submit('respond-async');
      return status === 202 ? body : undefined;
    }, 'the new master to take the call');
    expect(again.id).not.toBe(callId);
  });
});

describe('one of two replicas that Sentinel knows hangs, with DURABILITY=replicated', () => {
  let redis: ReplicatedRedis;
  let toolyard: TestCluster;
  beforeAll(async () => {
    redis = await startReplicatedRedis({ replicas: 2 });
    const env = { REDIS_URL: redis.url, DURABILITY: 'replicated', LOG_DEADLINE_MS: '2000' };
    toolyard = await startTestCluster({ env });
    await toolyard.gateway({ REPLICAS: '1' });
  });
  afterAll(async () => {
    for (const server of redis?.servers ?? []) server.signal('SIGCONT');
    await toolyard?.close();
    await redis?.stop();
  });

  it('answers 503 to new calls until the replica is back; with REPLICAS=1 it takes them', async () => {
    const [all = new Agent(''), one = new Agent('')] = toolyard.gateways.map(({ url }) => new Agent(url));
    const submit = (agent: Agent, name: string) => agent.submit('echo', { name }, {}, { 'idempotency-key': name });
    /** 200 if an earlier request was answered with 503 and its call is confirmed now. */
    const taken = (agent: Agent, name: string) =>
      eventually(async () => {
        const { status, body } = await submit(agent, name);
        if (status === 503) return undefined;
        expect([200, 202]).toContain(status);
        return body.id;
      }, `call ${name} to be taken`);
    await taken(all, 'before');
    const ready = await eventually(async () => {
      const { body } = await one.get<{ warnings?: unknown[] }>('/readyz');
      return body.warnings;
    }, 'the gateway to warn');
    expect(ready).toMatchObject([{ code: 'few_replicas', message: expect.stringContaining('Sentinel knows 2 replicas') }]);
    expect((await all.get<{ warnings?: unknown[] }>('/readyz')).body.warnings).toBeUndefined();
    const doctor = await startCli(['doctor'], { url: one.url }).ended();
    expect(doctor.out).toMatch(/warn gateway replicas .*REPLICAS=1, but Sentinel knows 2/);
    const master = await redis.master();
    const replica = redis.servers.find((server) => server !== master) ?? master;
    replica.signal('SIGSTOP');

    const refused = () =>
      eventually(async () => {
        const { status, body } = await submit(all, 'meanwhile');
        expect(status).toBe(503);
        return JSON.stringify(body).includes('Too few replicas of Redis confirmed');
      }, 'the gateway to name the reason');
    await refused();
    expect((await one.ended(await taken(one, 'by-one'))).outcome).toBe('completed');
    await redis.missed(replica);
    await refused();

    replica.signal('SIGCONT');
    expect((await all.ended(await taken(all, 'meanwhile'))).outcome).toBe('completed');
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
    if (subjectsOf(frame).includes(id)) return true;
    return frame.op === 'resync' && frame.snapshot.some((call) => call.id === id && call.status === 'ended');
  });
}

function subjectsOf(frame: ServerFrame): string[] {
  if (frame.op === 'event') return [frame.event.subject];
  return frame.op === 'events' ? frame.events.map(({ subject }) => subject) : [];
}
