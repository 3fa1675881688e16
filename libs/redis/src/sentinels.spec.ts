import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { createRedis, type RedisConnection } from './redis-client.js';
import { ReplicaNumber } from './replica-number.js';
import { askSentinels } from './sentinels.js';

interface View {
  readonly epoch: number;
  readonly replicas: number;
  readonly master: RedisServer;
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const list = (texts: readonly string[]) => `*${texts.length}\r\n${texts.map(bulk).join('')}`;

describe('Sentinels that know different masters', () => {
  let redis: RedisServer;
  let former: RedisServer;
  const open: (Server | RedisConnection)[] = [];
  beforeAll(async () => {
    [redis, former] = await Promise.all([startRedisServer(), startRedisServer()]);
  });
  afterEach(() => {
    for (const it of open.splice(0))
      if ('disconnect' in it) it.disconnect();
      else it.close();
  });
  afterAll(() => Promise.all([redis.stop(), former.stop()]));

  /** A Sentinel that answers with its view; a silent one without. */
  async function sentinel(view?: () => View): Promise<number> {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        if (view === undefined) return;
        const known = view();
        for (const command of String(data)
          .toLowerCase()
          .split(/^(?=\*\d)/m)) {
          if (command.includes('get-master-addr-by-name')) socket.write(list(['127.0.0.1', String(known.master.port)]));
          else if (command.includes('\r\nmaster\r\n'))
            socket.write(list(['num-slaves', String(known.replicas), 'config-epoch', String(known.epoch)]));
          else if (command.includes('subscribe')) socket.write(`*3\r\n${bulk('subscribe')}${bulk('+switch-master')}:1\r\n`);
          else if (command.includes('\r\nsentinels\r\n')) socket.write('*0\r\n');
          else socket.write('+OK\r\n');
        }
      });
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on TCP has such an address
    return (server.address() as AddressInfo).port;
  }
  const connect = (...ports: readonly number[]) => {
    const connection = createRedis(`redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/mymaster`);
    open.push(connection);
    return connection;
  };

  it('asks all Sentinels at once; the newest failover comes first, and silent ones are omitted', async () => {
    const ports = await Promise.all([
      sentinel(() => ({ epoch: 3, replicas: 2, master: former })),
      sentinel(),
      sentinel(() => ({ epoch: 12, replicas: 1, master: redis })),
    ]);
    const sentinels = ports.map((port) => ({ host: '127.0.0.1', port }));
    expect(await askSentinels({ sentinels, name: 'mymaster' })).toEqual([
      { sentinel: sentinels[2], epoch: 12, replicas: 1 },
      { sentinel: sentinels[0], epoch: 3, replicas: 2 },
    ]);
  });

  it('connects to the master of the newest failover, whichever Sentinel answers first', async () => {
    const stale = await sentinel(() => ({ epoch: 3, replicas: 2, master: former }));
    const newest = await sentinel(() => ({ epoch: 4, replicas: 2, master: redis }));
    expect(await connect(stale, newest).config('GET', 'port')).toEqual(['port', String(redis.port)]);
  });

  it('computes how many replicas must acknowledge a write; a smaller setting gives a warning', async () => {
    let view: View = { epoch: 4, replicas: 2, master: redis };
    const ports = await Promise.all([sentinel(() => view), sentinel(() => ({ epoch: 3, replicas: 5, master: former }))]);
    const connection = connect(...ports);
    expect(await new ReplicaNumber(connection).current()).toBe(2);
    expect(await new ReplicaNumber(connection, 1).current()).toBe(1);
    expect(await new ReplicaNumber(connection, 1).warning()).toContain('REPLICAS=1, but Sentinel knows 2 replicas');
    expect(await new ReplicaNumber(connection, 2).warning()).toBeUndefined();
    view = { ...view, replicas: 0 };
    expect(await new ReplicaNumber(connection).current()).toBe(1);
  });

  it('keeps the number of replicas while Sentinel knows none, as after SENTINEL RESET', async () => {
    let replicas = 2;
    let questions = 0;
    const view = {
      epoch: 4,
      master: redis,
      get replicas() {
        questions++;
        return replicas;
      },
    };
    const number = new ReplicaNumber(connect(await sentinel(() => view)));
    expect(await number.current()).toBe(2);
    replicas = 0;
    const numbers = new Set<number>();
    const before = questions;
    // Each question follows the answer to the one before; the connection may ask for its master besides.
    await eventually(async () => numbers.add(await number.current()) && questions > before + 2, 'Sentinel to be asked again');
    expect([...numbers]).toEqual([2]);
    replicas = 1;
    await eventually(async () => (await number.current()) === 1, 'the replica that Sentinel has found');
  });

  it('keeps the last number while no Sentinel answers, and has none before', async () => {
    const port = await sentinel(() => ({ epoch: 1, replicas: 3, master: redis }));
    const known = new ReplicaNumber(connect(port));
    expect(await known.current()).toBe(3);
    for (const it of open) if (!('disconnect' in it)) it.close();
    expect(await known.current()).toBe(3);
    const other = createRedis('redis+sentinel://127.0.0.1:1/mymaster');
    open.push(other);
    await expect(new ReplicaNumber(other).current()).rejects.toThrow('No Sentinel answers');
  });

  it('waits for one replica of a single master', async () => {
    const connection = createRedis(redis.url);
    open.push(connection);
    expect(await new ReplicaNumber(connection).current()).toBe(1);
    expect(await new ReplicaNumber(connection, 3).warning()).toBeUndefined();
  });
});
