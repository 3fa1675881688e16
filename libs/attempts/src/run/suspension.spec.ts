import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LIMITS, type JsonValue } from '#contracts';
import { keys } from '#redis';
import { type Resumed, Suspension, type ToolContext, ToolError, type SuspensionOptions } from '#tool-sdk';
import { eventually } from '../../../../test/support/eventually.js';
import { WorkerParts } from '../../../../test/support/worker-parts.js';
import { executeAttempt, type AttemptOutcome } from './execute-attempt.js';

const TURN = {
  turn: 1,
  model: 'm',
  requestSha256: '0'.repeat(64),
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  tookMs: 1,
};

describe('a suspended call', () => {
  let parts: WorkerParts;
  beforeAll(async () => {
    parts = await WorkerParts.start();
  });
  afterAll(() => parts.close());

  const run = (callId: string, attempt: number): Promise<AttemptOutcome> =>
    executeAttempt({ callId, attempt }, 'read', parts.worker({ id: `w${attempt}` }));
  /** Tool that suspends itself with these options in its first attempts, then records the reasons of its resumptions and returns. */
  const suspending = (name: string, ...suspensions: SuspensionOptions[]): (Resumed | undefined)[] => {
    const seen: (Resumed | undefined)[] = [];
    parts.tool(name, {
      run: (_args, ctx) => {
        seen.push(ctx.resumed);
        const options = suspensions[ctx.attempt - 1];
        return options === undefined ? 'done' : new Suspension(options);
      },
    });
    return seen;
  };
  const give = async (callId: string, value: JsonValue, commandId: string = randomUUID()) => {
    const version = (await parts.store.snapshot(callId))?.version ?? 0;
    const author = { source: '/gateway/test', actor: 'apikey:person' };
    return parts.log.giveInput({ callId, guard: { by: 'command', version, commandId }, data: { request: 1, value }, author });
  };

  it('frees the worker of a call suspended until input, shows its question, and passes on the value and the state', async () => {
    const inputSchema = { type: 'string' };
    const seen = suspending('asks', { until: 'input', prompt: 'Which branch?', inputSchema, state: { step: 'hidden-state' } });
    const callId = await parts.submit('asks');
    await run(callId, 1);
    expect(await parts.store.read(callId)).toMatchObject({
      status: 'waiting_input',
      waiting: { reason: 'input', input: { attempt: 1, prompt: 'Which branch?', inputSchema } },
    });
    expect(await run(callId, 2)).toMatchObject({ kind: 'not_claimed', code: 'BAD_TRANSITION' });
    expect(await give(callId, 'main')).toMatchObject({ code: 'OK' });
    expect(parts.woken.at(-1)).toEqual({ callId, attempt: 2, queue: 'read', pool: 'read', priority: 'normal', tenantId: 'test' });
    await run(callId, 2);
    expect(seen).toEqual([undefined, { reason: 'input', state: { step: 'hidden-state' }, input: 'main' }]);
    expect(await parts.store.read(callId)).toMatchObject({ outcome: 'completed', attempt: 2 });
    expect(JSON.stringify(await parts.events(callId))).not.toContain('hidden-state');
  });

  it('looks at a young call suspended until children after 15 s at the latest, should their End not wake it', async () => {
    suspending('looks', { until: 'children' });
    const callId = await parts.submit('looks');
    expect(await run(callId, 1)).toMatchObject({ committed: { kind: 'retried', delayMs: 15_000 } });
    const [retry] = (await parts.events(callId)).filter(({ type }) => type === 'call.retry');
    expect(retry).toMatchObject({ data: { until: 'children', delayMs: 15_000 } });
  });

  it('expires the journal of a sub-agent an hour after its End, for any outcome', async () => {
    const ends = [
      () => 'done',
      () => {
        throw new ToolError('tool_failed', 'no');
      },
    ];
    for (const [n, end] of ends.entries()) {
      parts.tool(`agent${n}`, { pool: 'agent', run: end });
      const callId = await parts.submit(`agent${n}`, {}, { pool: 'agent' });
      await parts.redis.hset(keys.agentJournal(callId), 'turn.1', '{}');
      await executeAttempt({ callId, attempt: 1 }, 'agent', parts.worker({ id: 'w1' }));
      expect(await parts.store.read(callId)).toMatchObject({ status: 'ended' });
      const seconds = await parts.redis.ttl(keys.agentJournal(callId));
      expect([seconds > 3_500, seconds <= 3_600]).toEqual([true, true]);
    }
  });

  it('counts updates, progress and turns of a suspended call for its tenant, and ends it when there is no room', async () => {
    const counted = async (callId: string) => (await limited.store.snapshot(callId))?.openBytes ?? 0;
    const limited = await WorkerParts.start({ tenantCallBytes: 40_000 });
    const text = 'x'.repeat(4_000);
    const keep: Readonly<Record<string, (ctx: ToolContext) => unknown>> = {
      updates: ({ onUpdate }) => onUpdate([{ type: 'text', text }]),
      progress: ({ onProgress }) => onProgress({ message: text.slice(0, 1_000) }),
      turns: ({ agentRun }) => agentRun?.recordTurn(TURN, 4_000),
    };
    for (const [name, more] of Object.entries(keep)) {
      limited.tool(name, {
        run: async (_args, ctx) => {
          if (ctx.attempt > 1) await more(ctx);
          return new Suspension({ until: 'children', resumeInMs: 0 });
        },
      });
      const callId = await limited.submit(name, {}, { retry: { maxAttempts: 20, backoffMs: 0, maxBackoffMs: 0 } });
      const grown: number[] = [];
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const before = await counted(callId);
        await executeAttempt({ callId, attempt }, 'read', limited.worker({ id: `w${attempt}` }));
        grown.push((await counted(callId)) - before);
      }
      const [without = 0, ...others] = grown;
      for (const more of others) expect(more - without).toBeGreaterThan(name === 'progress' ? 1_000 : 4_000);
      if (name !== 'updates') continue;
      for (let attempt = 4; (await limited.store.read(callId))?.status !== 'ended'; attempt += 1)
        await executeAttempt({ callId, attempt }, 'read', limited.worker({ id: `w${attempt}` }));
      const error = { code: 'unavailable', message: expect.stringContaining('TENANT_CALL_BYTES') };
      expect(await limited.store.read(callId)).toMatchObject({ outcome: 'failed', error });
    }
    await limited.close();
  });

  it('accepts the first value of a suspended call, and a repetition of the same command', async () => {
    suspending('once', { until: 'input' });
    const callId = await parts.submit('once');
    await run(callId, 1);
    expect(await give(callId, 1, 'same')).toMatchObject({ code: 'OK' });
    expect(await give(callId, 1, 'same')).toMatchObject({ code: 'REPLAY' });
    expect(await give(callId, 2, 'other')).toEqual({ code: 'BAD_TRANSITION', status: 'queued' });
  });

  it('restores the last suspension for the next attempt after a failed one', async () => {
    const seen: (Resumed | undefined)[] = [];
    parts.tool('fails', {
      run: (_args, ctx) => {
        seen.push(ctx.resumed);
        if (ctx.attempt === 1) return new Suspension({ until: 'input', state: [1] });
        if (ctx.attempt === 2) throw new ToolError('unavailable', 'try again', { retryable: true });
        return 'done';
      },
    });
    const callId = await parts.submit('fails', {}, { retry: { maxAttempts: 3, backoffMs: 0, maxBackoffMs: 0 } });
    await run(callId, 1);
    await give(callId, 'yes');
    await run(callId, 2);
    await run(callId, 3);
    const resumed = { reason: 'input', state: [1], input: 'yes' };
    expect(seen).toEqual([undefined, resumed, resumed]);
  });

  it('resumes without a value after the time that the tool gave', async () => {
    const seen = suspending('patient', { until: 'input', resumeInMs: 0, state: 'kept' });
    const callId = await parts.submit('patient');
    await run(callId, 1);
    await run(callId, 2);
    expect(seen[1]).toEqual({ reason: 'timer', state: 'kept' });
    expect(await give(callId, 'late')).toMatchObject({ code: 'ENDED' });
  });

  it('wakes a call suspended until its children end by the End of one, in the same script', async () => {
    const seen = suspending('parent', { until: 'children', resumeInMs: 3_600_000 });
    suspending('child');
    const parent = await parts.submit('parent');
    await run(parent, 1);
    const child = await parts.submit('child', {}, { parentCallId: parent });
    expect(await run(parent, 2)).toMatchObject({ kind: 'not_claimed', code: 'NOT_DUE' });
    await run(child, 1);
    expect(parts.woken.at(-1)).toMatchObject({ callId: parent, attempt: 2 });
    await run(parent, 2);
    expect(seen[1]).toEqual({ reason: 'woken' });
    expect((await parts.events(child)).map(({ parentcallid }) => parentcallid)).toEqual([parent, parent, parent]);
  });

  it('makes a suspended call due at once when a child ended while it ran, and not a second time for the same End', async () => {
    suspending('child');
    let child = '';
    const seen: (Resumed | undefined)[] = [];
    parts.tool('busy', {
      run: async (_args, ctx) => {
        seen.push(ctx.resumed);
        if (ctx.attempt === 1) {
          child = await parts.submit('child', {}, { parentCallId: ctx.callId });
          await run(child, 1);
        }
        return ctx.attempt === 3 ? 'done' : new Suspension({ until: 'children' });
      },
    });
    const callId = await parts.submit('busy');
    await run(callId, 1);
    expect(parts.woken.at(-1)).toMatchObject({ callId, attempt: 2 });
    await run(callId, 2);
    expect(seen[1]).toEqual({ reason: 'woken' });
    expect(await run(callId, 3)).toMatchObject({ kind: 'not_claimed', code: 'NOT_DUE' });
    expect(await parts.log.wake(callId)).toEqual({ code: 'OK' });
    expect(await parts.log.wake(callId)).toEqual({ code: 'OK' });
    expect(parts.woken.filter((woken) => woken.callId === callId).map(({ attempt }) => attempt)).toEqual([2, 3]);
    await run(callId, 3);
    expect(await parts.store.read(callId)).toMatchObject({ outcome: 'completed' });
  });

  it('keeps a call suspended that waits for something else when its children end', async () => {
    suspending('child');
    suspending('sleeper', { resumeInMs: 3_600_000 });
    const callId = await parts.submit('sleeper');
    await run(callId, 1);
    await run(await parts.submit('child', {}, { parentCallId: callId }), 1);
    await parts.log.wake(callId);
    expect(await run(callId, 2)).toMatchObject({ kind: 'not_claimed', code: 'NOT_DUE' });
  });

  it('fails a suspended call when it wants to keep more than its limit, or no JSON', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const state of ['x'.repeat(LIMITS.suspensionStateBytes), circular as never]) {
      suspending('greedy', { until: 'input', state });
      const callId = await parts.submit('greedy');
      await run(callId, 1);
      expect(await parts.store.read(callId)).toMatchObject({ outcome: 'failed', error: { code: 'output_invalid' } });
    }
  });

  it('fails a suspended call with the reason when Redis is above maxmemory and does not take its state', async () => {
    parts.tool('full', {
      run: async () => {
        await parts.redis.config('SET', 'maxmemory', '1');
        return new Suspension({ until: 'input', state: 'x' });
      },
    });
    const callId = await parts.submit('full');
    const running = run(callId, 1);
    try {
      await eventually(async () => (await parts.store.read(callId))?.status === 'ended', 'the call to end');
    } finally {
      await parts.redis.config('SET', 'maxmemory', '0');
      await running;
    }
    expect(await parts.store.read(callId)).toMatchObject({
      outcome: 'failed',
      error: { code: 'unavailable', message: expect.stringContaining('Redis has no room'), retryable: true },
    });
  });

  it('deletes the data of a suspended call beside the log after its end', async () => {
    suspending('tidy', { until: 'input', state: 'x' });
    const callId = await parts.submit('tidy');
    await run(callId, 1);
    expect(await parts.redis.exists(keys.blob(callId, 'suspension.1'))).toBe(1);
    await give(callId, 'go');
    await run(callId, 2);
    // Commands on one connection keep their order, and the deletion was sent before the attempt resolved.
    expect(await parts.redis.exists(keys.blob(callId, 'suspension.1'))).toBe(0);
  });
});
