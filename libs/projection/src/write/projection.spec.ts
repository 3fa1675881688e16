import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallEventType } from '#contracts';
import { LogReader } from '#event-log';
import { createRedis, keys, partitionName, type RedisConnection } from '#redis';
import { appendRaw, rawCallId } from '../../../../test/support/raw-log.js';
import { aSubmission } from '../../../../test/support/sample-calls.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { PartitionProjection } from './projection.js';

let server: RedisServer;
let redis: RedisConnection;
let partitions = 0;

beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

interface Happening {
  readonly call: number;
  readonly what: 'start' | 'update' | 'retry' | 'approval' | 'allow' | 'completed' | 'failed' | 'denied';
}

/** A partition that no other test has, and its history. */
class History {
  readonly index = partitions++;
  readonly name = partitionName(this.index);
  private readonly ids: string[] = [];

  private idOf(call: number): string {
    return (this.ids[call] ??= rawCallId(this.index));
  }

  async submit(call: number, tenantId: string): Promise<void> {
    const parent = call > 0 && call % 4 === 0 ? { parentCallId: this.idOf(call - 1) } : {};
    await this.append(call, tenantId, 'call.submitted', {
      ...aSubmission({ tool: call % 3 === 0 ? 'echo' : 'shell', pool: call % 3 === 0 ? 'read' : 'shell', labels: { n: String(call) } }),
      ...parent,
      arguments: { text: `number ${call}` },
    });
  }

  async happen({ call, what }: Happening, tenantId: string): Promise<void> {
    const error = { code: 'tool_failed', message: `It broke at line ${call % 7} of "file ${call}"`, retryable: true };
    const event: Record<Happening['what'], [CallEventType, unknown]> = {
      start: ['call.start', { tool: 'echo', worker: 'w' }],
      update: ['call.update', { update: 1, content: [] }],
      retry: ['call.retry', { reason: 'tool_failed', nextAttempt: 2, delayMs: 0, error }],
      approval: ['call.approval_requested', { reasons: [], digest: 'd', expiresInMs: 1 }],
      allow: ['call.approval_decided', { decision: 'allow', scope: 'once', digest: 'd' }],
      completed: ['call.end', { outcome: 'completed', attempts: 1, runMs: 12 + call }],
      failed: ['call.end', { outcome: 'failed', attempts: 1, runMs: 5, error }],
      denied: ['call.end', { outcome: 'denied', attempts: 0, error: { ...error, code: 'policy_denied' } }],
    };
    const [type, data] = event[what];
    await this.append(call, tenantId, type, data);
  }

  private async append(call: number, tenantId: string, type: CallEventType, data: unknown): Promise<void> {
    const session = call % 5 === 0 ? {} : { sessionId: `s${call % 5}` };
    const agent = call % 2 === 0 ? {} : { agentId: `agent-${call % 6}` };
    await appendRaw(redis, {
      callId: this.idOf(call),
      tenantId,
      tool: call % 3 === 0 ? 'echo' : 'shell',
      type,
      data,
      ...session,
      ...agent,
    });
  }

  projection(batch: number, connection = redis): PartitionProjection {
    return new PartitionProjection(connection, new LogReader(connection), this.name, batch);
  }

  async project(batch: number): Promise<void> {
    const projection = this.projection(batch);
    while ((await projection.advance()).more);
  }

  /** Everything that the projection has stored, but for times at which hours end. */
  async stored(): Promise<Record<string, unknown>> {
    const dump: Record<string, unknown> = {};
    for (const key of (await redis.keys(`{p${this.name}}:view*`)).sort()) {
      const type = await redis.type(key);
      if (type === 'hash') dump[key] = sorted(await redis.hgetallBuffer(key));
      else if (type === 'zset') dump[key] = await redis.zrange(key, '0', '-1', 'WITHSCORES');
      else dump[key] = (await redis.getBuffer(key))?.toString('base64');
    }
    return dump;
  }
}

/** A connection that dies at its nth command, before Redis gets it or with the answer on the way. */
function mortal(lives: number, before: boolean): RedisConnection {
  let left = lives;
  return new Proxy(redis, {
    get: (target, name) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any command
      const command = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      if (typeof command !== 'function') return command;
      return async (...args: unknown[]) => {
        const dies = left-- <= 0;
        if (dies && before) throw new Error('cut off');
        const answer: unknown = await Reflect.apply(command, target, args);
        if (dies) throw new Error('cut off');
        return answer;
      };
    },
  });
}

