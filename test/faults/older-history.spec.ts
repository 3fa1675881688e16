import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { ActPage, CallPage, IssuedKey, Problem, Stats } from '#contracts';
import type { HistoryDatabase } from '#history';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { openTestDatabase, startTestProjector, testDatabase } from '../support/postgres.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

/** The tables as migration 0004 leaves them: those after it only add. */
async function makeEarlierTables(db: HistoryDatabase): Promise<void> {
  await sql`drop table acts`.execute(db);
  await sql`alter table calls drop column user_id, drop column risk, drop column asked, drop column output_bytes, drop column cpu_ms`.execute(
    db,
  );
  await sql`delete from kysely_migration where name > '0005'`.execute(db);
}

describe('a gateway beside tables of an earlier release, without a projector', () => {
  let toolyard: TestCluster;
  let db: HistoryDatabase;
  let databaseUrl: string;
  let agent: Agent;
  beforeAll(async () => {
    databaseUrl = await testDatabase();
    db = openTestDatabase(databaseUrl);
    toolyard = await startTestCluster({ gateways: 0, workers: 1 });
  });
  afterAll(async () => {
    await toolyard.close();
    await db.destroy();
  });

  const columnsOfCalls = async () => {
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute where attrelid = 'calls'::regclass and attnum > 0 and not attisdropped`.execute(db);
    return rows.map(({ name }) => name);
  };
  const listed = (query = '') =>
    eventually(async () => {
      const { status, body } = await agent.get<CallPage & Problem>(`/v1/calls${query}`);
      if (status !== 200) expect([status, body.code]).toEqual([503, 'history_unavailable']);
      return status === 200 ? body : undefined;
    }, 'lists to answer');

  it('migrates tables of an earlier release: lists answer, calls run, and a projector of that release keeps writing', async () => {
    await makeEarlierTables(db);
    const earlier = await columnsOfCalls();
    expect(earlier).not.toContain('risk');

    const gateway = await toolyard.gateway({ DATABASE_URL: databaseUrl });
    agent = new Agent(gateway.url, TEST_KEY);
    const { id } = await agent.run('echo', {});
    expect((await listed('?risk=low')).calls).toMatchObject([{ id, outcome: 'completed' }]);
    expect((await agent.get<Stats>('/v1/stats')).body.behind?.events).toBeGreaterThan(0);
    const { body: key } = await agent.request<IssuedKey>('POST', '/v1/keys', { name: 'during the roll', scopes: ['read'] });
    const { body: audit } = await agent.get<ActPage>('/v1/audit?type=admin.key_created');
    expect(audit.acts.map(({ data }) => data.target)).toEqual([key.id]);

    const projector = await startTestProjector(databaseUrl, toolyard.redis.url);
    await eventually(async () => (await agent.get<Stats>('/v1/stats')).body.behind === undefined, 'the rows to be written');
    await projector.close();
    // Columns by name, only those known to a projector of that release.
    const names = sql.join(earlier.map((name) => sql.ref(name)));
    const another = `${id.slice(0, -4)}0000`;
    const values = sql.join(earlier.map((name) => (name === 'id' ? sql`${another}` : sql.ref(name))));
    await sql`insert into calls (${names}) select ${values} from calls where id = ${id}`.execute(db);
    const found = (await listed()).calls.map((call) => [call.id, call.risk]);
    expect(found).toEqual(
      expect.arrayContaining([
        [id, 'low'],
        [another, undefined],
      ]),
    );
  });

  it('serves calls without a database, and creates the tables when it appears', async () => {
    const later = new URL(databaseUrl);
    later.pathname = `${later.pathname}_later`;
    const gateway = await toolyard.gateway({ DATABASE_URL: later.href });
    agent = new Agent(gateway.url, TEST_KEY);
    const { id } = await agent.run('echo', {});
    const refused = await agent.get<Problem>('/v1/calls');
    expect([refused.status, refused.body.code]).toEqual([503, 'history_unavailable']);
    await eventually(() => gateway.log().includes('could not be brought up to date'), 'the failed try to be logged');
    await sql`create database ${sql.id(later.pathname.slice(1))}`.execute(db);
    expect((await listed(`?q=${id}`)).calls.map((call) => call.id)).toEqual([id]);
  });
});
