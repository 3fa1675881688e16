import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CallEvent } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { CALLS, lastSteps, making, type Making, type Step } from '../testing/arbitrary-transitions.js';
import { checkPartition } from '../../../../test/support/log-invariants.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { Model } from '../specification/call-model.js';
import { encodeSnapshot } from '../call/call-snapshot.js';
import { parseSuspension, resumeReason } from '../call/suspension-text.js';
import { eventSeqs } from '../read/update-index.js';
import { EVERY_ANSWER } from '../specification/every-answer.js';
import { toStoredEvent } from './stored-event.js';
import { parseAnswer, parseClaim } from './transition-answer.js';
import { runTransitions } from './transition-script.js';

const PARTITIONS = ['00', '01'];

/** Run of the script over several transitions, some of them of the same call. */
class Run implements fc.AsyncCommand<Model, RedisConnection> {
  private ran: string[] = [];

  constructor(private readonly steps: readonly (readonly [callIndex: number, make: Making])[]) {}

  check(): boolean {
    return true;
  }

  async run(model: Model, redis: RedisConnection): Promise<void> {
    this.ran = [];
    const steps = this.steps.map(([index, make]) => make(CALLS[index] ?? '', model));
    const { now, answers } = await runTransitions(
      redis,
      'progress',
      steps.map(({ transition }) => transition),
    );
    for (const [index, step] of steps.entries()) {
      const expected = model.apply(step.callId, step.command, now, step.key);
      expect({ step: step.command, answer: readAnswer(model, step, { now, answer: answers[index] }) }).toEqual({
        step: step.command,
        answer: expected,
      });
      count(model, step, expected);
      lastSteps.set(model, step);
      this.ran.push(`${step.callId} ${JSON.stringify(step.command)} → ${JSON.stringify(expected)}`);
    }
    const ids = [...new Set(steps.map(({ callId }) => callId))];
    const stored = await Promise.all(ids.map((callId) => redis.getBuffer(keys.call(callId))));
    const believed = ids.map((callId) => model.states.get(callId)).map((state) => (state ? encodeSnapshot(state) : null));
    expect(stored).toEqual(believed);
  }

  toString(): string {
    return `run of ${this.steps.length}: ${this.ran.join(', ')}`;
  }
}

/** Lets time pass for one call by moving all times in its state into the past. */
class Pass implements fc.AsyncCommand<Model, RedisConnection> {
  constructor(
    private readonly callIndex: number,
    private readonly ms: number,
  ) {}

  check(model: Readonly<Model>): boolean {
    const state = model.states.get(CALLS[this.callIndex] ?? '');
    return state !== undefined && state.status !== 'ended';
  }

  async run(model: Model, redis: RedisConnection): Promise<void> {
    const callId = CALLS[this.callIndex] ?? '';
    const state = model.states.get(callId);
    if (state === undefined) return;
    const earlier = (time: number) => (time === 0 ? 0 : time - this.ms);
    const { deadline, totalDeadline, leaseUntil, notBefore, cancelBy, timer } = state;
    const moved = {
      ...state,
      deadline: earlier(deadline),
      totalDeadline: earlier(totalDeadline),
      leaseUntil: earlier(leaseUntil),
      notBefore: earlier(notBefore),
      cancelBy: earlier(cancelBy),
      timer: earlier(timer),
    };
    model.states.set(callId, moved);
    await redis.set(keys.call(callId), encodeSnapshot(moved));
    await redis.zadd(keys.outbox(callId.slice(0, 2)), moved.timer, callId);
  }

  toString(): string {
    return `${this.ms} ms pass for ${this.callIndex}`;
  }
}

