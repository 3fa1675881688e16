import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { CallPage, Problem, Stats } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { cleanUp, echo, freshDirectory, isRunning, spawnStandalone, submit, type StandaloneProcess } from '../support/standalone.js';

afterEach(cleanUp);

/** Starts standalone without a DATABASE_URL, so that it starts a PostgreSQL of its own. */
const start = async (data = freshDirectory()): Promise<StandaloneProcess> => {
  const app = await spawnStandalone(data, { DATABASE_URL: '' });
  await app.up();
  return app;
};
const postgresPid = ({ data }: StandaloneProcess) => Number.parseInt(readFileSync(join(data, 'postgres/data/postmaster.pid'), 'utf8'), 10);
const idsOf = async (app: StandaloneProcess) =>
  (await new Agent(app.url, app.key()).get<CallPage>('/v1/calls')).body.calls.map(({ id }) => id);

describe('npm start with a PostgreSQL on the machine', () => {
  it('answers lists and numbers from the PostgreSQL of npm start, and stops it', async () => {
    const app = await start();
    expect(app.output()).toContain('private PostgreSQL');
    const call = await submit(app, echo('listed'));
    expect(await idsOf(app)).toEqual([call.id]);
    const agent = new Agent(app.url, app.key());
    await eventually(async () => {
      const { body } = await agent.get<Stats>('/v1/stats');
      return body.behind === undefined && body.series.some(({ ended }) => ended === 1);
    }, 'the projector to write the call');
    const pid = postgresPid(app);
    app.signal('SIGTERM');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(join(app.data, 'postgres/data/postmaster.pid'))).toBe(false);
  });

  it('starts npm start with erasable tenants, since it has the keys of their content', async () => {
    const data = freshDirectory();
    const file = join(data, 'toolyard.yaml');
    writeFileSync(file, 'tenants: { default: { retention: { erasable: true } } }\n');
    const app = await spawnStandalone(data, { DATABASE_URL: '', TOOLYARD_CONFIG: file });
    await app.up();
    expect((await submit(app, echo('erasable'))).outcome).toBe('completed');
  });

  it('runs calls while PostgreSQL is down, and lists all of them afterwards', async () => {
    const app = await start();
    const agent = new Agent(app.url, app.key());
    const before = await submit(app, echo('before'));
    // A stopped server keeps its connections: questions run into their time limit.
    process.kill(postgresPid(app), 'SIGKILL');
    const during = await submit(app, echo('during'));
    expect(during.outcome).toBe('completed');
    const answers: number[] = [];
    await eventually(async () => {
      const { status, body } = await agent.get<CallPage & Problem>('/v1/calls');
      answers.push(status);
      if (status !== 200) expect([status, body.code]).toEqual([503, 'history_unavailable']);
      return status === 200;
    }, 'lists to come back');
    expect(await idsOf(app)).toEqual([during.id, before.id]);
    await eventually(() => app.output().includes('The private PostgreSQL exited; restarting it'), 'the log to say so');
  });

  it('reuses the database of a killed Toolyard', async () => {
    const killed = await start();
    const call = await submit(killed, echo('kept'));
    const orphan = postgresPid(killed);
    killed.signal('SIGKILL');
    await killed.ended();
    await eventually(() => !isRunning(orphan), 'PostgreSQL to end with the process that started it');
    const next = await start(killed.data);
    expect(await idsOf(next)).toEqual([call.id]);
  });
});
