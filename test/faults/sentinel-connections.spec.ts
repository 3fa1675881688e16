import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisConnection } from '#redis';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { eventually } from '../support/eventually.js';
import { startReplicatedRedis, type ReplicatedRedis } from '../support/replicated-redis.js';

describe('a connection through Sentinel', () => {
  let redis: ReplicatedRedis;
  let sentinels: string[];
  let proxy: FaultyProxy;
  const open: RedisConnection[] = [];
  /** Asks a Sentinel behind the proxy first, and hears of failovers from all. */
  const connect = () => {
    const hosts = [new URL(proxy.url).host, ...sentinels].join(',');
    const connection = createRedis(`redis+sentinel://${hosts}/${redis.url.split('/').at(-1)}`);
    open.push(connection);
    return connection;
  };
  const isHeard = async (sentinel = sentinels.at(-1)) => {
    const asking = createRedis(`redis://${sentinel}`);
    try {
      return / sub=1 /.test(String(await asking.call('CLIENT', 'LIST')));
    } finally {
      asking.disconnect();
    }
  };
  const hearsOfFailovers = () => eventually(() => isHeard(), 'the connection to listen to Sentinel');
  beforeAll(async () => {
    redis = await startReplicatedRedis({ replicas: 2 });
    sentinels = redis.url.split('/')[2]?.split(',') ?? [];
    proxy = await FaultyProxy.start(`http://${sentinels[0]}`);
  });
  afterEach(() => {
    for (const connection of open.splice(0)) connection.disconnect();
  });
  afterAll(async () => {
    await proxy.close();
    await redis.stop();
  });

  it('leads a connection through Sentinel to the new master of a failover while it asks who the master is', async () => {
    const connection = connect();
    await connection.ping();
    await hearsOfFailovers();
    const old = await redis.master();
    proxy.hold();
    await old.kill();
    await eventually(() => connection.status === 'connecting', 'the connection to ask Sentinel');
    await redis.promoted(old);
    proxy.release();
    // A new master that is slow may be followed by another one.
    await eventually(async () => {
      const info = await connection.info('server').catch(() => '');
      return info.includes(`tcp_port:${(await redis.master()).port}\r\n`);
    }, 'the connection to lead to the new master');
  });

  it('recovers a connection through Sentinel that must reconnect while it looks for the master', async () => {
    const connection = connect();
    await connection.ping();
    proxy.hold();
    connection.disconnect(true);
    await eventually(() => connection.status === 'connecting', 'the connection to ask Sentinel');
    connection.disconnect(true);
    proxy.release();
    await eventually(() => connection.ping().catch(() => undefined), 'the connection to answer');
  });

  it('listens to no Sentinel any more when the owner of a connection has quit', async () => {
    const connection = connect();
    await connection.ping();
    await hearsOfFailovers();
    await connection.quit();
    for (const sentinel of sentinels) await eventually(async () => !(await isHeard(sentinel)), `no listener at the Sentinel ${sentinel}`);
  });

  it('stays closed once the owner of a connection through Sentinel has closed it', async () => {
    const [left, asking] = [connect(), connect()];
    await left.ping();
    expect(await left.quit()).toBe('OK');
    asking.disconnect();
    await eventually(() => left.status === 'end' && asking.status === 'end', 'both to be closed');
    await expect(left.ping()).rejects.toThrow('Connection is closed');
  });
});
