import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SourceDefinition } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { acceptOffer } from './offered-tool.js';
import { SourceStore } from './source-store.js';
import { SourceWatcher } from './source-watcher.js';
import { offerTool, ScriptedSource } from '../testing/scripted-source.js';
import { SourceHost } from '../host/source-host.js';

const ID = { tenantId: 'removed', name: 'tracker' };
const FIELD = `${ID.tenantId}/${ID.name}`;

describe('sources that are removed or left', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let store: SourceStore;
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    store = new SourceStore(redis);
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    await redis.flushall();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const define = () => {
    const definition: SourceDefinition = { name: ID.name, kind: 'mcp', url: 'https://tools.example.com/mcp', trust: false, pin: true };
    return store.putDefinition({ tenantId: ID.tenantId, origin: 'api', definition });
  };

  it('keeps definition and tokens of a source that was removed and added again during its announcement', async () => {
    await define();
    await redis.hset(keys.sourceAuthorizations(), FIELD, 'sealed');
    /** Sees the source as it was in between. */
    class InBetween extends SourceStore {
      override definition() {
        return Promise.resolve(undefined);
      }
    }
    const between = new InBetween(redis);
    const watcher = new SourceWatcher(between, { pollMs: 20 });
    const connector = new ScriptedSource(offerTool('create'));
    const facts = { workerId: 'w1', pools: ['net' as const], log: () => {}, random: () => 0 };
    const host = new SourceHost({ redis, store: between, watcher, connectors: { mcp: connector }, ...facts });
    await host.start();
    closers.push(() => host.close());
    const names = async () => (await store.entry(FIELD))?.entry.tools.map(({ rawName }) => rawName).join();
    await eventually(async () => (await names()) === 'create', 'the source to be announced');
    connector.change(offerTool('create'), offerTool('other'));
    await eventually(async () => (await names()) === 'create,other', 'its change to be announced');
    expect(await redis.hget(keys.sourceAuthorizations(), FIELD)).toBe('sealed');
    expect(await store.definition(ID)).toMatchObject({ tenantId: ID.tenantId });
  });

  it('withdraws the tools of a source after its removal', async () => {
    const { tools } = acceptOffer([offerTool('create')], { name: ID.name, kind: 'mcp', trust: false });
    const facts = { ...ID, kind: 'mcp', pin: true, origin: 'api', status: 'ok', tools } as const;
    await store.announce({ ...facts, problems: [], updatedAt: new Date().toISOString(), expires: false });
    const left = () =>
      Promise.all([
        redis.hexists(keys.sourceEntries(), FIELD),
        redis.exists(keys.sourcePins(FIELD), keys.sourcePinned(FIELD)),
        redis.hexists(keys.sourcePinnedBytes(ID.tenantId), FIELD),
      ]);
    expect(await left()).toEqual([1, 2, 1]);
    await store.withdrawRemoved(ID);
    expect(await left()).toEqual([0, 0, 0]);
  });

  it('keeps the entry of a source of workers until its last gateway leaves', async () => {
    const entry = { ...ID, kind: 'worker', pin: true, origin: 'announced', status: 'ok', expires: true } as const;
    for (const gateway of ['one', 'two']) await store.join(ID, gateway, 60_000);
    await store.announce({ ...entry, problems: [], tools: [], updatedAt: new Date().toISOString() }, 60_000);
    const isThere = async () => (await store.entry(FIELD)) !== undefined;
    await store.leave(ID, 'one');
    expect(await isThere()).toBe(true);
    await store.leave(ID, 'two');
    expect(await isThere()).toBe(false);
  });
});
