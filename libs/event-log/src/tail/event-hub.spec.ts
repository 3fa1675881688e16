import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ProblemError, type Call, type CallEventType, type EventFilter } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { appendRaw, rawCallId } from '../../../../test/support/raw-log.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { EventHub } from './event-hub.js';
import { LogTail } from './log-tail.js';
import type { Delivery, ResyncReason, SubscribeRequest, Subscription } from './subscription.js';

const PARTITIONS = 4;
let server: RedisServer;
let redis: RedisConnection;
const open: EventHub[] = [];
/** Calls that are no longer in the log. */
const lost = new Set<string>();

beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
});
afterEach(() => Promise.all(open.splice(0).map((hub) => hub.close())));
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

async function startHub(firstSeqs: ReadonlyMap<string, number> = new Map()): Promise<EventHub> {
  const tail = new LogTail({ redisUrl: server.url, partitions: PARTITIONS, blockMs: 200, verifyMs: 200 });
  const hub = new EventHub(tail, redis, {
    callSnapshot: async (callId) => {
      const first = firstSeqs.get(callId);
      return first === undefined ? undefined : { lifecycleSeqs: [first], status: 'running' };
    },
    snapshot: async (_tenantId, { callId = '' }) => (lost.has(callId) ? [] : [{ id: callId } as Call]),
  });
  open.push(hub);
  await hub.start();
  return hub;
}

/** Subscriber that records its deliveries, as a client would. */
class Listener {
  readonly deliveries: Delivery[] = [];
  readonly subscription: Subscription;

  constructor(hub: EventHub, request: Partial<SubscribeRequest> = {}) {
    this.subscription = hub.subscribe({
      tenantId: 'acme',
      filter: {},
      deliver: (delivery) => {
        this.deliveries.push(delivery);
      },
      ...request,
    });
  }

  get ids(): string[] {
    return this.deliveries.flatMap((delivery) => (delivery.kind === 'events' ? delivery.batch.events.map(idOf) : []));
  }

  get resyncs(): ResyncReason[] {
    return this.deliveries.flatMap((delivery) => (delivery.kind === 'resync' ? [delivery.reason] : []));
  }

  /** Cursor with which a client would reconnect. */
  get cursor(): string {
    return this.deliveries.reduce(
      (cursor, delivery) => (delivery.kind === 'events' ? delivery.batch.cursor : 'cursor' in delivery ? delivery.cursor : cursor),
      '',
    );
  }

  got(count: number): Promise<unknown> {
    return eventually(() => this.ids.length >= count, `${count} events`);
  }

  started(): Promise<unknown> {
    return eventually(() => this.deliveries.length > 0, 'the subscription to start');
  }
}

const idOf = ({ epoch, partition, seq }: { epoch: number; partition: string; seq: number }) => `${epoch}.${Number(partition)}.${seq}`;

/** Expected ids, read from the log itself. */
async function logIds(wanted: (callId: string, type: string, meta: string) => boolean): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < PARTITIONS; index += 1) {
    const name = String(index).padStart(2, '0');
    const epoch = (await redis.get(keys.epoch(name))) ?? '1';
    for (const [entryId, fields] of await redis.xrange(keys.log(name), '-', '+')) {
      const [callId = '', type = ''] = fields[1]?.split(' ') ?? [];
      if (wanted(callId, type, fields[3] ?? '')) ids.push(`${epoch}.${index}.${entryId.split('-')[0]}`);
    }
  }
  return ids;
}

/** Ids grouped by partition, each group in its order: the only guaranteed order. */
function byPartition(ids: readonly string[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const id of ids) (groups[id.split('.')[1] ?? ''] ??= []).push(id);
  return groups;
}

/** Writes calls of two tenants, three agents and two tools to all partitions until `stop`. */
function startWriter(calls: readonly string[]): { stop(): Promise<void> } {
  let stopped = false;
  const types: CallEventType[] = ['call.submitted', 'call.start', 'call.update', 'call.update', 'call.end'];
  const own = createRedis(server.url);
  const writing = (async () => {
    for (let n = 0; !stopped; n += 1) {
      const callId = calls[n % calls.length] ?? '';
      const type = types[n % types.length] ?? 'call.update';
      await appendRaw(own, {
        callId,
        type,
        tenantId: n % 7 === 0 ? 'rival' : 'acme',
        agentId: `agent-${n % 3}`,
        tool: n % 2 ? 'echo' : 'shell',
      });
    }
    own.disconnect();
  })();
  return {
    stop: () => {
      stopped = true;
      return writing;
    },
  };
}

