import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findPostgres } from '../../apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres, type PrivatePostgres } from '../../apps/standalone/src/postgres/private-postgres.js';
import type { ApprovalPage, Call, CallPage, Problem, Stats } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** AWAY_SECONDS=60 for a minute. */
const AWAY_SECONDS = Number(process.env['AWAY_SECONDS'] ?? 4);
const CALLS_A_SECOND = 500;
const CLIENTS = 20;

describe('PostgreSQL, away while 500 calls a second come', () => {
  let folder: string;
  let postgres: PrivatePostgres;
  let cluster: TestCluster;
  let agent: Agent;

  const start = async () => {
    const programs = findPostgres(folder);
    if (programs === undefined) throw new Error('PostgreSQL is missing. Install the optional npm packages: npm ci.');
    postgres = await startPrivatePostgres(join(folder, 'postgres'), programs, () => {});
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-away-'));
    await start();
    const env = { DATABASE_URL: postgres.url, ARCHIVE_URL: `file://${folder}/archive` };
    cluster = await startTestCluster({ env: { ...env, DEFAULT_AUTONOMY: 'supervised' } });
    await cluster.projector(env);
    agent = new Agent(cluster.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await cluster?.close();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const isThere = async () => (await agent.get(`/v1/calls`)).status === 200;
  const isUnavailable = async () => {
    const { status, body } = await agent.get<Problem>('/v1/calls');
    return status === 503 && body.code === 'history_unavailable';
  };

  /** Calls until `during` has come to its end; each answer with its End. */
  const callUntil = async (during: Promise<unknown>) => {
    const answers: { status: number; body: Call }[] = [];
    let isOver = false;
    void during.finally(() => (isOver = true)).catch(() => {});
    const client = async () => {
      for (let next = performance.now(); !isOver; next += (CLIENTS * 1_000) / CALLS_A_SECOND) {
        answers.push(await agent.submit('echo', { n: answers.length }, {}, { prefer: 'wait=30' }));
        await delay(next - performance.now());
      }
    };
    await Promise.all([during, ...Array.from({ length: CLIENTS }, client)]);
    return answers;
  };

  /** Checks requests that need no database: a single call, calls that wait for a person, queues, workers, settings of a session. */
  const expectLive = async () => {
    const waiting = await agent.accepted('shell', { command: 'true' }, { sessionId: 'asked' });
    expect((await agent.get(`/v1/calls/${waiting.id}`)).body).toMatchObject({ status: 'waiting_approval' });
    const { status, body } = await agent.get<ApprovalPage>('/v1/approvals');
    expect([status, body.calls.map(({ id }) => id)]).toEqual([200, [waiting.id]]);
    for (const path of ['/v1/queues', '/v1/workers', '/v1/sessions/asked'])
      expect([path, (await agent.get(path)).status]).toEqual([path, 200]);
    const decided = await agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow', scope: 'once' });
    expect(decided.status).toBe(200);
    expect(await agent.ended(waiting.id)).toMatchObject({ outcome: 'completed' });
  };

  const expectListed = async (answers: readonly { status: number; body: Call }[]) => {
    expect(answers.filter(({ status, body }) => status !== 200 || body.outcome !== 'completed')).toEqual([]);
    await eventually(async () => (await agent.get<Stats>('/v1/stats')).body.behind === undefined, 'the rows to be complete');
    const listed = new Set<string>();
    for (let query = '?limit=200', more = true; more;) {
      const { calls, nextCursor } = (await agent.get<CallPage>(`/v1/calls${query}`)).body;
      for (const { id, outcome } of calls) if (outcome === 'completed') listed.add(id);
      query = `?limit=200&cursor=${encodeURIComponent(nextCursor ?? '')}`;
      more = nextCursor !== undefined;
    }
    expect(answers.filter(({ body }) => !listed.has(body.id))).toEqual([]);
    console.log(`${answers.length} calls in ${AWAY_SECONDS} s without a database`);
  };

  it(
    'fails no call while PostgreSQL is stopped, and lists all of them afterwards',
    async () => {
      const away = async () => {
        await postgres.stop();
        await eventually(isUnavailable, 'lists to be unavailable');
        await delay(AWAY_SECONDS * 1_000);
        expect(await isUnavailable()).toBe(true);
        await expectLive();
      };
      const answers = await callUntil(away());
      await start();
      await eventually(isThere, 'lists to come back');
      await expectListed(answers);
    },
    AWAY_SECONDS * 2_000 + 300_000,
  );

  it(
    'fails no call while PostgreSQL accepts connections without answering, and lists all of them afterwards',
    async () => {
      const away = async () => {
        const pids = await stopProcessesOf(postgres);
        try {
          await eventually(isUnavailable, 'lists to be unavailable');
          await delay(AWAY_SECONDS * 1_000);
        } finally {
          for (const pid of pids) process.kill(pid, 'SIGCONT');
        }
      };
      const answers = await callUntil(away());
      await eventually(isThere, 'lists to come back');
      await expectListed(answers);
    },
    AWAY_SECONDS * 2_000 + 300_000,
  );
});

/**
 * Stops the server and its connections (SIGSTOP), to be resumed in the order of the answer: the server first and last, since it
 * neither starts nor reaps a process while it is stopped.
 */
async function stopProcessesOf({ pid = 0 }: PrivatePostgres): Promise<number[]> {
  process.kill(pid, 'SIGSTOP');
  await eventually(() => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), 'the server to be stopped');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  for (const child of children) process.kill(child, 'SIGSTOP');
  return [...children, pid];
}
