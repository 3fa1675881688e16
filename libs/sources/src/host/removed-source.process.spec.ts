import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { SourceStore } from '../catalog/source-store.js';
import { SourceWatcher } from '../catalog/source-watcher.js';
import { offerTool, ScriptedSource } from '../testing/scripted-source.js';
import { SourceHost } from './source-host.js';

let server: RedisServer;
let redis: RedisConnection;
beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
});
afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
});

it('deletes the files of a source that a tenant removed, but none of a changed one or of the config file', async () => {
  const store = new SourceStore(redis);
  const define = (name: string, origin: StoredSource['origin'], path = 'mcp') => {
    const definition = SourceDefinition.parse({ name, kind: 'mcp', url: `https://tools.example.com/${path}` });
    return store.putDefinition({ tenantId: 'mine', origin, definition });
  };
  const removed: string[] = [];
  const mcp = Object.assign(new ScriptedSource(offerTool('create')), {
    removed: async ({ definition: { name } }: StoredSource) => void removed.push(name),
  });
  await define('tracker', 'api');
  await define('configured', 'config');
  const watcher = new SourceWatcher(store, { pollMs: 20 });
  const host = new SourceHost({
    redis,
    store,
    watcher,
    connectors: { mcp },
    workerId: 'w',
    pools: ['net'],
    log: () => {},
    random: () => 0,
  });
  await host.start();
  await eventually(() => mcp.opened === 2, 'both sources to be opened');
  await define('tracker', 'api', 'changed');
  await eventually(() => mcp.opened === 3, 'the changed source to be opened');
  await store.remove({ tenantId: 'mine', name: 'configured' });
  await eventually(() => mcp.closed === 2, 'the source of the config file to be closed');
  await store.remove({ tenantId: 'mine', name: 'tracker' });
  await eventually(() => removed.length > 0, 'the files to be deleted');
  expect(removed).toEqual(['tracker']);
  await host.close();
});
