import { beforeEach, describe, expect, it } from '@jest/globals';
import type { CallEvent } from '#contracts';
import { ToolyardError } from '../../toolyard-error.js';
import type { ToolyardClient } from '../../toolyard-client.js';
import { followToolCall, runToolCall } from './run-tool-call.js';
import { runTurn } from './run-turn.js';
import type { ToolCall } from './tool-call.js';

const ID = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const QUEUED = { id: ID, status: 'queued' };
const ENDED = { id: ID, status: 'ended', outcome: 'completed', result: { content: [{ type: 'text', text: 'done' }], isError: false } };
const CALL = { name: 'shell', arguments: { command: 'make' }, id: 'call_1' };
const AWAY = new ToolyardError('unreachable', 'No answer');

/** Gateway that answers each request with the next of a list; errors are thrown. */
function gateway(script: { submit: unknown[]; get?: unknown[]; events?: unknown[] }) {
  const requests: unknown[] = [];
  const next = (list: unknown[] = []) => {
    const answer = list.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const calls = {
    submit: async (body: unknown) => (requests.push(body), next(script.submit)),
    get: async (_id: string, { signal }: { signal?: AbortSignal }) => {
      if (script.get?.length === 0) await aborted(signal);
      return next(script.get);
    },
    cancel: async (id: string) => (requests.push(`cancel ${id}`), ENDED),
    async *stream(_id: string, { signal }: { signal: AbortSignal }) {
      for (const event of script.events ?? []) {
        if (event instanceof Error) throw event;
        if (event === 'hang') await aborted(signal);
        yield event as CallEvent;
      }
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the methods that are called
  return { client: { calls } as unknown as Pick<ToolyardClient, 'calls'>, requests };
}

/** Pending request, which rejects on abort. */
function aborted(signal?: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(new ToolyardError('aborted', 'aborted'));
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort);
  });
}

describe('runToolCall', () => {
  it('submits a tool call in the dialect that the model speaks', async () => {
    const { client, requests } = gateway({ submit: [ENDED] });
    await runToolCall(client, { sessionId: 's', dialect: 'claude-code' }, { ...CALL, name: 'Bash' });
    expect(requests).toMatchObject([{ tool: 'Bash', dialect: 'claude-code' }]);
  });

  it('submits a tool call with session and id of the model as the key, and waits for the end', async () => {
    const { client, requests } = gateway({ submit: [QUEUED], get: [QUEUED, ENDED] });
    const answer = await runToolCall(client, { sessionId: 's', agentId: 'a', labels: { run: '7' } }, CALL);
    expect(answer).toEqual({
      status: 'ended',
      text: 'done',
      content: ENDED.result.content,
      isError: false,
      callId: ID,
      outcome: 'completed',
    });
    const sent = {
      tool: 'shell',
      arguments: { command: 'make' },
      sessionId: 's',
      agentId: 'a',
      labels: { run: '7' },
      toolCallId: 'call_1',
    };
    expect(requests).toEqual([sent]);
  });

  it('answers a refused call with the result for the model', async () => {
    const problem = { type: 't', title: 'Denied', status: 403, detail: 'no', code: 'policy_denied' as const, callId: ID };
    const refusal = ToolyardError.of({ ...problem, result: { content: [{ type: 'text', text: 'denied' }], isError: true } });
    const { client } = gateway({ submit: [refusal] });
    expect(await runToolCall(client, { sessionId: 's' }, CALL)).toMatchObject({ text: 'denied', isError: true, callId: ID });
  });

  it('rejects a tool call if the request itself fails', async () => {
    const { client } = gateway({ submit: [new ToolyardError('unauthenticated', 'wrong key')] });
    await expect(runToolCall(client, { sessionId: 's' }, CALL)).rejects.toThrow('wrong key');
  });

  it('continues a tool call across restarts of gateways for the configured time', async () => {
    const { client } = gateway({ submit: [AWAY, QUEUED], get: [AWAY, ENDED] });
    expect(await runToolCall(client, { sessionId: 's' }, CALL)).toMatchObject({ text: 'done' });
    await expect(runToolCall(gateway({ submit: [AWAY] }).client, { sessionId: 's', outageMs: 0 }, CALL)).rejects.toBe(AWAY);
  });

  it('cancels the call on abort, unless the session disables that', async () => {
    for (const cancelOnAbort of [true, false]) {
      const { client, requests } = gateway({ submit: [QUEUED], get: [] });
      const controller = new AbortController();
      const run = runToolCall(client, { sessionId: 's', cancelOnAbort }, CALL, controller.signal);
      controller.abort(new Error('enough'));
      await expect(run).rejects.toThrow('enough');
      expect(requests.includes(`cancel ${ID}`)).toBe(cancelOnAbort);
    }
  });
});