const isUpdate = (type: string) => type === 'call.update' || type === 'call.progress';

describe('EventHub subscriptions', () => {
  it.each<[string, EventFilter | 'one call', (callId: string, type: string, meta: string, call: string) => boolean]>([
    ['the whole tenant', {}, (_callId, _type, meta) => meta.includes('"tenantid":"acme"')],
    ['one agent', { agentId: 'agent-1' }, (_callId, _type, meta) => meta.includes('"tenantid":"acme"') && meta.includes('"agent-1"')],
    [
      'one tool, lifecycle only',
      { tool: 'shell', types: ['call.start', 'call.end'] },
      (_callId, type, meta) => meta.includes('"tenantid":"acme"') && meta.includes('"shell"') && ['call.start', 'call.end'].includes(type),
    ],
    ['one call', 'one call', (callId, type, meta, call) => callId === call && meta.includes('"tenantid":"acme"') && isUpdate(type)],
  ])('resumes at any cut under a concurrent writer with exactly what the log has: %s', async (_name, filterOf, wanted) => {
    const calls = Array.from({ length: 8 }, (_, index) => rawCallId(index % PARTITIONS));
    const call = calls[1] ?? '';
    const filter: EventFilter = filterOf === 'one call' ? { callId: call, types: ['call.update', 'call.progress'] } : filterOf;
    const hub = await startHub(new Map([[call, 1]]));
    const begun = new Listener(hub, { filter: {} });
    await begun.started();
    const start = await logIds(() => true);
    const writer = startWriter(calls);

    let cursor = filterOf === 'one call' ? hub.currentPosition().cursorOf(call) : begun.cursor;
    const received: string[] = [];
    for (let cut = 0; cut < 60; cut += 1) {
      const session = new Listener(hub, { filter, cursor });
      // Disconnects at once, after some events, or after the tail continued without this subscriber.
      if (cut % 3 !== 0) await session.got(1 + (cut % 17));
      else await session.started();
      session.subscription.close();
      received.push(...session.ids);
      expect(session.resyncs).toEqual([]);
      cursor = session.cursor;
    }
    await writer.stop();

    const before = new Set(start);
    const expected = (await logIds((callId, type, meta) => wanted(callId, type, meta, call))).filter((id) => !before.has(id));
    const last = new Listener(hub, { filter, cursor });
    await eventually(() => received.length + last.ids.length >= expected.length, 'the rest of the log');
    received.push(...last.ids);
    expect(byPartition(received)).toEqual(byPartition(expected));
    expect(received.length).toBeGreaterThan(60);
  });

  it('reads from the log after memory has dropped events', async () => {
    const callId = rawCallId(0);
    const first = await appendRaw(redis, { callId, type: 'call.submitted' });
    for (let n = 0; n < 1500; n += 1) await appendRaw(redis, { callId: n % 2 ? callId : rawCallId(0) });
    const hub = await startHub(new Map([[callId, first]]));
    const listener = new Listener(hub, { filter: { callId } });
    await listener.got(751);
    expect(listener.ids).toEqual(await logIds((id) => id === callId));
    expect(listener.deliveries[0]).toEqual({ kind: 'started', cursor: `1.0.${first - 1}` });
  });

  it('pauses for a slow reader between pieces, and then sends everything', async () => {
    const callId = rawCallId(1);
    const first = await appendRaw(redis, { callId, type: 'call.submitted' });
    for (let n = 0; n < 300; n += 1) await appendRaw(redis, { callId, data: { text: 'x'.repeat(4096) } });
    const hub = await startHub(new Map([[callId, first]]));
    let release: () => void = () => {};
    let asked = 0;
    const writable = () => {
      asked += 1;
      return new Promise<void>((resolve) => (release = resolve));
    };
    const listener = new Listener(hub, { filter: { callId }, writable });
    while (listener.ids.length < 301) {
      const before = asked;
      await eventually(() => asked > before || listener.ids.length === 301, 'the next piece');
      const count = listener.ids.length;
      await new Promise((resolve) => setImmediate(resolve));
      expect(listener.ids.length).toBe(count);
      release();
    }
    expect(asked).toBeGreaterThan(5);
    expect(listener.ids).toEqual(await logIds((id) => id === callId));
  });

  it('gives subscribers of the same view the same bytes', async () => {
    const hub = await startHub();
    const callId = rawCallId(2);
    const listeners = Array.from({ length: 10 }, () => new Listener(hub, { filter: { agentId: 'same' } }));
    await Promise.all(listeners.map((listener) => listener.started()));
    await eventually(() => hub.counts.views === 1, 'one view');
    await appendRaw(redis, { callId, agentId: 'same' });
    await Promise.all(listeners.map((listener) => listener.got(1)));
    const batches = new Set(
      listeners.map(({ deliveries }) => deliveries.flatMap((delivery) => (delivery.kind === 'events' ? [delivery.batch] : []))[0]),
    );
    expect(batches.size).toBe(1);
    for (const { subscription } of listeners) subscription.close();
    expect(hub.counts).toEqual({ subscriptions: 0, watches: 0, views: 0 });
  });

  it('hides the events of other tenants from any filter', async () => {
    const hub = await startHub();
    const callId = rawCallId(3);
    const filters: EventFilter[] = [{}, { callId }, { sessionId: 's' }, { agentId: 'a' }, { tool: 'echo' }];
    const cursorOf = hub.currentPosition().cursorOf(callId);
    const spies = filters.map(
      (filter) => new Listener(hub, { tenantId: 'rival', filter, ...(filter.callId === undefined ? {} : { cursor: cursorOf }) }),
    );
    const owner = new Listener(hub, { filter: { tool: 'echo' } });
    await owner.started();
    await Promise.all(spies.map((spy) => spy.started()));
    await appendRaw(redis, { callId, sessionId: 's', agentId: 'a' });
    await owner.got(1);
    const late = new Listener(hub, { tenantId: 'rival', filter: { callId }, cursor: cursorOf });
    await late.started();
    await appendRaw(redis, { callId: rawCallId(0), tenantId: 'rival' });
    await eventually(() => spies[0]?.ids.length === 1, "the rival's own event");
    expect([...spies.slice(1, 4), late].map(({ ids }) => ids)).toEqual([[], [], [], []]);
  });

  it('refuses a cursor of another kind or another partition at once', async () => {
    const hub = await startHub();
    const deliver = () => {};
    const callId = rawCallId(1);
    for (const cursor of ['', 'x', '1.2.3', '1.1.-4', hub.positions.format(hub.positions.now(), undefined)]) {
      expect(() => hub.subscribe({ tenantId: 'acme', filter: { callId }, cursor, deliver })).toThrow(ProblemError);
    }
    expect(() => hub.subscribe({ tenantId: 'acme', filter: {}, cursor: '1.1.3', deliver })).toThrow(ProblemError);
    expect(() => hub.subscribe({ tenantId: 'acme', filter: { callId: rawCallId(77) }, deliver })).toThrow(ProblemError);
    expect(hub.counts.subscriptions).toBe(0);
  });
});

