import { describe, expect, it } from '@jest/globals';
import { McpSampling, type TurnData } from '#contracts';
import { Suspension, ToolError } from '#tool-sdk';
import { OpenCalls } from './open-calls.js';
import { OwnSampling, SamplingBudget, type SamplingModel } from './own-sampling.js';
import { firstRound, nextStep, sampledByOwn } from './rounds.js';

const SETTINGS = {
  model: { provider: 'openai-compatible', name: 'small', url: 'http://models.test/v1', maxOutputTokens: 50 },
  maxCalls: 2,
  maxTokens: 100,
};
const asked = (text: string, more: object = {}) => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
  maxTokens: 80,
  ...more,
});

function stage(
  settings: object = {},
  answer: SamplingModel['ask'] = async () => ({ text: 'four', usage: { inputTokens: 7, outputTokens: 3 } }),
) {
  const requests: Parameters<SamplingModel['ask']>[0][] = [];
  const turns: TurnData[] = [];
  const model: SamplingModel = {
    ask: (request, options) => {
      requests.push(request);
      return answer(request, options);
    },
  };
  const own = new OwnSampling('counter', McpSampling.parse({ ...SETTINGS, ...settings }), model);
  const ctx = {
    signal: new AbortController().signal,
    redact: (text: string) => text.replaceAll('four', 'f***'),
    agentRun: { above: 0, recordTurn: async (turn: TurnData) => void turns.push(turn) },
  };
  return { own, ctx, requests, turns };
}

describe('the model of the operator, which answers a server', () => {
  it('asks the model of the operator texts with the smaller bound, and each answer is a turn of the call without secrets', async () => {
    const { own, ctx, requests, turns } = stage();
    const budget = new SamplingBudget();
    const result = await own.answer(asked('two and two?', { systemPrompt: 'Count.', includeContext: 'allServers' }), budget, ctx);
    expect(result).toEqual({ role: 'assistant', content: { type: 'text', text: 'four' }, model: 'small', stopReason: 'endTurn' });
    expect(requests).toEqual([{ system: 'Count.', messages: [{ role: 'user', text: 'two and two?' }], tools: [], maxOutputTokens: 50 }]);
    expect(turns).toEqual([
      expect.objectContaining({ turn: 1, model: 'small', text: 'f***', toolCalls: [], usage: { inputTokens: 7, outputTokens: 3 } }),
    ]);
    expect(budget.used).toEqual({ calls: 1, tokens: 10 });
  });

  it('limits a call to the answers and tokens of the operator’s model in its settings', async () => {
    const { own, ctx, requests } = stage();
    const budget = new SamplingBudget();
    await own.answer(asked('1'), budget, ctx);
    await own.answer(asked('2'), budget, ctx);
    await expect(own.answer(asked('3'), budget, ctx)).rejects.toThrow('has asked 2 times, and sampling.maxCalls allows 2');
    const spent = new SamplingBudget({ calls: 0, tokens: 90 });
    await own.answer(asked('4'), spent, ctx);
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([50, 50, 10]);
    await expect(own.answer(asked('5'), spent, ctx)).rejects.toThrow('has used 100 tokens, and sampling.maxTokens allows 100');
  });

  it('counts requests to the model of the operator that are under way together', async () => {
    const { own, ctx } = stage({ maxCalls: 5 }, () => new Promise(() => {}));
    const budget = new SamplingBudget();
    void own.answer(asked('1'), budget, ctx);
    void own.answer(asked('2'), budget, ctx);
    await expect(own.answer(asked('3'), budget, ctx)).rejects.toThrow('has used 100 tokens');
  });

  it.each([
    [
      'an image',
      asked('', { messages: [{ role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } }] }),
      'of the type image',
    ],
    ['tools', asked('x', { tools: [] }), 'no tools for the model'],
    ['too much', asked('x'.repeat(20_000)), 'expected at most 16384'],
  ])('refuses a request to the model of the operator with %s', async (_what, params, fault) => {
    const { own, ctx, requests } = stage();
    await expect(own.answer(params, new SamplingBudget(), ctx)).rejects.toThrow(fault);
    expect(requests).toEqual([]);
  });

  it('ends the call with a typed error when the model of the operator fails', async () => {
    const { own, ctx, turns } = stage({}, () => Promise.reject(new Error('the server answered 500')));
    const failure = await own.answer(asked('x'), new SamplingBudget(), ctx).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolError);
    expect(failure).toMatchObject({ code: 'tool_failed', message: expect.stringContaining('gave no answer: the server answered 500') });
    expect(turns).toEqual([]);
  });

  it('answers by the operator’s model in revision 2026-07-28 before asking a person, and counts across rounds', async () => {
    const { own, ctx } = stage();
    const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
    const inputRequests = {
      person: { method: 'elicitation/create', params: form },
      model: { method: 'sampling/createMessage', params: asked('x') },
    };
    const state = await sampledByOwn(firstRound('counter', { inputRequests } as never, 0, { calls: 1, tokens: 5 }), own, ctx);
    expect(state).toMatchObject({ sampled: { calls: 2, tokens: 15 }, left: [{ key: 'person' }] });
    expect(state.responses).toMatchObject({ model: { role: 'assistant', content: { text: 'four' } } });
    expect(nextStep('counter', state, false)).toBeInstanceOf(Suspension);
    await expect(sampledByOwn(firstRound('counter', { inputRequests } as never, 1, state.sampled), own, ctx)).rejects.toThrow(
      'maxCalls allows 2',
    );
  });

  it('answers an older server by the operator’s model during its call, within the limits of the call', async () => {
    const { own, ctx, turns } = stage({ maxCalls: 1 });
    const calls = new OpenCalls<unknown[]>('counter', async () => false, own);
    const ask = () => calls.ask({ method: 'sampling/createMessage', params: asked('x') });
    const given = await calls.begin(async () => [await ask(), await ask()], { ...ctx, onProgress: () => {} } as never);
    expect(given).toEqual([
      { value: expect.objectContaining({ role: 'assistant', model: 'small' }) },
      { refused: expect.stringContaining('sampling.maxCalls allows 1') },
    ]);
    expect(turns).toHaveLength(1);
  });
});
