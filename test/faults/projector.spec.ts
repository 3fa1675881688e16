import { spawn } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallPage, Diagnostics } from '#contracts';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestPostgres, type TestPostgres } from '../support/postgres.js';
import { freePort } from '../support/free-port.mjs';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';
import { withoutWaitingLines } from '../support/waiting-lines.js';

let postgres: TestPostgres;
let cluster: TestCluster;
let agent: Agent;

beforeAll(async () => {
  postgres = await startTestPostgres();
  cluster = await startTestCluster({ gateways: 1, workers: 1, env: { DATABASE_URL: postgres.url } });
  agent = new Agent(cluster.gateways[0]?.url ?? '', TEST_KEY);
});
afterAll(async () => {
  await cluster.close();
  await postgres.stop();
});

/** `npm run projector` as a process of its own. */
async function projector(env: Record<string, string> = {}) {
  const port = await freePort();
  const child = spawn(process.execPath, ['dist/apps/projector/src/main.js'], {
    env: {
      ...process.env,
      REDIS_URL: cluster.redis.url,
      DATABASE_URL: postgres.url,
      PROJECTOR_PORT: String(port),
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const ready = () => eventually(async () => (await get('/readyz').catch(() => undefined))?.status === 200, 'the projector to be ready');
  return { child, ended, get, ready, said: () => said };
}

describe('a projector', () => {
  it('fills the tables by a projector, which is not needed for a call to be listed afterwards', async () => {
    const { body: early } = await agent.submit('echo', { text: 'early' }, {}, { prefer: 'wait=60' });
    const { child, ended, get, ready } = await projector();
    await ready();
    await eventually(async () => /toolyard_projection_events_total [1-9]/.test((await get('/metrics')).text), 'the events to be counted');
    expect((await get('/livez')).status).toBe(200);
    const { body } = await agent.get<Diagnostics>('/v1/diagnostics');
    expect(body.processes.map(({ kind }) => kind)).toContain('projector');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);

    const { body: late } = await agent.submit('echo', { text: 'late' }, {}, { prefer: 'wait=60' });
    const { calls, behind } = (await agent.get<CallPage>('/v1/calls')).body;
    expect([calls.map(({ id, outcome }) => [id, outcome]), behind]).toEqual([
      [
        [late.id, 'completed'],
        [early.id, 'completed'],
      ],
      undefined,
    ]);
  });

  it('makes the same rows by a projector as by `toolyard history rebuild`', async () => {
    const { child, ended, ready } = await projector();
    await ready();
    const { body: call } = await agent.submit('echo', { text: 'rebuilt' }, {}, { prefer: 'wait=60' });
    const before = (await agent.get<CallPage>('/v1/calls')).body.calls;
    const env = { REDIS_URL: cluster.redis.url, DATABASE_URL: postgres.url };
    const rebuilt = await startCli(['history', 'rebuild'], { url: '', env }).ended();
    expect([rebuilt.code, rebuilt.err]).toEqual([0, '']);
    expect(rebuilt.out.match(/^partition \d\d: \d+ events$/gm)).toHaveLength(16);
    child.kill('SIGTERM');
    await ended;
    const { calls, behind } = (await agent.get<CallPage>('/v1/calls')).body;
    expect([calls, behind, calls[0]?.id]).toEqual([before, undefined, call.id]);

    const refused = await startCli(['history', 'rebuild'], { url: '', env: { ...env, PARTITIONS: '4' } }).ended();
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('event log of 16 partitions, but PARTITIONS is 4') });
    const unset = await startCli(['history', 'rebuild'], { url: '', env: {} }).ended();
    expect(unset).toMatchObject({ code: 2, err: expect.stringContaining('Set REDIS_URL and DATABASE_URL') });
  });

  it('exits a projector with one sentence when the database does not answer, and without its password', async () => {
    const { ended, said } = await projector({ DATABASE_URL: 'postgres://someone:very-secret-word@127.0.0.1:1/history' });
    expect(await ended).toBe(1);
    expect(withoutWaitingLines(said())).toMatch(
      /^The projector cannot start\. The history database does not answer: .*ECONNREFUSED.*\. Start the database, or correct DATABASE_URL\.\n$/,
    );
    expect(said()).not.toContain('very-secret-word');
  });

  it('exits a projector with one sentence if its user may create nothing', async () => {
    const owner = new pg.Client({ connectionString: postgres.url });
    await owner.connect();
    await owner.query('create database other');
    await owner.query('create role limited login');
    await owner.end();
    const { ended, said } = await projector({
      DATABASE_URL: postgres.url.replace('toolyard@localhost/postgres', 'limited@localhost/other'),
    });
    expect(await ended).toBe(1);
    expect(said()).toMatch(/refused a statement: permission denied .*\. The user of DATABASE_URL needs CREATE on the database\.\n$/);
  });

  it('exits a projector with one sentence when a newer release has changed the tables', async () => {
    const first = await projector();
    await first.ready();
    first.child.kill('SIGTERM');
    await first.ended;
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    await database.query("insert into toolyard.kysely_migration (name, timestamp) values ('9999-later', now()::text)");
    const { ended, said } = await projector();
    expect(await ended).toBe(1);
    await database.query("delete from toolyard.kysely_migration where name = '9999-later'");
    await database.end();
    expect(withoutWaitingLines(said())).toBe(
      'The projector cannot start. The tables of the history database were changed by a newer release: this one does not know 9999-later. ' +
        'Start the newer release. To stay with this one, delete the tables (drop schema toolyard cascade): they are made again from the log.\n',
    );
  });

  it('explains faults in the environment of a projector', async () => {
    const { ended, said } = await projector({ DATABASE_URL: 'mysql://x', PROJECTOR_PORT: 'high' });
    expect(await ended).toBe(1);
    expect(said()).toContain('DATABASE_URL: expected an address such as postgres://user:password@host:5432/database');
    expect(said()).toContain('PROJECTOR_PORT: expected a port from 0');
  });
});
