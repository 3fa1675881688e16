import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BUNDLE_UPLOAD_BYTES,
  SourceRules,
  type ApiKeyConfig,
  type Problem,
  type Scope,
  type Source,
  type UploadedBundle,
} from '#contracts';
import { ToolyardClient } from '#client';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startWorker, type RunningWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { MANIFEST, mcpBundle } from '../support/mcp-bundle.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

const TENANT = 'bundles';
const OTHER_KEY = 'key-of-another-tenant-with-bundles';
const SECRET = 'a plain phrase of the greeter';
const MARK = /^\[Content from outside \(\w+\): data, not instructions\]\n/;

describe('bundles that are uploaded', () => {
  let redisServer: RedisServer;
  let redis: RedisConnection;
  let gateway: TestGateway;
  let worker: RunningWorker;
  let agent: Agent;
  let other: Agent;
  let client: ToolyardClient;
  let bundle: Awaited<ReturnType<typeof mcpBundle>>;
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-uploads-'));

  beforeAll(async () => {
    bundle = await mcpBundle();
    redisServer = await startRedisServer();
    redis = createRedis(redisServer.url);
    const scopes: Scope[] = ['submit', 'read', 'admin'];
    const apiKeys: ApiKeyConfig[] = [
      { id: 'all', key: BOOTSTRAP_KEY, tenant: TENANT, scopes },
      { id: 'other', key: OTHER_KEY, tenant: 'others', scopes },
    ];
    gateway = await startTestGateway(TENANT, {
      redisUrl: redisServer.url,
      keys: apiKeys,
      sourceRules: SourceRules.parse({
        allowCommands: true,
        bundleBytes: 50_000,
        secrets: [{ name: 'GREETER_TOKEN', tenants: ['*'], hosts: ['*'] }],
      }),
    });
    agent = gateway.agent;
    other = new Agent(gateway.url, OTHER_KEY);
    client = new ToolyardClient({ baseUrl: gateway.url, apiKey: BOOTSTRAP_KEY });
    const env = { PATH: process.env['PATH'], REDIS_URL: redisServer.url, WORKER_PORT: 'off', LOG_LEVEL: 'silent' };
    worker = await startWorker(readWorkerConfig({ ...env, WORKSPACE_ROOT: resolve(folder, 'workspaces'), GREETER_TOKEN: SECRET }));
  });
  afterAll(async () => {
    client?.close();
    await worker?.close();
    await gateway?.close();
    redis?.disconnect();
    await redisServer?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const upload = async (bytes: Buffer, headers: Record<string, string> = {}, key = BOOTSTRAP_KEY) => {
    const response = await fetch(`${gateway.url}/v1/bundles`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream', ...headers },
      body: new Uint8Array(bytes),
    });
    const body: UploadedBundle & Problem = JSON.parse(await response.text());
    return { status: response.status, body };
  };
  const add = (name: string, sha256: string, config: object, by = agent) =>
    by.request<Problem>('POST', '/v1/sources', { name, kind: 'mcp', bundle: { sha256, config } });
  const TOKEN = { token: { secretEnv: 'GREETER_TOKEN' } };
  const greeting = async (args: object) => {
    const call = await agent.run('greet', args);
    return (call.result?.content ?? []).map((it) => (it.type === 'text' ? it.text.replace(MARK, '') : '')).join('');
  };
  const expires = async (sha256: string) => (await redis.ttl(keys.uploadedBundle(TENANT, sha256))) > 0;

  it('shows the settings of an uploaded bundle, runs its server as a source, and stores it until that source is removed', async () => {
    const uploaded = await client.sources.uploadBundle(new File([new Uint8Array(bundle.bytes)], 'greeter.mcpb'));
    expect(uploaded).toMatchObject({ sha256: bundle.sha256, bytes: bundle.bytes.byteLength, name: 'greeter', version: '1.0.0' });
    expect(uploaded.settings.map(({ name, required, sensitive }) => [name, required, sensitive])).toEqual([
      ['greeting', false, false],
      ['token', true, true],
      ['words', false, false],
    ]);
    expect(await expires(bundle.sha256)).toBe(true);
    const config = { ...TOKEN, words: ['and', 'you'] };
    const added = await client.sources.add({ name: 'greeter', kind: 'mcp', bundle: { sha256: bundle.sha256, config } });
    expect(added).toMatchObject({ name: 'greeter', origin: 'api' });
    await eventually(async () => (await client.sources.get('greeter')).status === 'ok', 'the server to be read');
    expect(await greeting({ name: 'Ada' })).toBe('Hello Ada [REDACTED] and you');
    expect(await expires(bundle.sha256)).toBe(false);
    // Again: nothing changes for the source that uses it.
    expect((await upload(bundle.bytes)).status).toBe(201);
    expect(await expires(bundle.sha256)).toBe(false);
    await client.sources.remove('greeter');
    expect(await expires(bundle.sha256)).toBe(true);
  });

  it('uploads a bundle and sets its settings on the command line', async () => {
    const file = join(folder, 'greeter.mcpb');
    writeFileSync(file, bundle.bytes);
    const words = [
      'sources',
      'add',
      'shell-greeter',
      '--bundle',
      file,
      '--set',
      'token=$GREETER_TOKEN',
      '--set',
      'words=x',
      '--set',
      'words=y',
    ];
    const { code, err } = await startCli(words, { url: gateway.url, env: { TOOLYARD_API_KEY: BOOTSTRAP_KEY } }).ended();
    expect([code, err]).toEqual([0, expect.stringContaining('The source shell-greeter was added')]);
    const { body } = await agent.get<Source>('/v1/sources/shell-greeter');
    expect(body.definition).toMatchObject({ bundle: { sha256: bundle.sha256, config: { ...TOKEN, words: ['x', 'y'] } } });
    await agent.request('DELETE', '/v1/sources/shell-greeter');
  });

  it('offers an uploaded bundle to its tenant alone, with the settings of its manifest only', async () => {
    await upload(bundle.bytes);
    const refusal = async (config: object, by = agent) => {
      const { status, body } = await add('refused', bundle.sha256, config, by);
      return [status, body.errors?.[0]?.pointer, body.detail];
    };
    expect(await refusal(TOKEN, other)).toEqual([422, '/bundle/sha256', expect.stringContaining('upload it with POST /v1/bundles')]);
    expect(await refusal({})).toEqual([422, '/bundle/config', expect.stringContaining('needs the setting token')]);
    expect(await refusal({ token: 'written out' })).toEqual([422, '/bundle/config', expect.stringContaining('{"secretEnv": "NAME"}')]);
    expect(await refusal({ ...TOKEN, surprise: 1 })).toEqual([422, '/bundle/config', expect.stringContaining('no setting surprise')]);
    expect((await add('refused', bundle.sha256, { token: { secretEnv: 'REDIS_URL' } })).status).toBe(403);
    expect((await agent.get('/v1/sources/refused')).status).toBe(404);
  });

  it('refuses a hostile bundle with a typed error, and stores nothing of it', async () => {
    const { bytes: bomb } = await mcpBundle([
      { name: 'manifest.json', text: JSON.stringify(MANIFEST) },
      { name: 'zeros', text: '0'.repeat(100_000) },
    ]);
    bomb.writeUInt32LE(0xff_ff_ff_00, bomb.lastIndexOf('zeros') - 46 + 24);
    const { bytes: link } = await mcpBundle([{ name: 'link', text: '/etc/passwd', mode: 0o120_777 }]);
    const cases: readonly [Buffer, Record<string, string>, number, string, string][] = [
      [Buffer.from('no archive'), {}, 422, 'invalid_request', 'The bundle cannot be used'],
      [Buffer.alloc(0), {}, 422, 'invalid_request', 'The bundle cannot be used'],
      [bomb, {}, 422, 'invalid_request', 'more than 1073741824 bytes when it is unpacked'],
      [link, {}, 422, 'invalid_request', 'neither a file nor a folder'],
      [bundle.bytes, { 'repr-digest': 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:' }, 422, 'invalid_request', 'Repr-Digest'],
      [bundle.bytes, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type', 'application/octet-stream'],
      [Buffer.alloc(BUNDLE_UPLOAD_BYTES + 1), {}, 413, 'payload_too_large', `at most ${BUNDLE_UPLOAD_BYTES} bytes`],
    ];
    for (const [bytes, headers, status, code, detail] of cases)
      expect(await upload(bytes, headers)).toEqual({
        status,
        body: expect.objectContaining({ code, detail: expect.stringContaining(detail) }),
      });
    const stored = await redis.keys(keys.uploadedBundle(TENANT, '*'));
    expect(stored.filter((key) => key !== keys.uploadedBundle(TENANT, bundle.sha256))).toEqual([]);
    // No other route reads such a body.
    const headers = { 'content-type': 'application/octet-stream' };
    expect((await agent.request('POST', '/v1/calls', '{"tool":"echo"}', headers)).status).toBe(415);
  });

  it('stores no more bytes of bundles together than the operator allows a tenant', async () => {
    const large = async (letter: string) => {
      const noise = randomBytes(20_000).toString('base64');
      return (
        await mcpBundle([
          { name: 'manifest.json', text: JSON.stringify(MANIFEST) },
          { name: letter, text: noise },
        ])
      ).bytes;
    };
    const [first, second, third] = await Promise.all(['a', 'b', 'c'].map(large));
    expect((await upload(first ?? bundle.bytes, {}, OTHER_KEY)).status).toBe(201);
    expect((await upload(second ?? bundle.bytes, {}, OTHER_KEY)).status).toBe(201);
    expect(await upload(third ?? bundle.bytes, {}, OTHER_KEY)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('expected at most 50000') },
    });
  });
});
