import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SourceDefinition, SourceRules, type StoredSource } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { SourceStore } from '../catalog/source-store.js';
import { SourceWatcher } from '../catalog/source-watcher.js';
import { offerTool, ScriptedSource } from '../testing/scripted-source.js';
import { SourceHost } from './source-host.js';

const RULES = SourceRules.parse({});
const URL = 'https://tools.example.com/mcp';
const definition = SourceDefinition.parse({ name: 'tickets', kind: 'mcp', url: URL, auth: { type: 'authorizationCode' } });
const configured: StoredSource = { tenantId: 'mine', origin: 'config', definition };

describe('a source of the config file that a person authorizes', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let store: SourceStore;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    store = new SourceStore(redis);
  });
  afterAll(async () => {
    redis?.disconnect();
    await server?.stop();
  });

  const authorized = async () => (await store.definition({ tenantId: 'mine', name: 'tickets' }))?.authorized;

  it('keeps its connection when the config file is read again, and lists its tools', async () => {
    await store.replaceConfigured([configured], RULES);
    const source = new ScriptedSource(offerTool('create'));
    const watcher = new SourceWatcher(store, { pollMs: 20 });
    const connectors = { mcp: source };
    const host = new SourceHost({ redis, store, watcher, connectors, workerId: 'w', pools: ['net'], log: () => {}, random: () => 0 });
    await host.start();
    const announced = (name: string) =>
      eventually(() => watcher.list().some(({ entry }) => entry.tools.some(({ rawName }) => rawName === name)), `the tool ${name}`);
    await announced('create');
    source.tools = [offerTool('search')];
    await redis.hset(keys.sourceDefinitions(), 'mine/tickets', JSON.stringify({ ...configured, authorized: 'now' }));
    await redis.incr(keys.sourceRevision());
    await announced('search');
    expect([source.opened, source.closed]).toEqual([1, 0]);
    await host.close();
  });

  it('stays authorized, and changes only with a file that changes it', async () => {
    const revision = await store.revision();
    await store.replaceConfigured([configured], RULES);
    expect([await store.revision(), await authorized()]).toEqual([revision, 'now']);
    await store.replaceConfigured([{ ...configured, definition: { ...definition, timeoutMs: 1_000 } }], RULES);
    expect(await authorized()).toBe('now');
  });
});
