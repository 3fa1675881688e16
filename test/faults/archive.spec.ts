import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '#archive';
import type { Batch, Call, Problem } from '#contracts';
import { createRedis, keys, partitionName, type RedisConnection } from '#redis';
import { PartitionArchiver } from '#sealing';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

const PARTITIONS = 16;
const HOURS_MS = 7_200_000;
const STRANGER = 'key-of-another-tenant-of-the-archive';

/** Calls that have left Redis, through the routes of a gateway that was started with the archive. */
describe('a call that has left Redis', () => {
  let folder: string;
  let cluster: TestCluster;
  let agent: Agent;
  let redis: RedisConnection;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-archive-'));
    const scopes = ['submit', 'read', 'cancel', 'approve', 'admin'];
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ keys: [{ id: 'stranger', key: STRANGER, tenant: 'other', scopes }] }));
    cluster = await startTestCluster({
      env: { ARCHIVE_URL: `file://${folder}/archive`, DEFAULT_AUTONOMY: 'supervised' },
      gatewayEnv: { TOOLYARD_CONFIG: config },
    });
    agent = new Agent(cluster.gateways[0]?.url ?? '', TEST_KEY);
    redis = createRedis(cluster.redis.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Archives everything, like the archiver hours later. */
  const archiveAll = async () => {
    const store = await openArchive(`file://${folder}/archive`);
    for (let index = 0; index < PARTITIONS; index += 1) {
      const archiver = new PartitionArchiver(redis, store, partitionName(index), { maxAgeMs: 0, maxCalls: 0 });
      while (await archiver.step({ nowMs: Date.now() + HOURS_MS, segmentMs: 0, isFull: false }));
    }
  };
  const inRedis = async (call: Call) => (await redis.exists(keys.call(call.id))) === 1;
  const post = <T>(path: string, body: unknown) => agent.request<T>('POST', path, body);

  it('reads, lists in its batch, replays and streams a call that has left Redis as before', async () => {
    const call = await agent.run('echo', { text: 'kept' }, { sessionId: 's' });
    const large = await agent.run('echo', { text: 'x'.repeat(300_000) });
    const batch = (await post<Batch>('/v1/batches', { sessionId: 'b', calls: [{ tool: 'echo', arguments: { text: 'one' } }] })).body;
    const readBatch = async () => (await agent.get<Batch>(`/v1/batches/${batch.id}`)).body;
    await eventually(async () => (await readBatch()).status === 'ended', 'the batch to end');
    const answers = async () => ({
      call: (await agent.get(`/v1/calls/${call.id}`)).body,
      events: await agent.events(call.id),
      large: (await agent.get(`/v1/calls/${large.id}`)).body,
      output: (await agent.get<string>(`/v1/calls/${large.id}/output`)).body,
      batch: await readBatch(),
    });
    const before = await answers();
    expect(before.output.length).toBeGreaterThanOrEqual(300_000);
    await archiveAll();
    expect([await inRedis(call), await inRedis(large)]).toEqual([false, false]);

    expect(await answers()).toEqual(before);
    const stream = await agent.get<string>(`/v1/calls/${call.id}/events`, { accept: 'text/event-stream' });
    expect(stream.body.match(/^event: .*$/gm)).toEqual(before.events.map(({ type }) => `event: ${type}`));
    const again = (await post<Call>(`/v1/calls/${call.id}/replay`, {})).body;
    expect(await agent.ended(again.id)).toMatchObject({ status: 'ended', outcome: 'completed', arguments: { text: 'kept' } });
    expect((await post<Call>(`/v1/calls/${call.id}/cancel`, {})).body).toMatchObject({ status: 'ended', outcome: 'completed' });
    const decision = await post<Problem>(`/v1/calls/${call.id}/decision`, { decision: 'allow', scope: 'once' });
    expect([decision.status, decision.body.code]).toEqual([409, 'conflict']);
  });

  it('streams a call that has left Redis to a WebSocket after its first event, like to server-sent events', async () => {
    const stream = await agent.stream();
    stream.send({ op: 'subscribe', id: 'live', filter: { sessionId: 'streamed' } });
    await stream.frame('subscribed', 'live');
    const call = await agent.run('echo', { text: 'streamed' }, { sessionId: 'streamed' });
    await eventually(() => stream.events('live').some(({ event }) => event.type === 'call.end'), 'the End');
    const [first, ...rest] = stream.events('live');
    await archiveAll();
    expect(await inRedis(call)).toBe(false);

    const later = await agent.stream();
    later.send({ op: 'subscribe', id: 'again', filter: { sessionId: 'streamed' }, cursor: first?.cursor });
    await eventually(() => later.events('again').length >= rest.length, 'the events from the archive');
    expect(later.events('again').map(({ event }) => event)).toEqual(rest.map(({ event }) => event));
    const next = await agent.run('echo', { text: 'next' }, { sessionId: 'streamed' });
    await eventually(() => later.events('again').at(-1)?.event.subject === next.id, 'the next call');
    stream.close();
    later.close();
  });

  it('answers a repeated submission with its idempotency key from a call that has left Redis', async () => {
    const submit = () => agent.submit('echo', { text: 'once' }, {}, { 'idempotency-key': 'k1' });
    const first = await agent.ended((await submit()).body.id);
    await archiveAll();
    expect(await inRedis(first)).toBe(false);
    expect((await submit()).body).toMatchObject({ id: first.id, outcome: 'completed' });
  });

  it('hides a call that has left Redis from another tenant, and finds no unknown id', async () => {
    const call = await agent.run('echo', { text: 'mine' });
    await archiveAll();
    const stranger = new Agent(agent.url, STRANGER);
    expect((await stranger.run('echo', { text: 'theirs' })).outcome).toBe('completed');
    for (const path of ['', '/events', '/output']) expect((await stranger.get(`/v1/calls/${call.id}${path}`)).status).toBe(404);
    expect((await stranger.request('POST', `/v1/calls/${call.id}/replay`, {})).status).toBe(404);
    const unknown = `${call.id.slice(0, -4)}ZZZZ`;
    expect((await agent.get(`/v1/calls/${unknown}`)).status).toBe(404);
    expect((await agent.get(`/v1/calls/${unknown}/events`)).status).toBe(404);
  });

  it('runs a call when it is allowed that waited for approval while the log was trimmed behind it', async () => {
    const waiting = (await agent.submit('shell', { command: 'echo later' }, { sessionId: 'w' })).body;
    expect(waiting.status).toBe('waiting_approval');
    for (let n = 0; n < 5; n += 1) await agent.run('echo', { text: String(n) }, { sessionId: 'w' });
    await archiveAll();
    expect(await redis.xlen(keys.log(waiting.id.slice(0, 2)))).toBe(0);
    await post<Call>(`/v1/calls/${waiting.id}/decision`, { decision: 'allow', scope: 'once' });
    const ended = await agent.ended(waiting.id);
    expect(ended).toMatchObject({ status: 'ended', outcome: 'completed' });
    await archiveAll();
    expect((await agent.get(`/v1/calls/${waiting.id}`)).body).toEqual(ended);
  });
});
