import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Batch, Call, CallEvent, Session } from '#contracts';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { writeDataFolder } from '../support/data-folder.js';
import { eventually } from '../support/eventually.js';
import { readFullLog, type FullLog } from '../support/log-invariants.js';
import { cleanUp, freshDirectory, spawnStandalone, type StandaloneProcess } from '../support/standalone.js';

interface Written {
  readonly writtenAt: string;
  readonly calls: Record<
    string,
    { readonly id: string; readonly status: string; readonly outcome?: string; readonly events: readonly string[] }
  >;
  readonly batches: Record<string, { readonly id: string }>;
}

const file = (type: string) => readFileSync(new URL(`../replay/data-folder.c0478b4.${type}`, import.meta.url));

/**
 * The data of `npm start` of the release at c0478b4, killed (SIGKILL) while calls waited and ran. A failure here means that
 * installations of that release cannot be upgraded: mend the reading, never the recording.
 */
describe('a data folder of the first release, started by this one', () => {
  const written: Written = JSON.parse(String(file('json')));
  const ids = Object.fromEntries(Object.entries(written.calls).map(([name, { id }]) => [name, id]));
  const ended = Object.entries(written.calls).filter(([, { status }]) => status === 'ended');
  let toolyard: StandaloneProcess;
  let agent: Agent;

  beforeAll(async () => {
    const folder = freshDirectory();
    writeDataFolder(folder, gunzipSync(file('aof.gz')), Date.now() - Date.parse(written.writtenAt));
    toolyard = await spawnStandalone(folder, { DATABASE_URL: '' });
    await toolyard.up();
    agent = new Agent(toolyard.url);
  });
  afterAll(cleanUp);

  const textOf = ({ result }: Call) => (result?.content ?? []).flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
  const decide = (name: string, decision: 'allow' | 'deny') =>
    agent.request('POST', `/v1/calls/${ids[name]}/decision`, { decision, scope: 'once' });

  /** What the first release started or ended has no count of updates in its End: that release counted those of an attempt only. */
  const lacksProof = (violation: string, log: FullLog) => {
    const [, callId = ''] = /^updates of (\S+): its End says undefined undefined,/.exec(violation) ?? [];
    const isByThen = ({ type, time }: CallEvent) => (type === 'call.start' || type === 'call.end') && time < written.writtenAt;
    return (log.calls.get(callId) ?? []).some(isByThen);
  };

  it.each(ended.map(([name]) => name))('keeps the ended call "%s" of the first release with its events', async (name) => {
    const { id, outcome, events } = written.calls[name] ?? { id: '', events: [] };
    expect((await agent.get(`/v1/calls/${id}`)).body).toMatchObject({ id, status: 'ended', outcome });
    expect((await agent.events(id)).map(({ type }) => type)).toEqual(events);
  });

  it('keeps results of the first release: text, a whole large output, an exit code', async () => {
    const call = async (name: string) => (await agent.get(`/v1/calls/${ids[name]}`)).body;
    expect(textOf(await call('shell'))).toContain('hello');
    expect(await call('failed')).toMatchObject({ isError: true });
    expect(textOf(await call('large'))).toContain('output truncated');
    const { body } = await agent.get<string>(`/v1/calls/${ids['large']}/output`);
    expect(body).toBe(Array.from({ length: 30_000 }, (_unused, n) => `${n + 1}\n`).join(''));
  });

  it('runs queued calls of the first release once', async () => {
    const queued = await Promise.all(['queued', 'queuedLow'].map((name) => agent.ended(ids[name] ?? '')));
    expect(queued).toMatchObject([
      { outcome: 'completed', attempt: 1 },
      { outcome: 'completed', attempt: 1 },
    ]);
    expect(queued.map(textOf)).toEqual([expect.stringContaining('after the upgrade'), expect.stringContaining('low')]);
  });

  it('ends running calls of the first release, whose commands may have had an effect, as unknown', async () => {
    for (const name of ['running', 'running2']) {
      const call = await agent.ended(ids[name] ?? '');
      expect(call).toMatchObject({ outcome: 'unknown', attempt: 1, error: { code: 'outcome_unknown' } });
      const events = await agent.events(call.id);
      expect(events.map(({ type }: CallEvent) => type)).toEqual([...(written.calls[name]?.events ?? []), 'call.end']);
    }
  });

  it('keeps batches of the first release, and ends the one that ran', async () => {
    const read = async (name: string) => (await agent.get<Batch>(`/v1/batches/${written.batches[name]?.id}`)).body;
    expect(await read('batch')).toMatchObject({ status: 'ended', results: [1, 2, 3].map(() => ({ outcome: 'completed' })) });
    const batch = await eventually(async () => {
      const found = await read('runningBatch');
      return found.status === 'ended' ? found : undefined;
    }, 'the batch to end');
    // The message of a person, who wrote it before the kill, stops the rest.
    expect(batch.results.map(({ outcome }) => outcome)).toEqual(['unknown', 'cancelled', 'cancelled', 'cancelled']);
    expect(batch).toMatchObject({ stopped: { reason: 'steered' }, steering: [{ message: 'please hurry' }] });
  });

  it('keeps sessions of the first release with posture, tools and grants, which still hold', async () => {
    const { body } = await agent.get<Session>('/v1/sessions/careful');
    expect(body).toMatchObject({
      posture: { autonomy: 'supervised', permissionMode: 'workspace-write' },
      allowedTools: ['file_read'],
      strategy: { type: 'tiered' },
    });
    expect(await agent.run('shell', { command: 'echo trusted' }, { sessionId: 'careful' })).toMatchObject({ outcome: 'completed' });
    const asked = await agent.submit('shell', { command: 'echo not trusted' }, { sessionId: 'careful' });
    expect(asked.body).toMatchObject({ status: 'waiting_approval' });
    await agent.request('POST', `/v1/calls/${asked.body.id}/decision`, { decision: 'deny' });
  });

  it('counts approvals that waited in the first release, and removes the key in which that counted them', async () => {
    // A scrape leaves out what Redis does not answer within 2 s.
    const metrics = await eventually(async () => {
      const text = await (await fetch(`${toolyard.url}/metrics`)).text();
      return /^toolyard_approvals_waiting_calls \d/m.test(text) ? text : undefined;
    }, 'the approvals to be counted');
    const askedMs = Date.now() - Date.parse((await agent.get(`/v1/calls/${ids['waiting']}`)).body.submittedAt);
    const valueOf = (name: string) => Number(new RegExp(`^toolyard_approvals_${name} (.+)$`, 'm').exec(metrics)?.[1]);
    expect(valueOf('waiting_calls')).toBe(2);
    const oldest = valueOf('oldest_seconds');
    expect(oldest).toBeGreaterThan(0);
    expect(oldest).toBeLessThanOrEqual(askedMs / 1_000);
    const redis = createRedis(`unix://${join(toolyard.data, 'redis.sock')}`);
    expect(await redis.exists('approvals')).toBe(0);
    redis.disconnect();
  });

  it('lists approvals that waited, says that their tool has changed since, and cancels them', async () => {
    const { body } = await agent.get<{ approvals: { call: Call }[] }>('/v1/approvals');
    expect(JSON.stringify(body)).toContain(ids['waiting']);
    const decided = await decide('waiting', 'allow');
    expect([decided.status, JSON.stringify(decided.body)]).toEqual([409, expect.stringContaining('its tool has changed')]);
    for (const name of ['waiting', 'waitingToo']) {
      await agent.request('POST', `/v1/calls/${ids[name]}/cancel`, {});
      expect((await agent.ended(ids[name] ?? '')).outcome).toBe('cancelled');
    }
  });

  it('proves the updates of calls that it did not start; those of started ones are absent from End, not wrong', async () => {
    const updatesOf = async (name: string) => {
      const end = (await agent.events(ids[name] ?? '')).at(-1);
      return end?.type === 'call.end' ? end.data.updates : 'no End';
    };
    expect(await updatesOf('queued')).toMatchObject({ count: expect.any(Number) });
    expect(await updatesOf('waitingToo')).toEqual({ count: 0, sha256: createHash('sha256').digest('hex') });
    expect([await updatesOf('running'), await updatesOf('running2')]).toEqual([undefined, undefined]);
  });

  it('knows the idempotency keys of the first release', async () => {
    const again = await agent.submit('echo', { n: 2 }, { sessionId: 'work' }, { 'idempotency-key': 'key-1' });
    expect(again.body.id).toBe(ids['keyed']);
  });

  it('removes the lists that the first release kept in Redis', async () => {
    const redis = createRedis(`unix://${join(toolyard.data, 'redis.sock')}`);
    await eventually(async () => (await redis.keys('{p*}:view*')).length === 0, 'the lists to be removed');
    redis.disconnect();
  });

  it('lists the calls of the first release', async () => {
    const listed = await eventually(async () => {
      const { body } = await agent.get<{ calls: Call[] }>('/v1/calls?sessionId=work&limit=100');
      return body.calls.length > 8 ? body.calls.map(({ id }) => id) : undefined;
    }, 'the calls of the session');
    expect(listed).toEqual(expect.arrayContaining([ids['shell'], ids['large'], ids['cancelled'], ids['running']]));
  });

  it('keeps the invariants of the log of the first release to the last call', async () => {
    const redis = createRedis(`unix://${join(toolyard.data, 'redis.sock')}`);
    try {
      // Registrations of its idle workers expire.
      expect((await redis.keys('{q-*}:calls:*')).filter((key) => !key.includes(':idle:'))).toEqual([]);
      const log = await readFullLog(redis, 16, { atRest: true });
      expect(log.violations.filter((line) => !lacksProof(line, log))).toEqual([]);
      expect([...log.calls.keys()]).toEqual(expect.arrayContaining(Object.values(ids)));
      for (const events of log.calls.values()) expect(events.filter(({ type }) => type === 'call.end')).toHaveLength(1);
    } finally {
      redis.disconnect();
    }
  });
});
