import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, keys, partitionName, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import { startClusterOfOne } from '../../../../test/support/cluster-redis.js';
import { eventually } from '../../../../test/support/eventually.js';
import { appendRaw, rawCallId } from '../../../../test/support/raw-log.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { LogTail, type LogTailOptions } from './log-tail.js';
import type { TailListener, TailReset } from './tail-reader.js';

const PARTITIONS = 4;
let server: RedisServer;
let redis: RedisConnection;

beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** Records the sequence numbers of each partition and every reset. */
class Recorder implements TailListener {
  readonly seqs: number[][] = Array.from({ length: PARTITIONS }, () => []);
  readonly resets: { partition: number; reason: TailReset; epoch: number; seq: number }[] = [];

  onEvents: TailListener['onEvents'] = (reads) => {
    for (const { partition, events } of reads) this.seqs[partition]?.push(...events.map(({ seq }) => seq));
  };

  onReset: TailListener['onReset'] = (partition, position, reason) => {
    this.resets.push({ partition, reason, ...position });
  };

  readonly epochs: { partition: number; epoch: number }[] = [];

  onNewEpoch: TailListener['onNewEpoch'] = (partition, epoch) => {
    this.epochs.push({ partition, epoch });
  };

  get total(): number {
    return this.seqs.reduce((sum, seqs) => sum + seqs.length, 0);
  }
}

const open: LogTail[] = [];
afterEach(() => {
  for (const tail of open.splice(0)) tail.close();
});

async function follow(options: Partial<LogTailOptions> = {}) {
  const recorder = new Recorder();
  const tail = new LogTail({ redisUrl: server.url, partitions: PARTITIONS, blockMs: 200, verifyMs: 200, ...options });
  open.push(tail);
  const start = await tail.seekToEnd();
  tail.follow(recorder);
  return { recorder, tail, start };
}

/** Appends on `writers` connections concurrently; resolves when all is written. */
async function writeConcurrently(writers: number, each: number): Promise<void> {
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const own = createRedis(server.url);
      const callId = rawCallId(writer % PARTITIONS);
      for (let n = 0; n < each; n += 1) await appendRaw(own, { callId });
      own.disconnect();
    }),
  );
}

function expectDense(recorder: Recorder, start: readonly { seq: number }[], count: number): void {
  expect(recorder.total).toBe(count);
  for (const [partition, seqs] of recorder.seqs.entries()) {
    const first = (start[partition]?.seq ?? 0) + 1;
    expect(seqs).toEqual(seqs.map((_, index) => first + index));
  }
}

/** Connection whose XREAD loses entries. */
function lossy(): RedisConnection {
  const connection = createRedis(server.url, { role: 'blocking' });
  const xread = connection.xread.bind(connection) as (...args: unknown[]) => Promise<[string, [string, string[]][]][] | null>;
  const losing = async (...args: unknown[]) => {
    const reply = await xread(...args);
    return reply?.map(([key, entries]) => [key, entries.filter((_, index) => index % 3 !== 1 || index === entries.length - 1)]) ?? null;
  };
  return Object.assign(connection, { xread: losing });
}

