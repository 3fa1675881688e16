import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GatewayWarning, ToolDescriptor } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { readGatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

const SECOND_KEY = 'second-key-of-the-reload-tests';
const folder = mkdtempSync(join(tmpdir(), 'toolyard-reload-'));
const path = join(folder, 'toolyard.json');
const save = (content: unknown) => writeFileSync(path, JSON.stringify(content));
const CHANGED = {
  policy: { exclude: ['glob'] },
  safety: { redaction: { values: ['canary listed in the second file'] } },
  keys: [{ id: 'second', key: SECOND_KEY, tenant: 'default', scopes: ['read'] }],
};

let server: RedisServer;
let redis: RedisConnection;
let gateway: TestGateway;

beforeAll(async () => {
  save({});
  server = await startRedisServer();
  redis = createRedis(server.url);
  const env = { TOOLYARD_API_KEY: BOOTSTRAP_KEY, TOOLYARD_CONFIG: path, REDIS_URL: server.url, GATEWAY_PORT: '0', LOG_LEVEL: 'silent' };
  gateway = await startTestGateway('default', readGatewayConfig(env));
});

afterAll(async () => {
  await gateway?.close();
  redis?.disconnect();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

/** Reads the metric line only: its help text has the same words. */
const isRefused = async () => /^toolyard_config_refused 1$/m.test((await gateway.agent.get<string>('/metrics')).body);

describe('a config file whose safety settings Redis does not store', () => {
  /** Effects of the configuration: use of `glob`, the second key, and readiness. */
  const inForce = async () => {
    // Redis is full here, which readiness says, too.
    const tools = await gateway.agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
    const second = await new Agent(gateway.url, SECOND_KEY).get('/v1/whoami');
    const ready = await gateway.agent.get<{ warnings?: GatewayWarning[] }>('/readyz');
    return [
      tools.body.tools.find(({ name }) => name === 'glob')?.available.ok,
      second.status,
      ready.body.warnings?.find(({ code }) => code === 'config_refused')?.message,
    ];
  };

  it('keeps the whole config in force that Redis has stored, reports it, and applies the newer one when Redis stores again', async () => {
    expect(await inForce()).toEqual([true, 401, undefined]);
    await redis.config('SET', 'maxmemory', '1');
    save(CHANGED);
    const warned = async () => (await inForce())[2] !== undefined;
    await eventually(warned, 'the file to be refused');
    expect(await inForce()).toEqual([true, 401, expect.stringContaining('could not be stored for the workers and is tried again')]);
    expect(await isRefused()).toBe(true);

    await redis.config('SET', 'maxmemory', '0');
    await eventually(async () => !(await warned()), 'the file to be taken over');
    expect(await inForce()).toEqual([false, 200, undefined]);
    const { body: call } = await gateway.agent.submit('echo', { text: 'canary listed in the second file' });
    expect(call.arguments).toEqual({ text: '[REDACTED]' });
  });
});

describe('a config file that is replaced while Redis has not stored the safety settings of the one before', () => {
  const valueOf = (edition: string) => `canary of the ${edition} edition`;
  const keyOf = (edition: string) => `key-of-the-${edition}-edition-of-the-file`;
  const edition = (name: string) => ({
    safety: { redaction: { values: [valueOf(name)] } },
    keys: [{ id: name, key: keyOf(name), tenant: 'default', scopes: ['read'] }],
  });
  const knows = async (name: string) => (await new Agent(gateway.url, keyOf(name)).get('/v1/whoami')).status === 200;
  const isWriteHeld = async () => /flags=\S*b\S* .*cmd=set /.test(String(await redis.client('LIST')));

  it('applies only the newest config file: a refused one blocks an older, slower one', async () => {
    save(edition('first'));
    await eventually(() => knows('first'), 'the first file to be taken over');
    await redis.client('PAUSE', '100000', 'WRITE');
    try {
      save(edition('slow'));
      await eventually(isWriteHeld, 'the settings of the slow file to wait for Redis');
      save({ keys: 'none' });
      await eventually(isRefused, 'the file after it to be refused');
    } finally {
      await redis.client('UNPAUSE');
    }
    await eventually(async () => !(await isWriteHeld()), 'Redis to store the settings of the slow file');
    expect([await knows('first'), await knows('slow'), await isRefused()]).toEqual([true, false, true]);
    save(edition('newest'));
    await eventually(() => knows('newest'), 'the newest file to be taken over');
    await eventually(async () => !(await isRefused()), 'the metric to say that no file is refused');
    expect([await knows('first'), await knows('slow')]).toEqual([false, false]);
    const { body: call } = await gateway.agent.submit('echo', { text: `${valueOf('slow')}, ${valueOf('newest')}` });
    expect(call.arguments).toEqual({ text: `${valueOf('slow')}, [REDACTED]` });
  });
});

describe('a config file that is empty for a moment while it is written', () => {
  it('removes no key for a config file that is empty for a moment during a write', async () => {
    const key = 'key-that-outlives-an-empty-file';
    const status = async () => (await new Agent(gateway.url, key).get('/v1/whoami')).status;
    save({ keys: [{ id: 'outlives', key, tenant: 'default', scopes: ['read'] }] });
    await eventually(async () => (await status()) === 200, 'the key to be known');
    writeFileSync(path, '');
    const next = async () => ((await isRefused()) ? 'refused' : (await status()) === 401 ? 'taken over' : undefined);
    expect(await eventually(next, 'the empty file to be read')).toBe('refused');
    expect(await status()).toBe(200);
    save({});
    await eventually(async () => (await status()) === 401, 'a file that says nothing to take the key away');
    await eventually(async () => !(await isRefused()), 'the metric to say that no file is refused');
  });
});
