import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readSigningKey } from '#archive';
import type { CallPage } from '#contracts';
import { ContentKeyStore } from '#history';
import { createRedis, sha256Hex } from '#redis';
import { Agent } from '../support/agent.js';
import { programOf } from '../support/app-program.js';
import { ArchivedInstallation } from '../support/archived-installation.js';
import { eventually } from '../support/eventually.js';
import { openTestDatabase, testDatabase } from '../support/postgres.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { startTestCluster, TEST_KEY, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
const [COPY, COPY_MEMORY, COPY_KEYS, RESTORE, RESTORE_MEMORY] = [
  ...readFileSync('deploy/BACKUP.md', 'utf8').matchAll(/^```sh\n([^]*?)^```/gm),
].map(([, commands = '']) => commands);

/** The commands of deploy/BACKUP.md on an installation with calls in Redis, in the archive, and one that waits. */
describe('deploy/BACKUP.md', () => {
  let folder: string;
  let redis: RedisServer;
  let databaseUrl: string;
  let cluster: TestCluster;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-backup-'));
    for (const name of ['data', 'work/backup']) mkdirSync(join(folder, name), { recursive: true });
    redis = await startRedisServer({ settings: DURABLE, dir: join(folder, 'data') });
    databaseUrl = await testDatabase();
    cluster = await startTestCluster({
      gateways: 0,
      workers: 0,
      env: { REDIS_URL: redis.url, DATABASE_URL: databaseUrl, ARCHIVE_URL: `file://${folder}/archive`, DEFAULT_AUTONOMY: 'supervised' },
      // A client got a call that the copy does not have.
      checked: false,
    });
  });
  afterAll(async () => {
    await cluster?.close();
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const keyFile = () => join(folder, 'archive-key/key');
  /** Commands of the page as a program, with the folders of this installation. */
  const programOfPage = (commands = '', env: Record<string, string> = {}) =>
    [
      'bash',
      [
        '-euo',
        'pipefail',
        '-c',
        commands
          .replace(/(?<=\s)\/(data|archive|archive-key)\b/g, `${folder}/$1`)
          .replaceAll('redis-cli', `redis-cli -p ${redis.port}`)
          .replaceAll(/^toolyard\b/gm, `${process.execPath} ${programOf('cli')}`),
      ],
      { cwd: join(folder, 'work'), env: { ...process.env, DATABASE_URL: databaseUrl, ...env }, encoding: 'utf8' },
    ] as const;
  const run = (commands?: string, env?: Record<string, string>): string => execFileSync(...programOfPage(commands, env));
  /** Runs commands that copy Redis, whose file grows after tar has begun to read it: a pipe takes the copy only then. */
  const copyWhileRedisWrites = async (commands?: string): Promise<string> => {
    const copy = join(folder, 'work/redis.tar');
    execFileSync('mkfifo', [copy]);
    const copied = promisify(execFile)(...programOfPage(commands));
    const pipe = await open(copy);
    const { buffer, bytesRead } = await pipe.read(Buffer.alloc(10_240));
    const writer = createRedis(redis.url);
    await writer.set('written', 'during the copy');
    writer.disconnect();
    const rest = await pipe.readFile();
    await pipe.close();
    const { stderr } = await copied;
    rmSync(copy);
    writeFileSync(copy, Buffer.concat([buffer.subarray(0, bytesRead), rest]));
    return stderr;
  };

  const start = async (): Promise<{ agent: Agent; stop(): Promise<void> }> => {
    const [gateway, worker] = [await cluster.gateway(), await cluster.worker()];
    const projector = await cluster.projector({
      REDIS_URL: redis.url,
      DATABASE_URL: databaseUrl,
      ARCHIVE_URL: `file://${folder}/archive`,
      ARCHIVE_SIGNING_KEY_FILE: keyFile(),
    });
    const apps: AppProcess[] = [projector, worker, gateway];
    const stop = async () => {
      for (const app of apps) app.signal('SIGTERM');
      await Promise.all(apps.map((app) => app.ended()));
    };
    return { agent: new Agent(gateway.url, TEST_KEY), stop };
  };
  /** Archives like a projector hours later. */
  const archive = async () => {
    const db = openTestDatabase(databaseUrl);
    const keys = new ContentKeyStore(db);
    const archiveUrl = `file://${folder}/archive`;
    const installation = await ArchivedInstallation.open({ redisUrl: redis.url, partitions: 16, archiveUrl, keyFile: keyFile(), keys });
    await installation.archive();
    expect(await installation.faults()).toEqual([]);
    await installation.close();
    await db.destroy();
  };
  const onDatabase = async (...statements: string[]) => {
    const db = openTestDatabase(databaseUrl);
    for (const statement of statements) await sql.raw(statement).execute(db);
    await db.destroy();
  };
  const readCalls = (agent: Agent, ids: readonly string[]) => Promise.all(ids.map(async (id) => (await agent.get(`/v1/calls/${id}`)).body));
  const outputOf = async (agent: Agent, id: string) => sha256Hex((await agent.get<string>(`/v1/calls/${id}/output`)).body);
  const listed = async (agent: Agent) =>
    ((await agent.get<Partial<CallPage>>('/v1/calls')).body.calls ?? []).map(({ id }) => id).toSorted();

  it('restores calls, archive and lists by deploy/BACKUP.md after a total loss, and continues waiting calls', async () => {
    const before = await start();
    const old = await before.agent.run('echo', { text: 'x'.repeat(300_000) }, { sessionId: 'old' });
    const waiting = (await before.agent.submit('shell', { command: 'echo later' }, { sessionId: 'waiting' })).body;
    await archive();
    const hot = await before.agent.run('echo', { text: 'hot' }, { sessionId: 'hot' });
    const ids = [old.id, waiting.id, hot.id];
    const copied = await readCalls(before.agent, ids);
    const output = await outputOf(before.agent, old.id);
    expect(copied.map(({ status }) => status)).toEqual(['ended', 'waiting_approval', 'ended']);
    await eventually(async () => (await listed(before.agent)).length === ids.length, 'the calls in lists');
    await onDatabase('create schema toolyard_memory', 'create table toolyard_memory.facts as select 1 as fact');

    expect(await copyWhileRedisWrites(COPY)).toBe('');
    for (const commands of [COPY_MEMORY, COPY_KEYS]) run(commands);

    const lost = await before.agent.run('echo', { text: 'later than the copy' });
    const { publicKey } = await readSigningKey(keyFile());
    await before.stop();
    await redis.stop();
    for (const name of ['data', 'archive', 'archive-key']) rmSync(join(folder, name), { recursive: true });
    mkdirSync(join(folder, 'data'));
    await onDatabase('drop schema toolyard cascade', 'drop schema toolyard_memory cascade');

    expect(run(RESTORE, { PUBLIC_KEY: publicKey })).toContain('no fault');
    run(RESTORE_MEMORY);
    await redis.start();
    const after = await start();
    expect(await readCalls(after.agent, ids)).toEqual(copied);
    expect(await outputOf(after.agent, old.id)).toBe(output);
    // The tables are made again from the archive and the log.
    await eventually(async () => (await listed(after.agent)).length >= ids.length, 'the calls in lists again');
    expect(await listed(after.agent)).toEqual(ids.toSorted());
    expect((await after.agent.get(`/v1/calls/${lost.id}`)).status).toBe(404);
    await onDatabase('select fact from toolyard_memory.facts');

    await after.agent.request('POST', `/v1/calls/${waiting.id}/decision`, { decision: 'allow', scope: 'once' });
    expect(await after.agent.ended(waiting.id)).toMatchObject({ outcome: 'completed' });
    const next = await after.agent.run('echo', { text: 'next' });
    await archive();
    expect(await outputOf(after.agent, old.id)).toBe(output);
    expect(await listed(after.agent)).toEqual([...ids, next.id].toSorted());
    await after.stop();
  });
});
