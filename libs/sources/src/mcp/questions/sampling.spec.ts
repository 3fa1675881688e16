import { describe, expect, it } from '@jest/globals';
import { Suspension } from '#tool-sdk';
import { withAnswer, firstRound, nextStep } from './rounds.js';
import { samplingQuestion, samplingResult } from './sampling.js';

const TEXT = { type: 'text' as const, text: 'hi' };
const PARAMS = { messages: [{ role: 'user' as const, content: TEXT }], maxTokens: 5 };
const RESULT = { role: 'assistant' as const, content: TEXT, model: 'm' };
const roundOf = (params: object) =>
  firstRound('server', { inputRequests: { one: { method: 'sampling/createMessage', params } } } as never, 0);

describe('a question of a server for a model', () => {
  it('names the server in a question for a model, and omits context of other servers and additions of the server', () => {
    expect(samplingQuestion('server', { ...PARAMS, includeContext: 'allServers', _meta: { 'io.toolyard/source': 'other' } })).toMatchObject(
      {
        prompt: expect.stringContaining('The MCP server server asks the model'),
        sampling: { ...PARAMS, _meta: { 'io.toolyard/source': 'server' } },
      },
    );
  });

  it.each([
    ['tools', { ...PARAMS, tools: [] }],
    ['no messages', { ...PARAMS, messages: [] }],
    ['a message that the protocol does not know', { ...PARAMS, messages: [{ role: 'system', content: TEXT }] }],
    ['no size', { messages: PARAMS.messages }],
    ['too much', { ...PARAMS, systemPrompt: 'x'.repeat(16_384) }],
  ])('refuses a question of a server for a model with %s', (_title, params) => {
    expect(samplingQuestion('server', params)).toMatch(/expected/);
  });

  it('suspends the call only if its client offers a model, and fails it otherwise', () => {
    expect(nextStep('server', roundOf(PARAMS), true)).toBeInstanceOf(Suspension);
    expect(() => nextStep('server', roundOf(PARAMS), false)).toThrow('sampling/createMessage is not offered to it');
  });

  it.each([
    ['declines', { declined: true as const }],
    ['answers with what is no result', { input: { ...RESULT, content: 'hi' } }],
    ['gives a tool use', { input: { ...RESULT, content: { type: 'tool_use', id: '1', name: 'rm', input: {} } } }],
  ])('fails the call with a question for a model when the client %s', (_title, given) => {
    expect(() => withAnswer('server', roundOf(PARAMS), { reason: 'input', ...given })).toThrow('the MCP client declined');
    expect(() => samplingResult('input' in given ? { value: given.input } : {})).toThrow('no answer of its model');
  });

  it("passes the result of the model for a server's question unchanged", () => {
    expect(withAnswer('server', roundOf(PARAMS), { reason: 'input', input: RESULT }).responses).toEqual({ one: RESULT });
    expect(samplingResult({ value: RESULT })).toEqual(RESULT);
  });
});
