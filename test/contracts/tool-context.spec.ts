import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { executeAttempt } from '#attempts';
import type { CallEvent, CallEventOf, CallEventType } from '#contracts';
import { WorkerParts } from '../support/worker-parts.js';

const firstOf = <T extends CallEventType>(events: readonly CallEvent[], type: T): CallEventOf<T> | undefined =>
  events.find((event): event is CallEventOf<T> => event.type === type);

describe('what a tool is given, and what becomes of what it gives', () => {
  let parts: WorkerParts;
  beforeAll(async () => void (parts = await WorkerParts.start()));
  afterAll(() => parts.close());

  const run = async (args: object = {}) => {
    const callId = await parts.submit('probe', JSON.parse(JSON.stringify(args)), { sessionId: 's1' });
    await executeAttempt({ callId, attempt: 1 }, 'read', parts.worker());
    return callId;
  };

  it('gives a tool a context that no argument can change [CC-17]', async () => {
    let seen: unknown[] = [];
    parts.tool('probe', { run: (args, ctx) => ((seen = [args, ctx.tenantId, ctx.sessionId]), 'ran') });
    const args = { ctx: { tenantId: 'other', sessionId: 'other' }, tenantId: 'other', sessionId: 'other' };
    await run(args);
    expect(seen).toEqual([args, 'test', 's1']);
  });

  it('shows partial content and progress to watchers, and only the last word to the model [CC-23, CC-24, EV-04]', async () => {
    parts.tool('probe', {
      run: (_args, ctx) => {
        ctx.onUpdate([{ type: 'text', text: 'partial\n' }]);
        ctx.onProgress({ message: 'half', done: 1, total: 2 });
        return 'final';
      },
    });
    const callId = await run();
    const events = await parts.events(callId);
    expect(firstOf(events, 'call.update')?.data).toEqual({ update: 1, content: [{ type: 'text', text: 'partial\n' }] });
    expect(events.find(({ type }) => type === 'call.progress')).toMatchObject({
      subject: callId,
      tool: 'probe',
      data: { message: 'half', done: 1, total: 2 },
    });
    expect((await parts.store.read(callId))?.result).toEqual({ content: [{ type: 'text', text: 'final' }], isError: false });
  });

  it('takes nothing of a tool for an empty text, and text, JSON and images as they are [CC-33, CC-34]', async () => {
    parts.tool('probe', { run: () => '' });
    expect((await parts.store.read(await run()))?.result?.content).toEqual([{ type: 'text', text: '' }]);
    const content = [
      { type: 'text', text: 'a' },
      { type: 'json', json: { b: 1 } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ] as const;
    parts.tool('probe', { run: () => content });
    expect((await parts.store.read(await run()))?.result?.content).toEqual(content);
  });
});
