import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ListCallsQuery, type CallSummary, type ListCallsInput, type ListSessionsQuery, type SubmittedData } from '#contracts';
import { EventLog, LogReader, type CallMeta } from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { aCall, aSubmission, author } from '../../../test/support/sample-calls.js';
import { openHistoryDatabase, type HistoryDatabase } from './database/history-database.js';
import { migrateHistory } from './database/migrate-history.js';
import { HistoryProjector } from './write/history-projector.js';
import { Numbers } from './query/numbers.js';
import { CallList } from './query/call-list.js';
import { SessionList } from './query/session-list.js';

const PARTITIONS = 4;

describe('the history of calls', () => {
  let server: RedisServer;
  let postgres: TestPostgres;
  let db: HistoryDatabase;
  let redis: RedisConnection;
  let log: EventLog;
  let reader: LogReader;
  let index: CallList;
  let projector: HistoryProjector;

  beforeAll(async () => {
    [server, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    reader = new LogReader(redis);
    index = new CallList(db, reader, PARTITIONS);
    projector = new HistoryProjector({ db, log: reader, partitions: PARTITIONS, batch: 40 });
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await db.destroy();
    await Promise.all([server.stop(), postgres.stop()]);
  });

  const project = async () => {
    while (await projector.round());
  };
  const submit = async (tenantId: string, meta: Partial<CallMeta> = {}, submission: Partial<SubmittedData> = {}) => {
    const callId = log.newCallId(tenantId, meta.sessionId);
    const tool = meta.tool ?? 'echo';
    await log.accept(aCall(callId, { meta: { tenantId, tool, ...meta }, submitted: aSubmission({ tool, ...submission }) }));
    return callId;
  };
  const start = (callId: string) => log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
  const fail = async (callId: string, message: string) => {
    await start(callId);
    const data = { outcome: 'failed', attempts: 1, runMs: 7, error: { code: 'tool_failed', message, retryable: false } } as const;
    await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data, author });
  };
  const cancel = async (callId: string) => {
    const data = { outcome: 'cancelled', attempts: 0, error: { code: 'cancelled', message: 'no', retryable: false } } as const;
    await log.end({ callId, guard: { by: 'command', version: 1, commandId: 'x' }, data, author });
  };
  const query = (fields: ListCallsInput = {}): ListCallsQuery => ListCallsQuery.parse(fields);
  const all = async (tenantId: string, fields: ListCallsInput = {}): Promise<CallSummary[]> => {
    const calls: CallSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await index.page(tenantId, query({ ...fields, ...(cursor === undefined ? {} : { cursor }) }));
      expect(page.behind).toBeUndefined();
      calls.push(...page.calls);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return calls;
  };
  const ids = (calls: readonly CallSummary[]) => calls.map(({ id }) => id);

  it('shows a new call and its progress before the projection', async () => {
    const callId = await submit('fresh', { sessionId: 's' });
    expect(await all('fresh')).toMatchObject([{ id: callId, status: 'queued', attempt: 0, retrying: false, preview: '{"text":"héllo"}' }]);
    await project();
    await start(callId);
    expect(ids(await all('fresh', { status: 'running' }))).toEqual([callId]);
    expect(await all('fresh', { status: 'queued' })).toEqual([]);
    expect(await index.count('fresh', { status: ['running'] })).toEqual({ count: 1, exact: true });
  });

  it('shows why the last attempt of a call that is tried again failed', async () => {
    const callId = await submit('again');
    await start(callId);
    const error = { code: 'tool_failed', message: 'HTTP 503', retryable: true } as const;
    const data = { reason: 'tool_failed', nextAttempt: 2, delayMs: 60_000, error } as const;
    await log.retry({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data, countsAsFailure: true, author });
    await project();
    expect(await all('again')).toMatchObject([{ retrying: true, error: { code: 'tool_failed', message: 'HTTP 503' } }]);
  });

  it('pages through all calls of a tenant, each once, newest first, and shows no other tenant’s', async () => {
    const mine: string[] = [];
    for (let i = 0; i < 57; i++) {
      mine.push(await submit(i % 3 === 0 ? 'other' : 'pages'));
      if (i === 30) await project();
    }
    const expected = mine.filter((_, n) => n % 3 !== 0);
    const calls = await all('pages', { limit: 7 });
    expect(new Set(ids(calls))).toEqual(new Set(expected));
    expect(calls).toHaveLength(expected.length);
    const times = calls.map(({ submittedAt }) => submittedAt);
    expect(times).toEqual([...times].sort().reverse());
    const first = await index.page('pages', query({ limit: 7 }));
    expect([first.total, first.calls.length]).toEqual([38, 7]);
    await project();
    expect(ids(await all('pages', { limit: 7 }))).toEqual(ids(calls));
    expect(await all('empty')).toEqual([]);
  });

  it('shows no newly arrived calls on later pages', async () => {
    await Promise.all(Array.from({ length: 10 }, () => submit('growing')));
    const first = await index.page('growing', query({ limit: 5 }));
    const late = await submit('growing');
    await project();
    const rest = await index.page('growing', query({ limit: 50, cursor: first.nextCursor ?? '' }));
    expect(rest.calls).toHaveLength(5);
    expect(ids(rest.calls)).not.toContain(late);
    expect(rest.nextCursor).toBeUndefined();
  });

  it('finds the same calls by every filter as a plain scan, projected or not', async () => {
    const tools = ['echo', 'shell', 'file_read'];
    let made = 0;
    const filters = fc.record(
      {
        status: fc.subarray(['queued', 'running', 'ended'], { minLength: 1 }),
        outcome: fc.subarray(['failed', 'cancelled', 'completed'], { minLength: 1 }),
        tool: fc.subarray(tools, { minLength: 1 }),
        pool: fc.subarray(['read', 'shell'], { minLength: 1 }),
        sessionId: fc.subarray(['s1', 's2', 's3'], { minLength: 1 }),
        agentId: fc.subarray(['ann', 'bob'], { minLength: 1 }),
        errorCode: fc.constant<string[]>(['tool_failed']),
        priority: fc.constant<string[]>(['high']),
        toolCallId: fc.subarray(['toolu_1a', 'toolu_1', '--', 'none'], { minLength: 1 }),
        q: fc.constantFrom('need', 'needle blue', 'file', 'line', 'blue', 'nothing'),
      },
      { requiredKeys: [] },
    );
    const call = fc.record({
      tool: fc.constantFrom(...tools),
      session: fc.constantFrom('s1', 's2', 's3', undefined),
      agent: fc.constantFrom('ann', 'bob', undefined),
      fate: fc.constantFrom('queued', 'running', 'failed', 'cancelled'),
      toolCallId: fc.constantFrom('toolu_1a', 'toolu_1', '--', undefined),
      words: fc.constantFrom('a Needle', 'blue', 'needle, Blue', 'x'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 25 }),
        fc.array(filters, { minLength: 4, maxLength: 4 }),
        fc.nat(25),
        async (calls, wanted, when) => {
          const tenantId = `any-${made++}`;
          for (const [n, { tool, session, agent, fate, toolCallId, words }] of calls.entries()) {
            if (n === when) await project();
            const meta = { tool, ...(session && { sessionId: session }), ...(agent && { agentId: agent }) };
            const priority = n % 2 === 0 ? 'high' : 'normal';
            const pool = tool === 'shell' ? 'shell' : 'read';
            const callId = await submit(tenantId, meta, { pool, priority, arguments: { words }, ...(toolCallId && { toolCallId }) });
            if (fate === 'running') await start(callId);
            if (fate === 'failed') await fail(callId, `broke at line ${n}`);
            if (fate === 'cancelled') await cancel(callId);
          }
          const everything = await all(tenantId);
          expect(everything).toHaveLength(calls.length);
          for (const filter of wanted) {
            const expected = everything.filter((one) => plainlyFits(one, filter));
            expect(ids(await all(tenantId, { ...filter, limit: 3 }))).toEqual(ids(expected));
            expect(await index.count(tenantId, ListCallsQuery.omit({ limit: true }).parse(filter))).toEqual({
              count: expected.length,
              exact: true,
            });
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it('lists calls by risk and time, each once, projected or not, while others arrive', async () => {
    const ranks = ['high', 'medium', 'low', undefined];
    const some = fc.array(fc.constantFrom('high', 'medium', 'low', undefined), { maxLength: 12 });
    let made = 0;
    await fc.assert(
      fc.asyncProperty(some, some, fc.array(some, { maxLength: 4 }), fc.integer({ min: 1, max: 5 }), async (old, fresh, coming, limit) => {
        const tenantId = `by-risk-${made++}`;
        const come = async (risks: typeof old) => {
          for (const risk of risks) await submit(tenantId, {}, { decision: { effect: 'allow', reasons: [], risk } });
        };
        await come(old);
        await project();
        await come(fresh);
        const stay = ids(await all(tenantId));
        const listed: CallSummary[] = [];
        for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
          const { calls, nextCursor } = await index.page(tenantId, query({ sort: 'risk', limit, ...(cursor && { cursor }) }));
          listed.push(...calls);
          cursor = nextCursor;
          await come(coming[page] ?? []);
          if (page % 2 === 1) await project();
        }
        const places = listed.map(({ risk, submittedAt, id }) => ({ rank: ranks.indexOf(risk), at: submittedAt, id }));
        const sorted = [...places].sort(
          (a, b) => a.rank - b.rank || Date.parse(b.at) - Date.parse(a.at) || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1),
        );
        expect(places).toEqual(sorted);
        expect(new Set(ids(listed)).size).toBe(listed.length);
        expect(stay.filter((id) => !ids(listed).includes(id))).toEqual([]);
        const low = await all(tenantId, { sort: 'risk', risk: 'low,high', limit });
        expect(ids(low)).toEqual(ids(await all(tenantId, { sort: 'risk' })).filter((id) => low.some((call) => call.id === id)));
        expect(low.map(({ risk }) => ranks.indexOf(risk))).toEqual(low.map(({ risk }) => ranks.indexOf(risk)).toSorted((a, b) => a - b));
      }),
      { numRuns: 25 },
    );
  });

  it('refuses the cursor of another order of calls', async () => {
    for (let n = 0; n < 2; n += 1) await submit('orders');
    const cursorOf = async (sort: 'newest' | 'risk') => (await index.page('orders', query({ sort, limit: 1 }))).nextCursor ?? '';
    for (const [sort, cursor] of [
      ['newest', await cursorOf('risk')],
      ['risk', await cursorOf('newest')],
      ['risk', '9.zz'],
    ] as const) {
      await expect((async () => index.page('orders', query({ sort, cursor })))()).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('finds calls by batch, parent, root and kind of failure', async () => {
    const parent = await submit('trees', { sessionId: 't' });
    const batchId = '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
    const child = await submit('trees', { sessionId: 't' }, { parentCallId: parent, batchId });
    const grandchild = await submit('trees', { sessionId: 't' }, { parentCallId: child });
    await fail(child, 'File "a.txt" has no line 17');
    const alike = await submit('trees', { sessionId: 't' });
    await fail(alike, 'File "b.txt" has no line 4');
    await project();
    expect(ids(await all('trees', { parentCallId: parent }))).toEqual([child]);
    expect(ids(await all('trees', { rootCallId: parent }))).toEqual([grandchild, child]);
    expect(ids(await all('trees', { batchId }))).toEqual([child]);
    const [one] = await all('trees', { batchId });
    expect(ids(await all('trees', { fingerprint: one?.fingerprint ?? '' }))).toEqual([alike, child]);
    expect(one).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed' }, runMs: 7 });
    expect(one?.waitMs).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['the tool', 'file_RE', 0],
    ['a label', 'blue', 1],
    ['the arguments', 'needle', 2],
    ['an id of the model’s', 'tc-77', 3],
  ])('finds text of the history in %s', async (_where, q, which) => {
    const found = await Promise.all([
      submit('texts', { tool: 'file_read' }),
      submit('texts', {}, { labels: { colour: 'Blue' } }),
      submit('texts', {}, { arguments: { path: 'a Needle' } }),
      submit('texts', {}, { toolCallId: 'tc-77' }),
    ]);
    expect(ids(await all('texts', { q }))).toContain(found[which]);
    expect(ids(await all('texts', { q })).some((id) => id === found[(which + 1) % 4])).toBe(false);
  });

  it('finds the words of an error, and all words of a long id of the model’s', async () => {
    const toolCallId = Array.from({ length: 60 }, (_, n) => `c${n}`).join('-');
    const rare = await submit('words', { sessionId: 'busy' }, { arguments: { text: 'a haystack with zebrafish' }, toolCallId });
    await Promise.all(Array.from({ length: 100 }, (_, n) => submit('words', { sessionId: 'busy' }, { arguments: { text: `hay ${n}` } })));
    await project();
    expect(ids(await all('words', { q: 'zebra' }))).toEqual([rare]);
    expect(ids(await all('words', { q: rare }))).toEqual([rare]);
    expect(ids(await all('words', { toolCallId }))).toEqual([rare]);
    expect(ids(await all('words', { toolCallId: ['other', toolCallId], q: 'zebra' }))).toEqual([rare]);
    expect(await index.count('words', { toolCallId: [toolCallId.slice(0, -1)] })).toEqual({ count: 0, exact: true });
    await fail(rare, 'quokka is not a file');
    await project();
    expect(ids(await all('words', { q: 'quokk' }))).toEqual([rare]);
    expect(await index.count('words', { q: 'zebrafish' })).toEqual({ count: 1, exact: true });
  });

  it('stores texts that PostgreSQL cannot store with a replacement character', async () => {
    const callId = await submit('texts-odd', {}, { toolCallId: 'nul\0half\uD800', labels: { name: 'a\0b' } });
    await fail(callId, 'broke at \0 and \uDC00');
    await project();
    const [call] = await all('texts-odd', { toolCallId: ['nul\0half\uD800'] });
    expect(call).toMatchObject({ id: callId, labels: { name: 'a\uFFFDb' }, error: { message: 'broke at \uFFFD and \uFFFD' } });
  });

  it('refuses a foreign cursor of calls, and a search text without words', async () => {
    await expect(index.page('pages', query({ cursor: 'abc' }))).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(index.page('pages', query({ q: '!?' }))).rejects.toMatchObject({ facts: { errors: [{ pointer: '/q' }] } });
    const sessions = new SessionList(db, reader, PARTITIONS);
    await expect(sessions.page('pages', { limit: 5, cursor: 'abc' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('reports the lag of the history when the log is too far ahead to read', async () => {
    await redis.incrby(keys.seq('00'), 10_000);
    const { behind } = await index.page('pages', query());
    expect(behind?.events).toBeGreaterThanOrEqual(10_000);
    expect(await index.count('pages', query())).toMatchObject({ exact: false, behind: { events: behind?.events } });
    await redis.decrby(keys.seq('00'), 10_000);
    await project();
    expect((await index.page('pages', query())).behind).toBeUndefined();
  });

  it('reads at most 4 MiB of the log for an answer, and reports the lag', async () => {
    const preview = 'x'.repeat(60_000);
    const calls = Array.from({ length: 300 }, () => submit('sizes', {}, { labels: { preview } }));
    await Promise.all(calls);
    const { behind } = await index.page('sizes', query());
    expect([behind === undefined, (behind?.events ?? 0) <= 300]).toEqual([false, true]);
    await project();
    expect((await index.page('sizes', query())).behind).toBeUndefined();
  });

  /** Waits for the next millisecond, since calls of one millisecond have no order. */
  const nextMillisecond = async () => {
    const now = async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    const from = await now();
    await eventually(async () => (await now()) > from, 'the next millisecond');
  };

  it('lists sessions, the latest active first, page by page', async () => {
    for (const sessionId of ['one', 'two', 'three', 'four', 'two']) await submit('sessions', { sessionId, agentId: `of-${sessionId}` });
    await nextMillisecond();
    await fail(await submit('sessions', { sessionId: 'one' }, { labels: { goal: 'mend the login' } }), 'broke');
    await project();
    const list = new SessionList(db, reader, PARTITIONS);
    const first = await list.page('sessions', { limit: 3 });
    const rest = await list.page('sessions', { limit: 3, cursor: first.nextCursor ?? '' });
    const found = [...first.sessions, ...rest.sessions];
    expect(found[0]).toMatchObject({ sessionId: 'one', agentId: 'of-one', calls: 2, running: 1, failed: 1 });
    expect(new Set(found.map(({ sessionId }) => sessionId))).toEqual(new Set(['one', 'two', 'three', 'four']));
    expect(found).toHaveLength(4);
    expect(rest.nextCursor).toBeUndefined();
    expect(found[0]).toMatchObject({
      goal: 'mend the login',
      lastCall: { tool: 'echo' },
      recent: [{ status: 'ended', outcome: 'failed', isError: true }, { status: 'queued' }],
    });
    const named = async (search: Partial<ListSessionsQuery>) =>
      (await list.page('sessions', { limit: 5, ...search })).sessions.map(({ sessionId }) => sessionId);
    expect(await named({ agentId: ['of-two', 'of-four'] })).toEqual(['two', 'four']);
    expect(await named({ q: 'HRE' })).toEqual(['three']);
  });

  it('groups failures with their times before and in the period, and who is affected', async () => {
    for (const [agentId, sessionId] of [
      ['ada', 's1'],
      ['ada', 's2'],
      ['bob', 's2'],
    ] as const)
      await fail(await submit('groups', { agentId, sessionId }), 'disk 7 is full');
    await fail(await submit('groups'), 'fan 3 is loud');
    await project();
    const groups = async (since: number, until: number) => {
      const query = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
      return (await new Numbers(db, reader, PARTITIONS).failures('groups', query)).failures;
    };
    const now = Date.now();
    const [disk, fan] = await groups(now - 3_600_000, now);
    expect(disk).toMatchObject({
      count: 3,
      agents: { count: 2, names: ['ada', 'bob'] },
      sessions: { count: 2, names: ['s1', 's2'] },
    });
    expect(disk).not.toHaveProperty('previousSeen');
    expect(disk?.counts).toHaveLength(24);
    expect(disk?.counts.reduce((sum, calls) => sum + calls, 0)).toBe(3);
    expect(fan).toMatchObject({ count: 1, agents: { count: 0, names: [] } });
    await db
      .updateTable('calls')
      .set({ submitted_at: new Date(now - 86_400_000), ended_at: new Date(now - 86_400_000) })
      .where('id', '=', disk?.lastCallId ?? '')
      .execute();
    const [later] = await groups(now - 3_600_000, now);
    expect(later).toMatchObject({ count: 2, previousSeen: new Date(now - 86_400_000).toISOString() });
  });
});

function plainlyFits(call: CallSummary, { q, ...filter }: Record<string, string | string[] | undefined>): boolean {
  const fields = { ...call, errorCode: call.error?.code } as Record<string, unknown>;
  const words = `${call.preview} ${call.tool} ${call.error?.message ?? ''}`.toLowerCase().split(/[^a-z]+/);
  const texts = typeof q === 'string' ? q.split(' ') : [];
  return (
    Object.entries(filter).every(([name, values]) => values === undefined || values.includes(String(fields[name]))) &&
    texts.every((text) => words.some((word) => word.startsWith(text)))
  );
}
