import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Suspension, ToolError } from '#tool-sdk';
import { eventually } from '../../../../test/support/eventually.js';
import { stopReason, WorkerParts } from '../../../../test/support/worker-parts.js';
import { executeAttempt } from './execute-attempt.js';
import type { AttemptDependencies } from './attempt-dependencies.js';

describe('executeAttempt', () => {
  let parts: WorkerParts;
  let worker: AttemptDependencies;
  beforeAll(async () => {
    parts = await WorkerParts.start();
    worker = parts.worker();
  });
  afterAll(() => parts.close());

  const run = (callId: string, attempt = 1) => executeAttempt({ callId, attempt }, 'read', worker);

  it('claims, runs and ends a call in three events, with the result of the tool', async () => {
    parts.tool('greet', { run: ({ name }) => `hello ${String(name)}` });
    const callId = await parts.submit('greet', { name: 'Ada' });
    await run(callId);
    expect(await parts.types(callId)).toEqual(['call.submitted', 'call.start', 'call.end']);
    expect(await parts.store.read(callId)).toMatchObject({
      status: 'ended',
      outcome: 'completed',
      attempt: 1,
      result: { content: [{ type: 'text', text: 'hello Ada' }], isError: false },
    });
    expect(worker.inFlight.size).toBe(0);
  });

  it('ignores a job whose attempt is over or not due, and logs why', async () => {
    parts.tool('greet', { run: () => 'hi' });
    const callId = await parts.submit('greet');
    await run(callId);
    expect(await run(callId)).toMatchObject({ kind: 'not_claimed', code: 'ENDED' });
    expect(await run(`${callId.slice(0, 3)}01JZ8C5W3Q4X9R7T2M6K8N0P1V`)).toMatchObject({ kind: 'not_claimed', code: 'NOT_FOUND' });
  });

  it('passes the called name to a tool [CC-21]', async () => {
    const seen: string[] = [];
    parts.tool('look', { run: (_args, ctx) => (seen.push(ctx.toolName), '') });
    await run(await parts.submit('look', {}, { requestedTool: 'fs_look' }));
    await run(await parts.submit('look'));
    expect(seen).toEqual(['fs_look', 'look']);
  });

  it('passes ids, an environment and an existing directory of the session to tools [CC-20]', async () => {
    let seen: unknown;
    parts.tool('look', {
      run: (_args, ctx) => {
        seen = { ...ctx, root: ctx.workspace.root, exists: existsSync(ctx.workspace.root) };
        return '';
      },
    });
    const callId = await parts.submit('look', {}, { sessionId: 's1' });
    await run(callId);
    expect(seen).toMatchObject({
      callId,
      toolName: 'look',
      attempt: 1,
      fence: 1,
      tenantId: 'test',
      sessionId: 's1',
      exists: true,
      root: expect.stringMatching(/\/test\/sessions\/s1$/),
    });
  });

  it('sends merged updates in order to watchers, with a proof of completeness in End [CC-23, EV-02]', async () => {
    parts.tool('talk', {
      run: (_args, ctx) => {
        for (const word of ['one ', 'two ', 'three']) ctx.onUpdate([{ type: 'text', text: word }]);
        return 'done';
      },
    });
    const callId = await parts.submit('talk');
    await run(callId);
    const events = await parts.events(callId);
    const updates = events.flatMap((event) => (event.type === 'call.update' ? [event.data] : []));
    expect(updates).toEqual([
      { update: 1, content: [{ type: 'text', text: 'one ' }] },
      { update: 2, content: [{ type: 'text', text: 'two three' }] },
    ]);
    const sha256 = createHash('sha256')
      .update(updates.map(({ content }) => `${JSON.stringify(content)}\n`).join(''))
      .digest('hex');
    expect(events.at(-1)).toMatchObject({ type: 'call.end', data: { updates: { count: 2, sha256 } } });
  });

  it.each([
    ['is the sum of its programs', [40.4, 2.5], 43],
    ['is absent when it is not known of one of them', [40, undefined, 2], undefined],
    ['is absent when it ran none', [], undefined],
  ])('states the CPU time in the End of a call that %s', async (_title, times, sum) => {
    parts.tool('works', { run: (_args, ctx) => (times.forEach((ms) => ctx.onCpuTime?.(ms)), 'done') });
    const callId = await parts.submit('works');
    await run(callId);
    const end = (await parts.events(callId)).at(-1);
    expect(end?.type === 'call.end' && [end.data.outcome, end.data.cpuMs]).toEqual(['completed', sum]);
  });

  it('turns a thrown error into a result without its text, and a ToolError into one with it [CC-40, CC-44, CC-50, CC-51]', async () => {
    parts.tool('broken', {
      run: () => {
        throw new Error('password is hunter2 in /etc/secret');
      },
    });
    parts.tool('refuses', {
      run: () => {
        throw new ToolError('unavailable', 'The site is down.', { retryable: false });
      },
    });
    const [broken, refuses] = [await parts.submit('broken'), await parts.submit('refuses')];
    await run(broken);
    await run(refuses);
    const call = await parts.store.read(broken);
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed' }, result: { isError: true } });
    expect(JSON.stringify(call)).not.toContain('hunter2');
    expect(JSON.stringify(call?.result)).toContain(broken);
    expect(await parts.store.read(refuses)).toMatchObject({
      outcome: 'failed',
      error: { code: 'unavailable' },
      result: { content: [{ type: 'text', text: 'The site is down.' }], isError: true },
    });
  });

  it('fails an unknown tool with the names that are near', async () => {
    const callId = await parts.submit('grete');
    await run(callId);
    expect(await parts.store.read(callId)).toMatchObject({
      outcome: 'failed',
      error: { code: 'not_found', message: 'Tool not found: grete\nDid you mean: greet?' },
    });
  });

  it('gives the model 16,384 bytes of a long output and stores the whole [EX-47, EX-48]', async () => {
    const text = '😀'.repeat(40_000);
    parts.tool('long', { run: () => text });
    const callId = await parts.submit('long');
    await run(callId);
    const call = await parts.store.read(callId);
    const [item] = call?.result?.content ?? [];
    const shown = item?.type === 'text' ? item.text : '';
    expect(shown.endsWith('[output truncated — original size: 160,000 bytes]')).toBe(true);
    expect(shown).not.toContain('\ufffd');
    expect(call?.result?.truncated).toEqual({ originalBytes: 160_000, artifactUri: `/v1/calls/${callId}/output` });
    expect((await parts.blobs.get(callId, 'output'))?.toString()).toBe(text);
  });

  it('stores a result above 6,144 bytes beside the log', async () => {
    parts.tool('medium', { run: () => ({ content: [{ type: 'json', json: { text: 'x'.repeat(7_000) } }] }) });
    const callId = await parts.submit('medium');
    await run(callId);
    const end = (await parts.events(callId)).at(-1);
    expect(end).toMatchObject({ data: { resultRef: { ref: 'result' } } });
    expect(end).not.toHaveProperty('data.result');
    expect((await parts.store.read(callId))?.result?.content).toEqual([{ type: 'json', json: { text: 'x'.repeat(7_000) } }]);
  });

  it('refuses an invalid output, or one that does not match the schema', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    parts.tool('cyclic', { run: () => ({ content: [], details: cyclic }) });
    parts.tool('wrong', { output: { type: 'object' }, run: () => ({ content: [], structuredContent: 7 }) });
    const ids = [await parts.submit('cyclic'), await parts.submit('wrong')];
    for (const id of ids) await run(id);
    for (const id of ids) expect(await parts.store.read(id)).toMatchObject({ outcome: 'failed', error: { code: 'output_invalid' } });
  });

  it('ends a run past its deadline as timed out, with how the tool stopped [CC-10]', async () => {
    parts.tool('polite', {
      effect: 'once',
      run: (_args, ctx) =>
        new Promise((_resolve, reject) => {
          const stop = () => reject(stopReason(ctx.signal));
          if (ctx.signal.aborted) stop();
          ctx.signal.addEventListener('abort', stop);
        }),
    });
    parts.tool('deaf', { effect: 'once', run: () => new Promise(() => {}) });
    const timeouts = { queueMs: 60_000, runMs: 300, totalMs: 120_000 };
    const [polite, deaf] = [await parts.submit('polite', {}, { timeouts }), await parts.submit('deaf', {}, { timeouts })];
    await Promise.all([run(polite), run(deaf)]);
    expect((await parts.events(polite)).at(-1)).toMatchObject({
      data: { outcome: 'timed_out', error: { code: 'run_timeout' }, stopped: { how: 'stopped' } },
    });
    expect((await parts.events(deaf)).at(-1)).toMatchObject({ data: { outcome: 'timed_out', stopped: { how: 'unknown' } } });
    expect(worker.inFlight.size).toBe(0);
  });

  it('retries a retryable failure up to its attempts, and never one with an effect that must not repeat [DX-03]', async () => {
    const fail = () => {
      throw new ToolError('unavailable', 'Try later.');
    };
    parts.tool('flaky', { run: fail });
    parts.tool('onceOnly', { effect: 'once', run: fail });
    const flaky = await parts.submit('flaky');
    for (const attempt of [1, 2, 3]) await run(flaky, attempt);
    expect(await parts.types(flaky)).toEqual([
      'call.submitted',
      'call.start',
      'call.retry',
      'call.start',
      'call.retry',
      'call.start',
      'call.end',
    ]);
    expect(await parts.store.read(flaky)).toMatchObject({ outcome: 'failed', attempt: 3, error: { code: 'unavailable' } });
    const once = await parts.submit('onceOnly');
    await run(once);
    expect(await parts.types(once)).toEqual(['call.submitted', 'call.start', 'call.end']);
  });

  it('frees the slot of a waiting tool without counting a failure', async () => {
    parts.tool('nap', { run: (_args, ctx) => (ctx.attempt === 1 ? new Suspension(1) : 'rested') });
    const callId = await parts.submit('nap', {}, { retry: { maxAttempts: 1, backoffMs: 0, maxBackoffMs: 0 } });
    expect(await run(callId)).toMatchObject({ committed: { kind: 'retried', delayMs: 1, nextAttempt: 2 } });
    await eventually(async () => (await run(callId, 2)).kind === 'executed', 'the call to be due');
    expect(await parts.store.read(callId)).toMatchObject({ outcome: 'completed', attempt: 2 });
  });

  it('writes nothing more of an attempt that another worker has, and aborts the tool', async () => {
    let aborted = false;
    let release = () => {};
    const started = new Promise<void>((resolve) => {
      parts.tool('slow', {
        effect: 'once',
        run: (_args, ctx) => {
          resolve();
          ctx.signal.addEventListener('abort', () => (aborted = true));
          return new Promise((done) => (release = () => done('too late')));
        },
      });
    });
    const callId = await parts.submit('slow');
    const running = executeAttempt({ callId, attempt: 1 }, 'read', parts.worker({ id: 'w2', leaseMs: 120 }));
    await started;
    await eventually(async () => {
      const answer = await parts.log.end({
        callId,
        guard: { by: 'reconciler', fence: 1 },
        data: { outcome: 'unknown', attempts: 1 },
        author: { source: '/reconciler/x', actor: 'system:reconciler' },
      });
      // The lease is renewed, so the call is not due until the test fences it by a later End.
      if (answer.code !== 'NOT_DUE') return true;
      await parts.cancel(callId, 0).catch(() => {});
      return false;
    }, 'the call to be taken away');
    await eventually(() => aborted, 'the tool to be aborted');
    release();
    await running;
    expect((await parts.types(callId)).filter((type) => type === 'call.end')).toHaveLength(1);
    expect((await parts.events(callId)).at(-1)).toMatchObject({ source: '/reconciler/x' });
  });
});