function sorted(hash: Record<string, Buffer>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(hash)
      .map(([field, value]) => [field, value.toString('latin1')] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const happening: fc.Arbitrary<Happening> = fc.record({
  call: fc.nat(19),
  what: fc.constantFrom('start', 'update', 'retry', 'approval', 'allow', 'completed', 'failed', 'denied'),
});

/** Each call is submitted before anything else of it, and nothing follows its End. */
async function write(history: History, happenings: readonly Happening[], between: () => Promise<unknown> = async () => {}): Promise<void> {
  const submitted = new Set<number>();
  const ended = new Set<number>();
  for (const next of happenings) {
    const tenantId = next.call % 7 === 0 ? 'other' : 'acme';
    if (!submitted.has(next.call)) await history.submit(next.call, tenantId);
    submitted.add(next.call);
    if (ended.has(next.call)) continue;
    await history.happen(next, tenantId);
    if (['completed', 'failed', 'denied'].includes(next.what)) ended.add(next.call);
    await between();
  }
}

describe('the projection of a partition', () => {
  it('built anew is the same as built live, whatever the histories and the batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 200 }),
        async (happenings, live, whole) => {
          const history = new History();
          const projection = history.projection(live);
          await write(history, happenings, () => projection.advance());
          await history.project(live);
          const before = await history.stored();
          await redis.hdel(keys.view(history.name), 'f');
          await history.project(whole);
          expect(await history.stored()).toEqual(before);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('two projectors at once lose and double nothing', async () => {
    const history = new History();
    const rivals = [history.projection(3), history.projection(5), history.projection(4)];
    const happenings = Array.from({ length: 80 }, (_, n): Happening => ({
      call: n % 20,
      what: n < 40 ? 'start' : n % 3 ? 'completed' : 'failed',
    }));
    await write(history, happenings, () => Promise.all(rivals.map((rival) => rival.advance())));
    while ((await Promise.all(rivals.map((rival) => rival.advance()))).some(({ more }) => more));
    const raced = await history.stored();
    await redis.hdel(keys.view(history.name), 'f');
    await Promise.all([history.project(7), history.project(7)]);
    await history.project(7);
    expect(await history.stored()).toEqual(raced);
  });

  it('does nothing by halves when its writer is cut off', async () => {
    const history = new History();
    await write(
      history,
      Array.from({ length: 60 }, (_, n): Happening => ({ call: n % 20, what: n < 30 ? 'start' : 'failed' })),
    );
    let finished = false;
    for (let cut = 0; !finished; cut += 1) {
      const projection = history.projection(4, mortal(cut % 97, cut % 2 === 0));
      try {
        while ((await projection.advance()).more);
        finished = true;
      } catch (error) {
        expect(String(error)).toContain('cut off');
      }
    }
    await history.project(4);
    const patched = await history.stored();
    await redis.hdel(keys.view(history.name), 'f');
    await history.project(100);
    expect(await history.stored()).toEqual(patched);
  });

  it('begins anew when the log went back, and when its epoch rose', async () => {
    const history = new History();
    await write(history, [
      { call: 1, what: 'completed' },
      { call: 2, what: 'failed' },
    ]);
    await history.project(10);
    const log = keys.log(history.name);
    const [last] = await redis.xrevrange(log, '+', '-', 'COUNT', 1);
    await redis.xdel(log, last?.[0] ?? '');
    await redis.decr(keys.seq(history.name));
    await redis.eval("redis.call('XSETID', KEYS[1], ARGV[1])", 1, log, `${Number(await redis.get(keys.seq(history.name)))}-0`);
    await history.project(10);
    expect(await redis.hlen(keys.viewOpen(history.name))).toBe(1);
    await history.happen({ call: 2, what: 'completed' }, 'acme');
    await history.project(10);
    const inOldEpoch = await history.stored();
    await redis.set(keys.epoch(history.name), '2');
    await history.project(10);
    const view = keys.view(history.name);
    expect(await history.stored()).toEqual({ ...inOldEpoch, [view]: { ...(inOldEpoch[view] as object), e: '2' } });
  });

  it('goes on when the beginning of the log is trimmed away', async () => {
    const history = new History();
    await write(history, [
      { call: 1, what: 'start' },
      { call: 2, what: 'failed' },
    ]);
    await history.project(10);
    await redis.xtrim(keys.log(history.name), 'MAXLEN', 0);
    await history.project(10);
    await history.happen({ call: 1, what: 'completed' }, 'acme');
    await history.project(10);
    expect(await redis.hget(keys.view(history.name), 'n:acme')).toBe('2');
    expect(await redis.exists(keys.viewOpen(history.name))).toBe(0);
  });

  it('writes signatures of a block once it is full, and words of errors that come later', async () => {
    const history = new History();
    for (let call = 0; call < 520; call += 1) await history.submit(call, 'acme');
    await history.project(100);
    for (let call = 0; call < 520; call += 9) await history.happen({ call, what: 'failed' }, 'acme');
    await history.project(100);
    const live = await history.stored();
    expect(live[keys.viewSignatures(history.name, 'acme', 0)]).toHaveLength(Math.ceil(65_536 / 3) * 4);
    await redis.hdel(keys.view(history.name), 'f');
    await history.project(2000);
    expect(await history.stored()).toEqual(live);
  });
});