describe('EventHub resync', () => {
  it('reports a cursor that is too old, ahead of the log, or of another epoch, and continues from the log', async () => {
    const callId = rawCallId(2);
    for (let n = 0; n < 20; n += 1) await appendRaw(redis, { callId });
    const end = Number(await redis.get(keys.seq('02')));
    await redis.xtrim(keys.log('02'), 'MINID', end - 5);
    const hub = await startHub();
    const cases: [string, ResyncReason][] = [
      [`1.2.${end - 15}`, 'cursor_too_old'],
      [`1.2.${end + 50}`, 'cursor_ahead_of_log'],
      [`9.2.${end}`, 'cursor_of_other_epoch'],
    ];
    for (const [cursor, reason] of cases) {
      const listener = new Listener(hub, { filter: { callId }, cursor });
      await eventually(() => listener.resyncs.length > 0, reason);
      expect(listener.resyncs).toEqual([reason]);
      const seq = await appendRaw(redis, { callId });
      await listener.got(1);
      expect(listener.ids).toEqual([`1.2.${seq}`]);
    }
  });

  it.each([[1], [9]])('ends the stream of a call that a failover lost, from a cursor of epoch %i', async (epoch) => {
    const callId = rawCallId(3);
    const seq = await appendRaw(redis, { callId });
    lost.add(callId);
    const listener = new Listener(await startHub(), { filter: { callId }, cursor: `${epoch}.3.${seq + 50}` });
    const last = () => listener.deliveries.at(-1);
    await eventually(() => last()?.kind === 'failed' || listener.resyncs.length > 0, 'the end of the stream');
    expect(last()).toMatchObject({ kind: 'failed', problem: { code: 'call_lost', facts: { callId } } });
    lost.delete(callId);
  });

  it('waits for its own tail after another gateway was faster', async () => {
    const callId = rawCallId(1);
    const hub = await startHub();
    const behind = hub.positions.buffer(1).seq;
    const listener = new Listener(hub, { filter: { callId }, cursor: `1.1.${behind + 2}` });
    const seqs = [];
    for (let n = 0; n < 4; n += 1) seqs.push(await appendRaw(redis, { callId }));
    await eventually(() => listener.resyncs.length > 0 || listener.ids.length >= 2, 'events or a resync');
    // Both results are valid, depending on whether the log had reached the cursor; a missing or double event is not.
    if (listener.resyncs.length === 0) expect(listener.ids).toEqual(seqs.slice(2).map((seq) => `1.1.${seq}`));
    else expect(listener.resyncs).toEqual(['cursor_ahead_of_log']);
  });

  it('notifies every reader and watch when the log was rolled back', async () => {
    const hub = await startHub();
    const callId = rawCallId(0);
    await appendRaw(redis, { callId });
    const [wide, narrow] = [new Listener(hub), new Listener(hub, { filter: { callId }, cursor: hub.currentPosition().cursorOf(callId) })];
    const watch = hub.watch(callId, { timeoutMs: 20_000 });
    await Promise.all([wide.started(), narrow.started()]);
    await server.kill();
    await server.start();
    await eventually(() => wide.resyncs.length > 0 && narrow.resyncs.length > 0, 'both resyncs');
    expect(narrow.resyncs[0]).toBe('log_rolled_back');
    expect(await watch.ended).toBeUndefined();
    const seq = await appendRaw(redis, { callId });
    await eventually(() => narrow.ids.includes(`2.0.${seq}`) && wide.ids.includes(`2.0.${seq}`), 'both to go on in the new epoch');
  });
});

