import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSigningKey } from '#archive';
import type { Call } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { S3_BUCKET, S3_CREDENTIALS, S3Server } from '../support/s3-server.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const ARCHIVE_URL = `s3://${S3_BUCKET}/toolyard`;

describe('an installation with its archive in S3', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-archive-s3-'));
  const environment = { ...process.env };
  let s3: S3Server;
  let cluster: TestCluster;
  let projector: AppProcess;
  let agent: Agent;
  let redis: RedisConnection;

  beforeAll(async () => {
    s3 = await S3Server.start();
    // Environment for the check of the whole log when the cluster is closed.
    Object.assign(process.env, s3.env);
    cluster = await startTestCluster({ env: { ...s3.env, ARCHIVE_URL } });
    projector = await cluster.projector({ ...s3.env, ARCHIVE_URL, ARCHIVE_SIGNING_KEY_FILE: join(folder, 'key') });
    agent = new Agent(cluster.gateways[0]?.url ?? '');
    redis = createRedis(cluster.redis.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await cluster?.close();
    await s3?.stop();
    process.env = environment;
    rmSync(folder, { recursive: true, force: true });
  });

  const inRedis = async (call: Call) => (await redis.exists(keys.call(call.id))) === 1;
  /**
   * Redis uses three quarters of its memory, so that what is archived leaves it: a segment is closed after 5 s then, and nothing
   * leaves Redis in its first 15 s.
   */
  const fill = async () =>
    redis.config('SET', 'maxmemory', Math.round(Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]) * 1.3));
  const metric = async (name: string) => {
    const text = await (await fetch(`${projector.url}/metrics`)).text();
    return Number(new RegExp(`^toolyard_archive_${name} (\\d+)`, 'm').exec(text)?.[1]);
  };

  it('keeps in Redis the segments that the store returns altered, and trims them when it returns them intact', async () => {
    const call = await agent.run('echo', { text: 'kept' }, { sessionId: 's' });
    const large = await agent.run('echo', { text: 'x'.repeat(300_000) });
    const answers = async () => ({
      call: (await agent.get(`/v1/calls/${call.id}`)).body,
      events: await agent.events(call.id),
      output: (await agent.get<string>(`/v1/calls/${large.id}/output`)).body,
    });
    const before = await answers();
    s3.fault = async (request, response, pass) => {
      if (request.method !== 'GET' || !/\.jsonl\.gz|\/values\//.test(request.url ?? '')) return false;
      const { status, headers, body } = await pass();
      response.writeHead(status, headers).end(status === 200 ? Buffer.from(body).reverse() : body);
      return true;
    };
    await fill();
    await eventually(async () => (await metric('failures_total')) > 3, 'rounds that failed');
    expect([await inRedis(call), await inRedis(large)]).toEqual([true, true]);
    expect((await fetch(`${projector.url}/readyz`)).status).toBe(503);

    s3.fault = undefined;
    await eventually(async () => !(await inRedis(call)) && !(await inRedis(large)), 'the calls to leave Redis');
    await redis.config('SET', 'maxmemory', 0);
    expect(await answers()).toEqual(before);
    const moved = ['events_total', 'bytes_total', 'trimmed_calls_total', 'lag_seconds_count'];
    // Metrics are raised after the script has run.
    for (const name of moved) await eventually(async () => (await metric(name)) > 0, `the metric ${name}`);
  });

  it('verifies an archive over S3 by the command line, with the key of the projector', async () => {
    const { publicKey } = await readSigningKey(join(folder, 'key'));
    const verify = () => startCli(['verify', ARCHIVE_URL, '--key', publicKey], { url: 'http://127.0.0.1:1', env: s3.env }).ended();
    const signed = async () => {
      const verified = await verify();
      return /[1-9]\d* checkpoints; 0 events are not signed/.test(verified.out) ? verified : undefined;
    };
    expect(await eventually(signed, 'a checkpoint, which is signed once a minute')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/2 calls ended, 0 open\n[^]*no fault\n$/),
    });
  });

  it('answers with an error while the store of the archive is away, and works again afterwards', async () => {
    const call = await agent.run('echo', { text: 'again' });
    await fill();
    await eventually(async () => !(await inRedis(call)), 'the call to leave Redis');
    await redis.config('SET', 'maxmemory', 0);
    s3.fault = (_request, response) => {
      response.destroy();
      return true;
    };
    expect((await agent.get(`/v1/calls/${call.id}`)).status).toBeGreaterThanOrEqual(500);
    expect(await agent.run('echo', { text: 'meanwhile' })).toMatchObject({ outcome: 'completed' });
    s3.fault = undefined;
    await eventually(async () => (await agent.get(`/v1/calls/${call.id}`)).status === 200, 'the call to be read');
  });

  it('shows the credentials of S3 in no log', () => {
    for (const app of [...cluster.gateways, ...cluster.workers, projector])
      expect([app.name, app.log()]).toEqual([app.name, expect.not.stringContaining(S3_CREDENTIALS.AWS_SECRET_ACCESS_KEY)]);
  });
});