function readAnswer(model: Model, { callId, command: { kind } }: Step, reply: { now: number; answer: unknown }): object {
  if (kind !== 'claim' || !Array.isArray(reply.answer)) {
    const { extra: _note, woken: _woken, ...answer } = parseAnswer(reply);
    return answer;
  }
  const { code, version, seq, time, submitted, resumed } = { submitted: undefined, resumed: undefined, ...parseClaim(reply) } as {
    code: string;
    version: number;
    seq: number;
    time: number;
    submitted: unknown;
    resumed: unknown;
  };
  const { kind: suspended } = parseSuspension(model.states.get(callId)?.suspension ?? '');
  expect(resumed).toEqual(
    suspended === 'none'
      ? undefined
      : { reason: resumeReason(suspended), ...(suspended === 'given' && { input: { request: 1, value: 'é' } }) },
  );
  const { edited, digest } = model.states.get(callId)?.options ?? {};
  const args = edited === true ? { n: 1 } : { text: 'héllo' };
  expect(submitted).toMatchObject({ tool: 'echo', arguments: args, ...(edited && { argumentsDigest: digest, argumentsEdited: true }) });
  return { code, version, seq, time };
}

function count(model: Model, { command: { kind } }: Step, answer: object): void {
  const name = `${kind} ${'code' in answer ? String(answer.code) : ''}`;
  model.seen.set(name, (model.seen.get(name) ?? 0) + 1);
}

describe('the transition script and the pure decider', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  afterAll(async () => {
    await redis.quit();
    await server.stop();
  });

  it('computes the same answers, states, events and timers by script and by decider, for any transitions', async () => {
    const seen = new Map<string, number>();
    const steps = fc.array(fc.tuple(fc.nat(CALLS.length - 1), making), { minLength: 1, maxLength: 5 });
    const run = steps.map((list) => new Run(list));
    const pass = fc
      .tuple(fc.nat(CALLS.length - 1), fc.constantFrom(2_500, 4_500, 4_500, 4_500, 61_000))
      .map(([index, ms]) => new Pass(index, ms));
    const runs = fc.commands([run, run, run, pass], { maxCommands: 60, size: 'max' });
    const compare = fc.asyncProperty(runs, async (commands) => {
      await redis.flushall();
      const model = new Model();
      await fc.asyncModelRun(() => ({ model, real: redis }), commands);
      await expectSameLog(redis, model);
      for (const [name, times] of model.seen) seen.set(name, (seen.get(name) ?? 0) + times);
    });
    await fc.assert(compare, { numRuns: 150 });
    // Draws more runs until every answer has occurred.
    const missing = () => EVERY_ANSWER.filter((name) => !seen.has(name));
    for (let round = 0; round < 30 && missing().length > 0; round++) await fc.assert(compare, { numRuns: 50 });
    expect(missing()).toEqual([]);
    expect([...seen.values()].reduce((sum, times) => sum + times, 0)).toBeGreaterThan(4_000);
  });
});

async function expectSameLog(redis: RedisConnection, model: Model): Promise<void> {
  for (const partition of PARTITIONS) {
    const entries = await redis.xrange(keys.log(partition), '-', '+');
    const stored = entries.map(([entryId, fields]) => toStoredEvent(partition, 1, entryId, fields));
    const envelopes = stored.map((event) => CallEvent.parse(JSON.parse(event?.json ?? 'null')));
    const logged = envelopes.map((event, index) => ({
      callId: event.subject,
      type: event.type,
      seq: stored[index]?.seq,
      version: event.callver,
      attempt: event.attempt,
      fence: event.fence,
    }));
    expect(logged).toEqual(model.events.filter(({ callId }) => callId.startsWith(partition)));
    const timers = await redis.zrange(keys.outbox(partition), '0', '-1', 'WITHSCORES');
    const believed = [...model.states.values()].filter((state) => state.callId.startsWith(partition) && state.status !== 'ended');
    expect(Object.fromEntries(pairs(timers))).toEqual(Object.fromEntries(believed.map(({ callId, timer }) => [callId, String(timer)])));
    expect(await checkPartition(redis, partition)).toEqual([]);
  }
  for (const [callId, state] of model.states) {
    const index = (await redis.getBuffer(keys.updateIndex(callId))) ?? Buffer.alloc(0);
    const logged = model.events.filter((event) => event.callId === callId);
    expect(eventSeqs(state, index)).toEqual(logged.map(({ seq }) => seq));
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