describe('callbacks', () => {
  const seen: unknown[] = [];
  const callbacks = {
    before: (call: ToolCall) => (seen.push(call.arguments), call.name === 'refused' ? 'no' : undefined),
    after: (call: ToolCall) => void seen.push(call.arguments),
  };
  const repaired = '{"force":true}';

  beforeEach(() => {
    seen.length = 0;
  });

  it('passes arguments to callbacks as an object, also repaired ones, and an unreadable text unchanged', async () => {
    const { client, requests } = gateway({ submit: [ENDED] });
    await runToolCall(client, { sessionId: 's', callbacks }, { ...CALL, arguments: '{force: true}' });
    expect(requests).toMatchObject([{ arguments: repaired }]);
    for (const text of [JSON.stringify(repaired), 'ls', '["ls"]'])
      await runToolCall(gateway({ submit: [ENDED] }).client, { sessionId: 's', callbacks }, { ...CALL, arguments: text });
    const force = { force: true };
    expect(seen).toEqual([force, force, force, force, 'ls', 'ls', '["ls"]', '["ls"]']);
  });

  it('passes the arguments of each call of a turn to callbacks', async () => {
    const { content, isError } = ENDED.result;
    const requests: unknown[] = [];
    const batch = { id: ID, status: 'ended', steering: [], results: [{ callId: ID, outcome: 'completed', result: { content, isError } }] };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the method that is called
    const client = { batches: { submit: async (body: unknown) => (requests.push(body), batch) } } as unknown as ToolyardClient;
    const call = { ...CALL, arguments: '{force: true}' };
    const { answers } = await runTurn(client, { sessionId: 's', dialect: 'phi', callbacks }, [{ ...call, name: 'refused' }, call]);
    expect(requests).toMatchObject([{ calls: [{ tool: 'shell', arguments: repaired, dialect: 'phi' }] }]);
    expect(seen).toEqual([{ force: true }, { force: true }, { force: true }]);
    expect(answers.map(({ text }) => text)).toEqual(['no', expect.stringContaining('not valid JSON')]);
  });
});

describe('followToolCall', () => {
  const steps = async (events: unknown[]) => {
    const seen = [];
    for await (const step of followToolCall(gateway({ submit: [QUEUED], get: [ENDED], events }).client, { sessionId: 's' }, CALL))
      seen.push([step.status, step.text]);
    return seen;
  };
  const update = (text: string) => ({ type: 'call.update', data: { update: 1, content: [{ type: 'text', text }] } });

  it('yields the question of a tool call, the output so far of the attempt, and the answer', async () => {
    const asked = { type: 'call.approval_requested', data: { reasons: ['it writes'], digest: '', expiresInMs: 1 } };
    const start = { type: 'call.start', data: {} };
    expect(
      await steps([
        asked,
        { type: 'call.approval_decided', data: { decision: 'allow' } },
        start,
        update('a'),
        update('b'),
        start,
        update('c'),
      ]),
    ).toEqual([
      ['waiting_approval', 'A person is asked: it writes'],
      ['queued', ''],
      ['running', ''],
      ['running', 'a'],
      ['running', 'ab'],
      ['running', ''],
      ['running', 'c'],
      ['ended', 'done'],
    ]);
  });

  it('returns the answer of a tool call even if the stream fails', async () => {
    expect(await steps([update('a'), new ToolyardError('stream_incomplete', 'gone')])).toEqual([
      ['running', 'a'],
      ['ended', 'done'],
    ]);
  });

  it('returns the answer of a tool call even if the stream hangs', async () => {
    expect(await steps([update('a'), 'hang'])).toEqual([
      ['running', 'a'],
      ['ended', 'done'],
    ]);
  });

  it('shortens the steps of a long output', async () => {
    const [first] = await steps([update('x'.repeat(100_000))]);
    expect(first?.[1]).toHaveLength(16_384);
  });
});
