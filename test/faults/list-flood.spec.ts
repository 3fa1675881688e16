import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { Problem } from '#contracts';
import type { HistoryDatabase } from '#history';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { openTestDatabase } from '../support/postgres.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const [BUSY, OTHER] = ['key-of-the-busy-tenant', 'key-of-another-tenant'];
const ASKED = 70;
/** Lists of one tenant accepted by a gateway: four run and sixty wait. */
const ACCEPTED = 64;

describe('a tenant that asks more than the database answers', () => {
  let folder: string;
  let cluster: TestCluster;
  let db: HistoryDatabase;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-flood-'));
    const key = (id: string, text: string) => ({ id, key: text, tenant: id, scopes: ['read', 'admin'] });
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ keys: [key('busy', BUSY), key('other', OTHER)] }));
    cluster = await startTestCluster({
      lists: true,
      workers: 0,
      gatewayEnv: { TOOLYARD_CONFIG: join(folder, 'config.json') },
    });
    db = openTestDatabase(cluster.databaseUrl ?? '');
  });
  afterAll(async () => {
    await db?.destroy();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const waiting = async () => {
    const { rows } = await sql`
      select pid from pg_stat_activity
      where datname = current_database() and application_name = 'toolyard-gateway' and wait_event_type = 'Lock'`.execute(db);
    return rows.length;
  };

  it('asks the database four questions of a tenant at once; others wait or get 429, and other tenants are served', async () => {
    const url = cluster.gateways[0]?.url ?? '';
    const answers: Promise<number>[] = [];
    const refused: Problem[] = [];
    await db.transaction().execute(async (blocker) => {
      await sql`lock table calls in access exclusive mode`.execute(blocker);
      for (let n = 0; n < ASKED; n += 1) {
        const path = n % 2 === 0 ? '/v1/calls:facets' : '/v1/failures';
        const asked = async () => {
          const { status, body } = await new Agent(url, BUSY).get<Problem>(path);
          if (status === 429) refused.push(body);
          return status;
        };
        answers.push(asked());
      }
      await eventually(() => refused.length === ASKED - ACCEPTED, 'what is too much to be refused');
      await eventually(async () => (await waiting()) === 4, 'four questions to wait for the table');
      answers.push(new Agent(url, OTHER).get('/v1/calls:facets').then(({ status }) => status));
      await eventually(async () => (await waiting()) === 5, 'the question of the other tenant to be asked');
    });
    expect(refused[0]).toMatchObject({ code: 'too_many_requests', retryAfterMs: 2_000, detail: expect.stringContaining('60 may wait') });
    const statuses = await Promise.all(answers);
    expect(statuses.filter((status) => status === 200)).toHaveLength(ACCEPTED + 1);
    expect(refused).toHaveLength(ASKED - ACCEPTED);
  });

  it('runs one test of a policy at a time per tenant', async () => {
    const url = cluster.gateways[0]?.url ?? '';
    const test = (key: string) => new Agent(url, key).request<Problem>('POST', '/v1/policy:test', { config: {} });
    const held = await db.transaction().execute(async (blocker) => {
      await sql`lock table calls in access exclusive mode`.execute(blocker);
      const first = test(BUSY);
      await eventually(async () => (await waiting()) === 1, 'the test to ask for its calls');
      const { status, headers, body } = await test(BUSY);
      expect([status, body.code, Number(headers.get('retry-after')) > 0]).toEqual([429, 'too_many_requests', true]);
      expect(body.detail).toContain('at most 1 tests of a policy');
      const other = test(OTHER);
      await eventually(async () => (await waiting()) === 2, 'the test of the other tenant to run, too');
      return [first, other];
    });
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await test(BUSY)).status).toBe(200);
  });

  it('frees a tenant’s turns of disconnected clients', async () => {
    const { host, hostname, port } = new URL(cluster.gateways[0]?.url ?? '');
    let refusals = 0;
    const open = (path: string) => {
      const socket = connect(Number(port), hostname);
      socket.once('data', () => (refusals += 1));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${BUSY}\r\n\r\n`);
      return socket;
    };
    const agent = new Agent(`http://${host}`, BUSY);
    const again: Promise<number>[] = [];
    await db.transaction().execute(async (blocker) => {
      await sql`lock table calls in access exclusive mode`.execute(blocker);
      const sockets = Array.from({ length: ASKED }, () => open('/v1/failures'));
      await eventually(() => refusals === ASKED - ACCEPTED, 'all turns to be taken');
      // The gateway closes its side when it has noticed.
      const closed = sockets.map((socket) => once(socket, 'close'));
      for (const socket of sockets) socket.end();
      await Promise.all(closed);
      for (let n = 0; n < ACCEPTED - 4; n += 1) again.push(agent.get('/v1/failures').then(({ status }) => status));
      await agent.get('/v1/whoami');
    });
    expect(new Set(await Promise.all(again))).toEqual(new Set([200]));
  });
});
