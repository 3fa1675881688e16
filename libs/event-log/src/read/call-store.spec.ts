import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ListCallsQuery, type Call, type ListCallsInput, type SubmittedData } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author, endOf } from '../../../../test/support/sample-calls.js';
import { EventLog } from '../event-log.js';
import type { CallMeta } from '../event-log.port.js';
import { CallScan } from './call-scan.js';
import { CallStore } from './call-store.js';

const PARTITIONS = 8;

describe('the list of calls', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  let store: CallStore;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    store = new CallStore(redis, { partitions: PARTITIONS });
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await server.stop();
  });

  const submit = async (tenantId: string, meta: Partial<CallMeta> = {}, submission: Partial<SubmittedData> = {}) => {
    const callId = log.newCallId(tenantId, meta.sessionId);
    const tool = meta.tool ?? 'echo';
    await log.accept(aCall(callId, { meta: { tenantId, tool, ...meta }, submitted: aSubmission({ tool, ...submission }) }));
    return callId;
  };
  const query = (fields: ListCallsInput = {}): ListCallsQuery => ListCallsQuery.parse(fields);
  const all = async (tenantId: string, fields: ListCallsInput = {}): Promise<Call[]> => {
    const calls: Call[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list(tenantId, query({ ...fields, ...(cursor === undefined ? {} : { cursor }) }));
      calls.push(...page.calls);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return calls;
  };
  const ids = (calls: readonly Call[]) => calls.map(({ id }) => id);

  it('pages through all calls of a tenant, each once, newest first, and shows no other tenant’s', async () => {
    const mine: string[] = [];
    for (let i = 0; i < 57; i++) mine.push(await submit(i % 3 === 0 ? 'other' : 'pages'));
    const expected = mine.filter((_, index) => index % 3 !== 0);
    const calls = await all('pages', { limit: 7 });
    expect(new Set(ids(calls))).toEqual(new Set(expected));
    expect(calls).toHaveLength(expected.length);
    const times = calls.map(({ submittedAt }) => submittedAt);
    expect(times).toEqual([...times].sort().reverse());
    expect((await store.list('pages', query({ limit: 7 }))).calls).toHaveLength(7);
  });

  it('does not show calls that came after the first page on later pages', async () => {
    await Promise.all(Array.from({ length: 10 }, () => submit('growing')));
    const first = await store.list('growing', query({ limit: 5 }));
    const late = await submit('growing');
    const rest = await store.list('growing', query({ limit: 50, cursor: first.nextCursor ?? '' }));
    expect(rest.calls).toHaveLength(5);
    expect(ids(rest.calls)).not.toContain(late);
  });

  it('filters by status, outcome, tool, agent, session and time', async () => {
    const [queued, running, ended] = await Promise.all([
      submit('filters', { agentId: 'ann' }),
      submit('filters', { tool: 'shell' }),
      submit('filters', { sessionId: 's1' }),
    ]);
    await log.claim({ callId: running, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await log.end({ callId: ended, guard: { by: 'command', version: 1, commandId: 'x' }, data: endOf('cancelled'), author });
    const end = (await store.read(ended))?.endedAt ?? '';
    const later = new Date(Date.parse(end) + 60_000).toISOString();
    expect(ids(await all('filters', { status: 'queued' }))).toEqual([queued]);
    expect(ids(await all('filters', { status: 'running' }))).toEqual([running]);
    expect(ids(await all('filters', { outcome: 'cancelled' }))).toEqual([ended]);
    expect(ids(await all('filters', { outcome: 'completed' }))).toEqual([]);
    expect(ids(await all('filters', { tool: 'shell' }))).toEqual([running]);
    expect(ids(await all('filters', { agentId: 'ann' }))).toEqual([queued]);
    expect(ids(await all('filters', { sessionId: 's1' }))).toEqual([ended]);
    expect(await all('filters', { sessionId: 's2' })).toEqual([]);
    expect(await all('filters', { since: later })).toEqual([]);
    expect(await all('filters', { until: later })).toHaveLength(3);
    expect(await all('filters', { until: '2020-01-01T00:00:00Z' })).toEqual([]);
  });

  it.each([
    ['the tool', 'file_RE', 0],
    ['a label', 'blue', 1],
    ['the arguments', 'needle', 2],
    ['an id', 'tc-77', 3],
  ])('finds text in %s', async (_where, q, index) => {
    const found = await Promise.all([
      submit('texts', { tool: 'file_read' }),
      submit('texts', {}, { labels: { colour: 'Blue' } }),
      submit('texts', {}, { arguments: { path: 'a Needle' } }),
      submit('texts', {}, { toolCallId: 'tc-77' }),
    ]);
    expect(ids(await all('texts', { q }))).toContain(found[index]);
    expect(ids(await all('texts', { q })).some((id) => id === found[(index + 1) % 4])).toBe(false);
  });

  it('goes on from where the budget of one request ended, also past pages without a match', async () => {
    const rare = await submit('budget', { tool: 'rare' });
    for (let i = 0; i < 300; i++) await submit('budget', { sessionId: 'busy' });
    const scan = new CallScan(redis, PARTITIONS, (callIds) => Promise.all(callIds.map((callId) => store.read(callId))), 50);
    const found: string[] = [];
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await scan.page('budget', query({ tool: 'rare', limit: 10, ...(cursor === undefined ? {} : { cursor }) }));
      found.push(...ids(page.calls));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined && pages < 100);
    expect(found).toEqual([rare]);
    expect(pages).toBeGreaterThan(2);
  });

  it('refuses a cursor that is not from here', async () => {
    await expect(store.list('pages', query({ cursor: 'abc' }))).rejects.toMatchObject({ code: 'invalid_request' });
    const { nextCursor = '' } = await store.list('pages', query({ limit: 1 }));
    await expect(store.list('pages', query({ cursor: nextCursor, sessionId: 's1' }))).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('reads events after a place, at most so many, among those of other calls', async () => {
    const callId = await submit('events', { sessionId: 'one' });
    await Promise.all(Array.from({ length: 30 }, () => submit('events', { sessionId: 'one' })));
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const write = (wseq: number) =>
      log.update({ callId, guard: { by: 'worker', fence: 1, wseq }, data: { update: wseq, content: [] }, author });
    for (let wseq = 1; wseq <= 5; wseq++) await write(wseq);
    const events = await store.events(callId);
    expect(events.map(({ type }) => type)).toEqual(['call.submitted', 'call.start', ...Array.from({ length: 5 }, () => 'call.update')]);
    const [, , third] = events;
    expect(await store.events(callId, { afterSeq: third?.seq ?? 0, limit: 2 })).toEqual(events.slice(3, 5));
    expect(await store.events('00-01JZ8C5W3Q4X9R7T2M6K8N0P0V')).toEqual([]);
  });
});
