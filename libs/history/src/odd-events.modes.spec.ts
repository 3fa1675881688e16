import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ListCallsQuery } from '#contracts';
import { EventLog, LogReader } from '#event-log';
import { createMetrics } from '#observability';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { appendRaw, type RawEvent } from '../../../test/support/raw-log.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, aSubmission } from '../../../test/support/sample-calls.js';
import { openHistoryDatabase, type HistoryDatabase } from './database/history-database.js';
import { migrateHistory } from './database/migrate-history.js';
import { CallList } from './query/call-list.js';
import type { SkippedEvent } from './rows/event-shape.js';
import { HistoryProjector } from './write/history-projector.js';

const TENANT = 'acme';
const END = { outcome: 'completed', attempts: 1 };

describe('an event of an odd shape', () => {
  let server: RedisServer;
  let postgres: TestPostgres;
  let redis: RedisConnection;
  let log: EventLog;
  let db: HistoryDatabase;
  let list: CallList;
  const metrics = createMetrics({ role: 'projector', version: 'test' });

  beforeAll(async () => {
    [server, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: 1 });
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
    list = new CallList(db, new LogReader(redis), 1);
  });
  afterAll(async () => {
    metrics.close();
    await log.close();
    redis.disconnect();
    await db.destroy();
    await Promise.all([server.stop(), postgres.stop()]);
  });

  const submit = async () => {
    const callId = log.newCallId(TENANT, 's');
    await log.accept(aCall(callId, { meta: { tenantId: TENANT, tool: 'echo', sessionId: 's' }, submitted: aSubmission() }));
    return callId;
  };
  const project = async () => {
    const skipped: SkippedEvent[] = [];
    const onSkippedEvent = (event: SkippedEvent) => void skipped.push(event);
    const projector = new HistoryProjector({ db, log: new LogReader(redis), partitions: 1, onSkippedEvent });
    while (await projector.round());
    return skipped;
  };
  const stored = async () => (await db.selectFrom('calls').select('id').execute()).map(({ id }) => id);

  it.each<[what: string, event: Omit<RawEvent, 'callId'>, fault: RegExp]>([
    ['has an unknown type', { type: 'call.teleported' }, /the type "call.teleported" is unknown/],
    ['has no type', { type: '' }, /the type "" is unknown/],
    ['has data that do not parse', { type: 'call.end', rest: '"data":{"outcome":' }, /JSON/],
    ['has facts that do not parse', { type: 'call.end', meta: '"tenantid":"acme' }, /JSON/],
    ['has no data', { type: 'call.end', rest: '"source":"/test"' }, /call.end: data: /],
    ['lacks a field', { type: 'call.approval_decided', data: {} }, /call.approval_decided: data.decision: /],
    ['lacks the tenant', { type: 'call.end', data: END, meta: '"tool":"echo"' }, /call.end: tenantid: /],
    ['has a number for a text', { type: 'call.end', data: { ...END, note: 7 } }, /call.end: data.note: /],
    ['has a text for a number', { type: 'call.end', data: { ...END, runMs: 'long' } }, /call.end: data.runMs: /],
    ['has half an error', { type: 'call.end', data: { ...END, error: { code: 'internal' } } }, /call.end: data.error.message: /],
    ['has a list for labels', { type: 'call.submitted', data: { ...aSubmission(), labels: [1] } }, /call.submitted: data.labels/],
    ['lacks its decision', { type: 'call.submitted', data: { ...aSubmission(), decision: undefined } }, /data.decision: /],
    ['has a number for a user', { type: 'call.submitted', data: { ...aSubmission(), userId: 7 } }, /data.userId: /],
    [
      'has a result with an odd part',
      { type: 'call.end', data: { ...END, result: { content: [{ type: 'text', text: 'a' }, 7] } } },
      /data.result.content.1: /,
    ],
    [
      'has null for arguments that are elsewhere',
      { type: 'call.submitted', data: { ...aSubmission(), argumentsRef: null } },
      /argumentsRef/,
    ],
  ])('skips an event that %s, counts and reports it once, and stops neither rows nor lists', async (_what, event, fault) => {
    const before = await submit();
    const seq = await appendRaw(redis, { callId: before, tenantId: TENANT, ...event });
    const after = await submit();
    const page = await list.page(TENANT, ListCallsQuery.parse({ limit: 2 }));
    expect(new Set(page.calls.map(({ id }) => id))).toEqual(new Set([before, after]));
    expect(await project()).toEqual([{ eventId: `1.0.${seq}`, partition: '00', fault: expect.stringMatching(fault) }]);
    expect(await stored()).toEqual(expect.arrayContaining([before, after]));
    expect(await project()).toEqual([]);
    expect(await metrics.scrape()).toMatch(/toolyard_projection_skipped_events_total\{partition="00"\} [1-9]/);
  });

  it('omits a call with an unreadable submission, and counts the others', async () => {
    const callId = log.newCallId(TENANT, 's');
    await appendRaw(redis, { callId, tenantId: TENANT, sessionId: 's', type: 'call.submitted', data: { tool: 'echo' } });
    await appendRaw(redis, { callId, tenantId: TENANT, sessionId: 's', type: 'call.end', data: END });
    const usual = await submit();
    expect(await project()).toHaveLength(1);
    const rows = await stored();
    expect([rows.includes(callId), rows.includes(usual)]).toEqual([false, true]);
    const counted = [...(await db.selectFrom('totals').selectAll().execute()), ...(await db.selectFrom('sessions').selectAll().execute())];
    expect(counted.map(({ calls }) => calls)).toEqual([rows.length, rows.length]);
  });

  it('reports events that were trimmed before the projection and are in no archive', async () => {
    await submit();
    await project();
    const seq = await redis.get(keys.seq('00'));
    const lost = await submit();
    const after = await submit();
    await redis.xtrim(keys.log('00'), 'MINID', `${Number(seq) + 2}-0`);
    const fault = expect.stringMatching(/^the events (\d+) to \1 are neither in the log nor in the archive/);
    expect(await project()).toEqual([{ eventId: `1.0.${Number(seq) + 1}`, partition: '00', fault }]);
    expect([(await stored()).includes(lost), (await stored()).includes(after)]).toEqual([false, true]);
  });

  it('accepts event values of a newer release', async () => {
    const callId = await submit();
    await appendRaw(redis, { callId, tenantId: TENANT, type: 'call.end', data: { ...END, outcome: 'vanished', newField: 1 } });
    expect(await project()).toEqual([]);
    expect(await db.selectFrom('calls').select('outcome').where('id', '=', callId).execute()).toEqual([{ outcome: 'vanished' }]);
  });
});
