import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ApiKey, Batch, Call, CallEvent, Schedule, Session } from '#contracts';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { writeDataFolder } from '../support/data-folder.js';
import { eventually } from '../support/eventually.js';
import { readFullLog } from '../support/log-invariants.js';
import { cleanUp, freshDirectory, spawnStandalone, type StandaloneProcess } from '../support/standalone.js';

interface Written {
  readonly writtenAt: string;
  readonly calls: Record<
    string,
    { readonly id: string; readonly status: string; readonly outcome?: string; readonly events: readonly string[] }
  >;
  readonly batches: Record<string, { readonly id: string }>;
  readonly keyId: string;
  readonly scheduleId: string;
}

const file = (name: string) => readFileSync(new URL(`../replay/${name}`, import.meta.url));
const RELEASES = readdirSync(new URL('../replay/', import.meta.url)).flatMap((name) => /^data-folder\.(.+)\.json$/.exec(name)?.[1] ?? []);

/**
 * The data of standalone of a release, killed while calls waited and ran (test/replay/record.mjs). A failure here means that
 * installations of that release cannot be upgraded: mend the reading, never the recording.
 */
describe.each(RELEASES)('a data folder of release %s, started by this one', (release) => {
  const written: Written = JSON.parse(String(file(`data-folder.${release}.json`)));
  const ids = Object.fromEntries(Object.entries(written.calls).map(([name, { id }]) => [name, id]));
  const ended = Object.entries(written.calls).filter(([, { status }]) => status === 'ended');
  let toolyard: StandaloneProcess;
  let agent: Agent;

  beforeAll(async () => {
    const folder = freshDirectory();
    writeDataFolder(folder, gunzipSync(file(`data-folder.${release}.aof.gz`)), Date.now() - Date.parse(written.writtenAt));
    toolyard = await spawnStandalone(folder, { DATABASE_URL: '' });
    await toolyard.up();
    agent = new Agent(toolyard.url);
  });
  afterAll(cleanUp);

  const textOf = ({ result }: Call) => (result?.content ?? []).flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
  const decide = (name: string, decision: 'allow' | 'deny') =>
    agent.request('POST', `/v1/calls/${ids[name]}/decision`, { decision, scope: 'once' });

  it.each(ended.map(([name]) => name))('keeps the ended call "%s" of a recorded release with its events', async (name) => {
    const { id, outcome, events } = written.calls[name] ?? { id: '', events: [] };
    expect((await agent.get(`/v1/calls/${id}`)).body).toMatchObject({ id, status: 'ended', outcome });
    expect((await agent.events(id)).map(({ type }) => type)).toEqual(events);
  });

  it('keeps results of an older release: text, a whole large output, an exit code', async () => {
    const call = async (name: string) => (await agent.get(`/v1/calls/${ids[name]}`)).body;
    expect(textOf(await call('shell'))).toContain('hello');
    expect(await call('failed')).toMatchObject({ isError: true });
    expect(textOf(await call('large'))).toContain('output truncated');
    const { body } = await agent.get<string>(`/v1/calls/${ids['large']}/output`);
    expect(body).toBe(Array.from({ length: 30_000 }, (_unused, n) => `${n + 1}\n`).join(''));
  });

  it('runs queued calls of an older release once', async () => {
    const queued = await Promise.all(['queued', 'queuedLow'].map((name) => agent.ended(ids[name] ?? '')));
    expect(queued).toMatchObject([
      { outcome: 'completed', attempt: 1 },
      { outcome: 'completed', attempt: 1 },
    ]);
    expect(queued.map(textOf)).toEqual([expect.stringContaining('after the upgrade'), expect.stringContaining('low')]);
  });

  it('ends running calls of an older release with uncertain effects as unknown', async () => {
    for (const name of ['running', 'running2']) {
      const call = await agent.ended(ids[name] ?? '');
      expect(call).toMatchObject({ outcome: 'unknown', attempt: 1, error: { code: 'outcome_unknown' } });
      const events = await agent.events(call.id);
      expect(events.map(({ type }: CallEvent) => type)).toEqual([...(written.calls[name]?.events ?? []), 'call.end']);
    }
  });

  it('keeps batches of an older release, and ends the running one', async () => {
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

  it('keeps sessions of an older release with posture, tools and grants in force', async () => {
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

  it('counts approvals that waited in an older release', async () => {
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
  });

  it('lists waiting approvals of an older release, runs one and cancels the other', async () => {
    const { body } = await agent.get<{ approvals: { call: Call }[] }>('/v1/approvals');
    expect(JSON.stringify(body)).toContain(ids['waiting']);
    expect((await decide('waiting', 'allow')).status).toBe(200);
    expect(textOf(await agent.ended(ids['waiting'] ?? ''))).toContain('waited');
    await agent.request('POST', `/v1/calls/${ids['waitingToo']}/cancel`, {});
    expect((await agent.ended(ids['waitingToo'] ?? '')).outcome).toBe('cancelled');
  });

  it('gives a value to a call that waited for input in an older release', async () => {
    await agent.request('POST', `/v1/calls/${ids['asking']}/input`, { value: 'next', attempt: 1 });
    expect(textOf(await agent.ended(ids['asking'] ?? ''))).toBe('next');
  });

  it('keeps a file trusted by name in an older release as a plain name, not as a glob', async () => {
    const { body } = await agent.get<Session>('/v1/sessions/literal');
    expect(body.grants).toMatchObject({
      allowedPaths: { read: [], write: [] },
      literalPaths: { allowed: { write: [expect.stringMatching(/^\/.*\/\*\*$/)] } },
    });
  });

  it('keeps keys and schedules created over HTTP in an older release', async () => {
    const { body: listed } = await agent.get<{ keys: ApiKey[] }>('/v1/keys');
    expect(listed.keys.find(({ id }) => id === written.keyId)).toMatchObject({ name: 'of the recording', scopes: ['read'] });
    const { body: schedule } = await agent.get<Schedule>(`/v1/schedules/${written.scheduleId}`);
    expect(schedule).toMatchObject({ cron: '0 7 * * 1', call: { tool: 'echo' } });
  });

  it('recognises the idempotency keys of an older release', async () => {
    const again = await agent.submit('echo', { n: 2 }, { sessionId: 'work' }, { 'idempotency-key': 'key-1' });
    expect(again.body.id).toBe(ids['keyed']);
  });

  it('lists the calls of an older release', async () => {
    const listed = await eventually(async () => {
      const { body } = await agent.get<{ calls: Call[] }>('/v1/calls?sessionId=work&limit=100');
      return body.calls.length > 8 ? body.calls.map(({ id }) => id) : undefined;
    }, 'the calls of the session');
    expect(listed).toEqual(expect.arrayContaining([ids['shell'], ids['large'], ids['cancelled'], ids['keyed']]));
  });

  it('keeps the invariants of the log of an older release to the last call', async () => {
    const redis = createRedis(`unix://${join(toolyard.data, 'redis.sock')}`);
    try {
      const log = await readFullLog(redis, 16, { atRest: true });
      expect(log.violations).toEqual([]);
      expect([...log.calls.keys()]).toEqual(expect.arrayContaining(Object.values(ids)));
      for (const events of log.calls.values()) expect(events.filter(({ type }) => type === 'call.end')).toHaveLength(1);
    } finally {
      redis.disconnect();
    }
  });
});
