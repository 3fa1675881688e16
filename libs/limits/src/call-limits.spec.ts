import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Limits } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { CallLimits } from './call-limits.js';
import { limitChecks, type CallTree, type LimitCheck, type LimitedCall } from './limit-checks.js';

const aCall: LimitedCall = { tenantId: 'acme', keyId: 'k1', agentId: 'bob', sessionId: 's1', tool: 'shell', tier: 'privileged' };

function checksOf(limits: Partial<Limits>, call: Partial<LimitedCall> = {}, tree?: CallTree): LimitCheck[] {
  return limitChecks({ ...aCall, ...call }, Limits.parse(limits), tree);
}

describe('limits of calls', () => {
  let server: RedisServer;
  let connections: RedisConnection[];
  let tenant: string;
  /** States of calls in the log; missing ones are gone. */
  let log: Map<string, 'open' | 'ended'>;
  let limits: CallLimits[];

  /** Submits a call in one of the processes; true if it was admitted, and then the log has it. */
  const admit = async (callId: string, checks: readonly LimitCheck[], by = 0): Promise<boolean> => {
    const answers = await limits[by % limits.length]?.consume(tenant, callId, checks);
    const admitted = answers?.every(({ rejection }) => rejection === undefined) ?? false;
    if (admitted) log.set(callId, 'open');
    return admitted;
  };

  beforeAll(async () => {
    server = await startRedisServer();
    connections = [1, 2, 3].map(() => createRedis(server.url));
  });
  afterAll(async () => {
    for (const connection of connections) connection.disconnect();
    await server.stop();
  });
  beforeEach(() => {
    tenant = randomUUID();
    log = new Map();
    limits = connections.map((redis) => new CallLimits(redis, async (ids) => ids.map((id) => log.get(id) ?? 'gone')));
  });

  it('passes exactly 20 of 25 concurrent actions from three processes', async () => {
    const checks = checksOf({ actionsPerHour: 20 });
    const admitted = await Promise.all(Array.from({ length: 25 }, (_unused, n) => admit(`c${n}`, checks, n)));
    expect(admitted.filter(Boolean)).toHaveLength(20);
  });

  it('states which limit is full, how full, and when it has room again', async () => {
    const checks = checksOf({ actionsPerHour: 1 });
    await admit('c1', checks);
    const [answer] = (await limits[0]?.consume(tenant, 'c2', checks)) ?? [];
    expect(answer?.reason).toMatchObject({ axis: 'limits', rule: 'actions', effect: 'deny' });
    expect(answer?.rejection?.code).toBe('rate_limited');
    expect(answer?.rejection?.message).toMatch(
      /^Rate limit exceeded: 1 of 1 actions in the last hour of session s1; the next is possible in 3[56]\d\d(\.\d)? s$/,
    );
    expect(answer?.rejection?.retryAfterMs).toBeGreaterThan(3_590_000);
    expect(answer?.rejection?.retryAfterMs).toBeLessThanOrEqual(3_600_000);
  });

  it('counts a call against no limit if one of them is full', async () => {
    const full = checksOf({ rates: [{ per: 'tool', calls: 0, windowMs: 60_000 }] });
    const roomy = checksOf({ actionsPerHour: 1 });
    expect(await admit('c1', [...roomy, ...full])).toBe(false);
    expect(await admit('c2', roomy)).toBe(true);
  });

  it('counts a call once, though its script is sent twice', async () => {
    const checks = checksOf({ actionsPerHour: 2 });
    expect(await admit('c1', checks)).toBe(true);
    expect(await admit('c1', checks)).toBe(true);
    expect(await admit('c2', checks)).toBe(true);
    expect(await admit('c2', checks)).toBe(true);
    expect(await admit('c3', checks)).toBe(false);
  });

  it('slides the window of a limit: counts of the previous window expire [PP-101]', async () => {
    const checks = checksOf({ rates: [{ per: 'agent', calls: 2, windowMs: 60_000 }] });
    await admit('c1', checks);
    await admit('c2', checks);
    expect(await admit('c3', checks)).toBe(false);
    await connections[0]?.zincrby(keys.limit(tenant, checks[0]?.name ?? ''), -60_000, 'c1');
    expect(await admit('c4', checks)).toBe(true);
    expect(await admit('c5', checks)).toBe(false);
  });

  it('changes no limit by a quote', async () => {
    const checks = checksOf({ actionsPerHour: 1, concurrency: [{ per: 'tenant', calls: 1 }] });
    for (let n = 0; n < 3; n++) {
      const answers = (await limits[0]?.peek(tenant, `q${n}`, checks)) ?? [];
      expect(answers.map(({ reason }) => reason.effect)).toEqual(['allow', 'allow']);
    }
    expect(await admit('c1', checks)).toBe(true);
  });

  it('keeps the number of open calls within the limit and frees each place, with or without reported Ends', async () => {
    const step = fc.record({ by: fc.nat(2), what: fc.constantFrom('submit', 'end', 'end unheard') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (steps, allowed) => {
        tenant = randomUUID();
        log.clear();
        const checks = checksOf({ concurrency: [{ per: 'key', calls: allowed }] });
        let made = 0;
        for (const { by, what } of steps) {
          const open = [...log].filter(([, state]) => state === 'open').map(([id]) => id);
          if (what === 'submit') {
            expect(await admit(`c${made++}`, checks, by)).toBe(open.length < allowed);
          } else if (open[0] !== undefined) {
            log.set(open[0], 'ended');
            if (what === 'end') await limits[by]?.releaseOpen(tenant, open[0], checks);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the number of open calls within the limit under concurrent submissions and Ends of three processes', async () => {
    const checks = checksOf({ concurrency: [{ per: 'tenant', calls: 5 }] });
    let open = 0;
    let most = 0;
    let admitted = 0;
    const agent = async (by: number) => {
      for (let n = 0; n < 40; n++) {
        const callId = `a${by}-${n}`;
        if (!(await admit(callId, checks, by))) continue;
        admitted += 1;
        most = Math.max(most, ++open);
        await new Promise(setImmediate);
        open -= 1;
        log.set(callId, 'ended');
        // Skips every third End, as if its process had died.
        if (n % 3 !== 0) await limits[by % 3]?.releaseOpen(tenant, callId, checks);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_unused, by) => agent(by)));
    expect(most).toBeLessThanOrEqual(5);
    expect(admitted).toBeGreaterThan(50);
    expect(await admit('last', checks)).toBe(true);
  });

  it('frees places that were not released, for concurrent processes', async () => {
    const checks = checksOf({ concurrency: [{ per: 'tenant', calls: 9 }] });
    for (let round = 0; round < 5; round++) {
      const ids = Array.from({ length: 9 }, (_unused, n) => `r${round}-${n}`);
      expect(await Promise.all(ids.map((id, n) => admit(id, checks, n)))).toEqual(ids.map(() => true));
      for (const id of ids) log.set(id, 'ended');
    }
  });

  it('keeps the place of a call on its way into the log, and frees it if the call never arrives', async () => {
    const checks = checksOf({ concurrency: [{ per: 'key', calls: 1 }] });
    await limits[0]?.consume(tenant, 'lost', checks);
    expect(await admit('c1', checks)).toBe(false);
    await connections[0]?.zincrby(keys.limit(tenant, checks[0]?.name ?? ''), -61_500, 'lost');
    expect(await admit('c2', checks)).toBe(true);
  });

  it('returns the counts of a repetition or of an unaccepted call', async () => {
    const checks = checksOf({ actionsPerHour: 1, concurrency: [{ per: 'key', calls: 1 }] });
    await admit('c1', checks);
    await limits[1]?.release(tenant, 'c1', checks);
    expect(await admit('c2', checks, 2)).toBe(true);
  });

  it('leaves a tree no more calls than it has, and never frees one', async () => {
    const tree = checksOf({ treeCalls: 2 }, {}, { rootCallId: 'root', depth: 1 });
    const children = await Promise.all(['a', 'b', 'c', 'd'].map((id, n) => admit(id, tree, n)));
    expect(children.filter(Boolean)).toHaveLength(2);
    log.set('a', 'ended');
    await limits[0]?.releaseOpen(tenant, 'a', tree);
    expect(await admit('e', tree)).toBe(false);
  });

  it('separates the limits of tenants', async () => {
    const checks = checksOf({ rates: [{ per: 'tool', calls: 1, windowMs: 60_000 }] });
    expect(await admit('c1', checks)).toBe(true);
    tenant = randomUUID();
    expect(await admit('c2', checks)).toBe(true);
  });
});

describe('which limits count a call', () => {
  it('asks Redis for no limit of a call without settings', () => {
    expect(checksOf({})).toEqual([]);
    expect(checksOf({ argumentBytes: 10, queueDepth: 3 })).toEqual([]);
  });

  it('leaves reading calls out of the action budget [PP-101]', () => {
    expect(checksOf({ actionsPerHour: 20 }, { tier: 'read_only' })).toEqual([]);
    expect(checksOf({ actionsPerHour: 20 }, { tier: 'side_effecting' })).toHaveLength(1);
  });

  it('counts calls without a session for their agent, and without an agent for their key', () => {
    const named = (call: Partial<LimitedCall>) => checksOf({ actionsPerHour: 20 }, call)[0]?.name;
    expect(named({})).toBe('actions:session:s1');
    expect(named({ sessionId: undefined })).toBe('actions:agent:bob');
    expect(named({ sessionId: undefined, agentId: undefined })).toBe('actions:key:k1');
  });

  it('looks only at the tools that the rule of a limit names', () => {
    const rates = [{ per: 'tenant' as const, calls: 1, windowMs: 1000, tools: ['shell'] }];
    expect(checksOf({ rates })).toHaveLength(1);
    expect(checksOf({ rates }, { tool: 'echo' })).toEqual([]);
  });

  it('applies the stricter of two equal rules', () => {
    const concurrency = [
      { per: 'key' as const, calls: 9 },
      { per: 'key' as const, calls: 3 },
    ];
    expect(checksOf({ concurrency }).map(({ calls }) => calls)).toEqual([3]);
  });
});
