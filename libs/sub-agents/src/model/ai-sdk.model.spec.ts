import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AgentModel } from '#contracts';
import { EgressPolicy, egressFetch, type EgressFetch } from '#sandbox';
import { startModelServer, type ModelServer } from '../../../../test/support/model-server.js';
import { freePort } from '../../../../test/support/free-port.mjs';
import { RecordedTurn } from '../journal/recorded-turn.js';
import { AiSdkModel } from './ai-sdk.model.js';
import type { ModelFailure, ModelRequest } from './model.port.js';

let server: ModelServer;
let guarded: EgressFetch;
beforeAll(async () => {
  server = await startModelServer();
  guarded = egressFetch(new EgressPolicy(['127.0.0.1']));
});
afterAll(async () => {
  await guarded.close();
  await server.close();
});

const KEY = 'sk-of-the-model-tests';
const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [
    { role: 'user', text: 'How much is it?' },
    { role: 'assistant', text: 'I look.', toolCalls: [{ id: 'a', name: 'price', arguments: '{"of":"tea"}' }] },
    { role: 'tools', results: [{ toolCallId: 'a', tool: 'price', text: 'no such thing', isError: true }] },
    { role: 'user', text: 'Hurry up' },
  ],
  tools: [
    {
      name: 'price',
      description: 'Knows prices.',
      input: {
        type: 'object',
        properties: { of: { type: 'string' }, 'at[day]': {}, on: { type: 'array' } },
        anyOf: [{ required: ['of'] }],
      },
    },
  ],
};

describe.each(['openai-compatible', 'anthropic'] as const)('a model behind the API of %s', (provider) => {
  const modelOf = (name: string, more: object = {}) =>
    new AiSdkModel(AgentModel.parse({ provider, name, url: server.url, apiKey: { secretEnv: 'KEY' }, ...more }), { KEY }, guarded);
  const ask = async (name: string, more: object = {}, signal = new AbortController().signal) => {
    const texts: string[] = [];
    const answer = await modelOf(name, more).ask(REQUEST, { signal, onText: (text) => texts.push(text) });
    return { answer, texts };
  };
  const failed = (name: string, more: object = {}) =>
    ask(name, more).then(
      () => undefined,
      (error: ModelFailure) => error,
    );

  it('sends system, messages, results and tools to a model, and reads streamed text, calls and usage', async () => {
    server.on('good', [
      { text: ['It ', 'is 3.'], toolCalls: [{ id: 'b', name: 'price', arguments: { of: 'milk' } }], usage: { input: 100, output: 20 } },
    ]);
    const { answer, texts } = await ask('good');
    expect(answer).toEqual({
      text: 'It is 3.',
      toolCalls: [{ id: 'b', name: 'price', arguments: '{"of":"milk"}' }],
      usage: { inputTokens: 100, outputTokens: 20 },
    });
    expect(texts).toEqual(['It ', 'is 3.']);
    const [call] = server.calls('good');
    const text = JSON.stringify(call?.body);
    for (const part of ['Be brief.', 'How much is it?', 'no such thing', 'Knows prices.', 'Hurry up']) expect(text).toContain(part);
    expect(text).not.toContain('anyOf');
    expect(text).toContain('"on":{"type":"array","items":{}}');
    expect(text.includes('"at[day]":{')).toBe(provider === 'openai-compatible');
    expect(provider === 'anthropic' ? call?.headers['x-api-key'] : call?.headers.authorization).toContain(KEY);
  });

  it('states when a refused request may be repeated, without text of the model’s server', async () => {
    server.on('busy', [{ status: 429, headers: { 'Retry-After': '7' } }]);
    expect(await failed('busy')).toMatchObject({ message: 'its server answered with HTTP 429', retryable: true, retryAfterMs: 7_000 });
    server.on('down', [{ status: 503 }]);
    expect(await failed('down')).toMatchObject({ retryable: true, retryAfterMs: undefined });
    server.on('denied', [{ status: 401 }]);
    expect(await failed('denied')).toMatchObject({ message: 'its server answered with HTTP 401', retryable: false });
    expect(await failed('good', { url: `http://127.0.0.1:${await freePort()}/v1` })).toMatchObject({
      message: 'its server is not reachable',
      retryable: true,
    });
  });

  it('fails if the answer of a model breaks off, is redirected, takes too long or is too large', async () => {
    server.on('cut', [{ text: 'It', cut: true }]);
    expect(await failed('cut')).toMatchObject({ name: 'ModelFailure', retryable: true });
    server.on('moved', [{ status: 307, headers: { Location: `${server.url}/chat/completions` } }]);
    expect(await failed('moved')).toMatchObject({ message: expect.stringContaining('redirects are not followed'), retryable: false });
    expect(server.calls('moved')).toHaveLength(1);
    let release = () => {};
    server.on('slow', [{ until: new Promise<void>((go) => (release = go)) }]);
    expect(await failed('slow', { timeoutMs: 1 })).toMatchObject({ message: 'it did not answer within 1 ms', retryable: true });
    release();
    server.on('huge', [{ text: Array.from({ length: 90 }, () => 'x'.repeat(100_000)) }]);
    expect(await failed('huge')).toMatchObject({ message: 'expected an answer of at most 8388608 bytes', retryable: false });
  });

  it('asks no model that the egress policy forbids by address or name', async () => {
    const strict = egressFetch(new EgressPolicy([], async () => [{ address: '10.0.0.1', family: 4 }]));
    for (const [url, reason] of [
      [server.url, '127.0.0.1 is a loopback address'],
      ['http://models.test:8080/v1', 'models.test resolves to a private address'],
    ]) {
      const model = new AiSdkModel(AgentModel.parse({ provider, name: 'never', url }), {}, strict);
      const asked = model.ask(REQUEST, { signal: new AbortController().signal, onText: () => {} });
      await expect(asked).rejects.toMatchObject({ name: 'ModelFailure', message: expect.stringContaining(reason ?? ''), retryable: false });
    }
    expect(server.calls('never')).toEqual([]);
    await strict.close();
  });

  it('ends a request to a model with the reason of its signal', async () => {
    const controller = new AbortController();
    server.on('waiting', () => {
      controller.abort(new Error('cancelled'));
      return { until: new Promise(() => {}) };
    });
    await expect(ask('waiting', {}, controller.signal)).rejects.toThrow('cancelled');
  });

  it('fails without the secret that the model names', () => {
    const settings = AgentModel.parse({ provider, name: 'm', url: server.url, apiKey: { secretEnv: 'OTHER' } });
    expect(() => new AiSdkModel(settings, {}, guarded)).toThrow('the secret OTHER is not set in the environment of the worker');
  });
});