it('does not call a call lost that has ended on its stream, and was erased since, when the log is rolled back', async () => {
  const hub = await startHub();
  const [erased, open] = [rawCallId(0), rawCallId(0)];
  const follow = (callId: string) => new Listener(hub, { filter: { callId }, cursor: hub.currentPosition().cursorOf(callId) });
  const streams = [follow(erased), follow(open)];
  await Promise.all(streams.map((stream) => stream.started()));
  await appendRaw(redis, { callId: open, type: 'call.start' });
  await appendRaw(redis, { callId: erased, type: 'call.end' });
  await Promise.all(streams.map((stream) => stream.got(1)));
  for (const callId of [erased, open]) lost.add(callId);
  await server.kill();
  await server.start();
  const last = () => streams.map(({ deliveries }) => deliveries.at(-1));
  await eventually(() => last().every((delivery) => delivery?.kind !== 'events'), 'a further delivery to both streams');
  expect(last()).toMatchObject([
    { kind: 'resync', snapshot: [] },
    { kind: 'failed', problem: { code: 'call_lost' } },
  ]);
  for (const callId of [erased, open]) lost.delete(callId);
});

describe('EventHub watches', () => {
  it('resolves thousands of waits, each with the lifecycle of its own call', async () => {
    const hub = await startHub();
    const calls = Array.from({ length: 3000 }, (_, index) => rawCallId(index % PARTITIONS));
    const watches = calls.map((callId) => hub.watch(callId, { timeoutMs: 20_000 }));
    for (const type of ['call.submitted', 'call.start', 'call.update', 'call.end'] as const) {
      await Promise.all(calls.map((callId) => appendRaw(redis, { callId, type })));
    }
    const ended = await Promise.all(watches.map((watch) => watch.ended));
    for (const [index, events] of ended.entries()) {
      expect(events?.map(({ callId, type }) => `${callId} ${type}`)).toEqual(
        ['call.submitted', 'call.start', 'call.end'].map((type) => `${calls[index]} ${type}`),
      );
    }
    expect(hub.counts.watches).toBe(0);
  });

  it('resolves watches without a result on time-out, abort, cancel and close, and leaks nothing', async () => {
    const hub = await startHub();
    const abort = new AbortController();
    const cancelled = hub.watch(rawCallId(0));
    const waits = [
      hub.watch(rawCallId(0), { timeoutMs: 5 }).ended,
      hub.watch(rawCallId(0), { signal: abort.signal }).ended,
      hub.watch(rawCallId(0), { signal: AbortSignal.abort() }).ended,
      cancelled.ended,
    ];
    abort.abort();
    cancelled.cancel();
    expect(await Promise.all(waits)).toEqual([undefined, undefined, undefined, undefined]);
    expect(hub.counts.watches).toBe(0);
    const last = hub.watch(rawCallId(0));
    await hub.close();
    expect(await last.ended).toBeUndefined();
  });
});
