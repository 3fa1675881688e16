import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { eventually } from '../support/eventually.js';
import { startTestPostgres, type TestPostgres } from '../support/postgres.js';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { withoutWaitingLines } from '../support/waiting-lines.js';

const Target = z.object({ format: z.enum(['time_series', 'table']), rawSql: z.string(), datasource: z.object({ type: z.string() }) });
const Board = z.object({
  panels: z.array(z.object({ id: z.number(), title: z.string(), targets: z.tuple([Target]) })),
  templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.string() })) }),
});
const board = Board.parse(JSON.parse(readFileSync('deploy/grafana/dashboards/history.json', 'utf8')));
const history = readFileSync('libs/history/README.md', 'utf8');
const [, tables = ''] = /\| table \| one row for each \|\n([\s\S]*?)\n\n/.exec(history) ?? [];
const documented = [...history.matchAll(/^-- \d+\. (.+)\n([\s\S]*?;)$/gm)];

/** Query in the form that Grafana sends: the last day, an interval of a minute, the tenant `default`. */
function asSent(sql: string): string {
  return sql
    .replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 between now() - interval '1 day' and now()")
    .replaceAll(/\$__timeGroup\((\w+), \$__interval\)/g, 'floor(extract(epoch from $1) / 60) * 60')
    .replaceAll('${tenant:sqlstring}', "'default'");
}

describe('the history, as the role of Grafana reads it', () => {
  let postgres: TestPostgres;
  let toolyard: TestCluster;
  let reader: pg.Client;

  beforeAll(async () => {
    postgres = await startTestPostgres();
    const made = psql(postgres.url, 'deploy/kubernetes/base/reader-role.sql');
    expect([made.status, made.stderr]).toEqual([0, '']);
    toolyard = await startTestCluster({ workers: 0, gateways: 0 });
    const projector = await toolyard.projector({ DATABASE_URL: postgres.url });
    const gateway = await toolyard.gateway({ DATABASE_URL: postgres.url });
    await toolyard.worker();
    const agent = new Agent(gateway.url);
    for (let n = 0; n < 5; n += 1) await agent.run('echo', { n }, { sessionId: 's', labels: { team: 'billing' } });
    await agent.run('file_read', { path: 'not/there' }, { sessionId: 's' });
    await agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    await agent.submit('shell', { command: 'touch x' }, { sessionId: 'careful' });
    const url = new URL(postgres.url);
    url.username = 'toolyard_reader';
    reader = new pg.Client({ connectionString: url.href });
    await reader.connect();
    // The last call waits; all others have ended.
    const rows = async () => (await reader.query<{ ended: boolean }>('select ended_at is not null as ended from calls')).rows;
    await eventually(async () => (await rows()).length === 7 && (await rows()).filter(({ ended }) => ended).length === 6, 'whole rows');
    expect(withoutWaitingLines(projector.log())).toBe('');
  });
  afterAll(async () => {
    await reader?.end();
    await toolyard?.close();
    await postgres?.stop();
  });

  it.each(board.panels.map((panel) => [panel.title, panel.targets[0]] as const))(
    'fills the panel "%s" as the role of Grafana',
    async (title, target) => {
      expect(target.datasource.type).toBe('grafana-postgresql-datasource');
      const sent = asSent(target.rawSql);
      expect(sent).not.toContain('$');
      const { rows, fields } = await reader.query<Record<string, unknown>>(sent);
      if (title !== 'Tried more than once') expect(rows.length).toBeGreaterThan(0);
      if (target.format === 'time_series') expect(fields[0]?.name).toBe('time');
    },
  );

  it('offers the tenants to the role of Grafana', async () => {
    const query = board.templating.list.find(({ name }) => name === 'tenant')?.query ?? '';
    expect((await reader.query(query)).rows).toEqual([{ tenant_id: 'default' }]);
  });

  it('shows the role of Grafana no other tenant than the chosen ones', () => {
    for (const { title, targets } of board.panels)
      expect([title, targets[0].rawSql]).toEqual([title, expect.stringContaining('tenant_id in (${tenant:sqlstring})')]);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
  });

  it.each(documented.map(([, title = '', sql = '']) => [title, sql] as const))('answers the documented query "%s"', async (_title, sql) => {
    await reader.query(sql);
  });

  it('has at least ten documented queries of the history', () => {
    expect(documented.length).toBeGreaterThanOrEqual(10);
  });

  it('refuses the role of Grafana to write the history, and to read undocumented parts', async () => {
    const remove = () => reader.query("delete from calls where tenant_id = 'default'");
    await expect(remove()).rejects.toThrow('read-only transaction');
    await reader.query('set default_transaction_read_only = off');
    await expect(remove()).rejects.toThrow('permission denied');
    await expect(reader.query('create table toolyard.x ()')).rejects.toThrow('permission denied');
    const { rows } = await reader.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname !~ '^pg_|information_schema' and c.relkind in ('r', 'p') and not c.relispartition
         and has_table_privilege(c.oid, 'select') and not c.relname like 'kysely%'`,
    );
    const names = [...tables.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(names).toContain('calls');
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(names));
  });
});

function psql(url: string, file: string): { status: number | null; stderr: string } {
  const run = spawnSync('psql', [url, '--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--file', file], { encoding: 'utf8' });
  if (run.error) throw new Error('psql is missing. Install it: apt-get install postgresql', { cause: run.error });
  return { status: run.status, stderr: run.stderr };
}