describe('LogTail', () => {
  it('hands on every entry of concurrent writers once and in order', async () => {
    const { recorder, tail, start } = await follow();
    await writeConcurrently(8, 250);
    await eventually(() => recorder.total >= 2000, 'all entries');
    tail.close();
    expectDense(recorder, start, 2000);
    expect(recorder.resets).toEqual([]);
  });

  it('fetches entries that a read left out, and signals the repair', async () => {
    let repaired = 0;
    const stop = telemetry.tailGapRepaired.on(({ events }) => (repaired += events));
    const { recorder, tail, start } = await follow({ connect: lossy });
    await writeConcurrently(8, 250);
    await eventually(() => recorder.total >= 2000, 'all entries');
    tail.close();
    stop();
    expectDense(recorder, start, 2000);
    expect(repaired).toBeGreaterThan(0);
  });

  it('follows the log without loss or double when its connection is cut again and again', async () => {
    const { recorder, tail, start } = await follow();
    const writing = writeConcurrently(4, 400);
    let done = false;
    const cutting = (async () => {
      for (let cut = 0; !done && cut < 200; cut += 1) {
        const clients = String(await redis.client('LIST'));
        const id = /id=(\d+) [^\n]*name=tail/.exec(clients)?.[1];
        if (id) await redis.client('KILL', 'ID', Number(id));
        const before = recorder.total;
        await eventually(() => done || recorder.total > before, 'the tail to be back');
      }
    })();
    await writing;
    await eventually(() => recorder.total >= 1600, 'all entries');
    done = true;
    await cutting;
    tail.close();
    expectDense(recorder, start, 1600);
    expect(recorder.resets).toEqual([]);
  });

  it('reports events that were deleted before the tail read them', async () => {
    const partition = 1;
    const log = keys.log(partitionName(partition));
    const { recorder, tail, start } = await follow({
      connect: () => {
        const connection = createRedis(server.url, { role: 'blocking' });
        const xread = connection.xread.bind(connection) as (...args: unknown[]) => Promise<unknown>;
        return Object.assign(connection, {
          xread: async (...args: unknown[]) => {
            const written = await redis.get('deleted');
            return written === 'yes' ? xread(...args) : new Promise((resolve) => setTimeout(resolve, 5, null));
          },
        });
      },
    });
    const first = (start[partition]?.seq ?? 0) + 1;
    for (let n = 0; n < 10; n += 1) await appendRaw(redis, { callId: rawCallId(partition) });
    await redis.xdel(log, `${first + 2}-0`, `${first + 3}-0`);
    await redis.set('deleted', 'yes');
    await eventually(() => recorder.seqs[partition]?.at(-1) === first + 9, 'the last entry');
    tail.close();
    expect(recorder.resets).toEqual([{ partition, reason: 'events_missing', epoch: 1, seq: first + 3 }]);
    expect(recorder.seqs[partition]).toEqual([4, 5, 6, 7, 8, 9].map((offset) => first + offset));
  });

  it('begins one new epoch for all gateways when the log was rolled back', async () => {
    for (let n = 0; n < 5; n += 1) await appendRaw(redis, { callId: rawCallId(2) });
    const [one, two] = await Promise.all([follow(), follow()]);
    await server.kill();
    await server.start();
    await eventually(() => [one, two].every(({ recorder }) => recorder.resets.some(({ partition }) => partition === 2)), 'both to notice');
    const seen = [one, two].map(({ recorder }) => recorder.resets.find(({ partition }) => partition === 2));
    expect(seen.map((reset) => reset?.epoch)).toEqual([2, 2]);
    expect(await redis.get(keys.epoch('02'))).toBe('2');

    const seq = await appendRaw(redis, { callId: rawCallId(2) });
    await eventually(() => [one, two].every(({ recorder }) => recorder.seqs[2]?.at(-1) === seq), 'both to go on');
    one.tail.close();
    two.tail.close();
  });

  it('continues at its position when a new epoch has all that was read', async () => {
    const { recorder, start } = await follow();
    const callId = rawCallId(0);
    await appendRaw(redis, { callId });
    await eventually(() => recorder.total === 1, 'the first entry');
    await redis.set(keys.epoch(partitionName(0)), (start[0]?.epoch ?? 1) + 1);
    await eventually(() => recorder.epochs.length > 0, 'the tail to notice');
    await appendRaw(redis, { callId });
    await eventually(() => recorder.total === 2, 'the second entry');
    expectDense(recorder, start, 2);
    expect(recorder.resets).toEqual([]);
    expect(recorder.epochs).toEqual([{ partition: 0, epoch: (start[0]?.epoch ?? 1) + 1 }]);
  });

  it('notices another log at the same address, even a longer one', async () => {
    const slowToReturn = () => {
      const connection = createRedis(server.url, { role: 'blocking' });
      return Object.assign(connection, { options: Object.assign(connection.options, { retryStrategy: () => 500 }) });
    };
    const { recorder, tail, start } = await follow({ connect: slowToReturn });
    const last = await appendRaw(redis, { callId: rawCallId(3) });
    await eventually(() => recorder.seqs[3]?.at(-1) === last, 'the entry');
    await server.kill();
    await server.start();
    for (let n = 0; n < last + 3; n += 1) await appendRaw(redis, { callId: rawCallId(3) });
    await eventually(() => recorder.resets.some(({ partition }) => partition === 3), 'the tail to notice');
    tail.close();
    expect(recorder.resets).toContainEqual({ partition: 3, reason: 'log_rolled_back', epoch: (start[3]?.epoch ?? 0) + 1, seq: last + 3 });
  });

  it('delivers events while Redis refuses to store the master’s id', async () => {
    const refusing = () => {
      const connection = createRedis(server.url, { role: 'blocking' });
      return Object.assign(connection, { eval: () => Promise.reject(new Error('OOM command not allowed')) });
    };
    const { recorder, tail, start } = await follow({ connect: refusing });
    for (let n = 0; n < 5; n += 1) await appendRaw(redis, { callId: rawCallId(1) });
    await eventually(() => recorder.total >= 5, 'all entries');
    tail.close();
    expectDense(recorder, start, 5);
  });

  it('closes a tail twice, and before its first event', async () => {
    const { tail } = await follow({ blockMs: 60_000 });
    tail.close();
    tail.close();
  });
});

describe('LogTail on a cluster', () => {
  it('follows every partition on a cluster, though they live in different slots', async () => {
    const node = await startClusterOfOne();
    const admin = createRedis(node.server.url);
    const { recorder, tail, start } = await follow({ redisUrl: node.url });
    for (let n = 0; n < 40; n += 1) await appendRaw(admin, { callId: rawCallId(n % PARTITIONS) });
    await eventually(() => recorder.total >= 40, 'all entries');
    expectDense(recorder, start, 40);
    tail.close();
    admin.disconnect();
    await node.server.stop();
  });
});