it('returns Anthropic’s thinking unchanged, with signatures, before the calls that followed it', async () => {
  const model = new AiSdkModel(
    AgentModel.parse({ provider: 'anthropic', name: 'thinks', url: server.url, thinkingLevel: 'low', maxOutputTokens: 100 }),
    {},
    guarded,
  );
  const blocks = [{ text: 'First the price.', signature: 'c2lnbmF0dXJl' }, { redacted: 'ZW5jcnlwdGVk' }];
  server.on('thinks', [{ thinking: blocks, text: 'I look.', toolCalls: [{ id: 'b', name: 'price', arguments: {} }] }, { text: '3' }]);
  const texts: string[] = [];
  const options = { signal: new AbortController().signal, onText: (text: string) => texts.push(text) };
  const { text, toolCalls, thinking } = await model.ask(REQUEST, options);
  // Thinking in its journal form.
  const kept = RecordedTurn.shape.thinking.parse(JSON.parse(JSON.stringify(thinking)));
  expect([texts, kept?.map((it) => it.text)]).toEqual([['I look.'], ['First the price.', '']]);
  const results = [{ toolCallId: 'b', tool: 'price', text: '3', isError: false }];
  const messages = [
    { role: 'user', text: 'Price?' },
    { role: 'assistant', text, toolCalls, thinking: kept ?? [] },
    { role: 'tools', results },
  ];
  await model.ask({ ...REQUEST, messages } as ModelRequest, options);
  const [first, second] = server.calls('thinks');
  expect(first?.body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2_048 }, max_tokens: 2_148 });
  expect(second?.body.messages[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'First the price.', signature: 'c2lnbmF0dXJl' },
      { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' },
      { type: 'text', text: 'I look.' },
      expect.objectContaining({ type: 'tool_use', id: 'b', name: 'price' }),
    ],
  });
});
