import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TURN_LIMITS } from '#contracts';
import { ANSWER_LIMITS, readAnswer } from './read-answer.js';
import { anyText } from '../../../../test/support/any-text.js';

const read = (toolCalls: readonly { id: string; name: string; arguments: string }[], tools = ['echo']) =>
  readAnswer({ text: '', toolCalls }, { offered: tools, exists: (name) => name === 'shell' }).toolCalls;

describe('an answer of a model', () => {
  it('keeps calls of offered tools as the model made them', () => {
    expect(read([{ id: 'call_1', name: 'echo', arguments: '{"n":1}' }])).toEqual([
      { toolCallId: 'call_1', tool: 'echo', arguments: '{"n":1}' },
    ]);
    expect(read([{ id: 'a', name: 'echo', arguments: ' ' }])[0]?.arguments).toBe('{}');
  });

  it('refuses in text a tool that was not offered, arguments that are no object, and an id used twice', () => {
    expect(read([{ id: 'a', name: 'rm', arguments: '{}' }])[0]).toMatchObject({ refusal: 'Tool not found: rm. Available: echo.' });
    expect(read([{ id: 'a', name: 'shell', arguments: '{}' }])[0]).toMatchObject({
      refusal: 'tool `shell` is not enabled for this sub-agent. Available: echo.',
    });
    const deep = `${'{"a":'.repeat(43_000)}1${'}'.repeat(43_000)}`;
    for (const wrong of ['[1]', '"x"', '{', 'null', deep, `{"a":"${'x'.repeat(ANSWER_LIMITS.argumentCharacters)}"}`])
      expect(read([{ id: 'a', name: 'echo', arguments: wrong }])[0]).toMatchObject({
        arguments: '{}',
        refusal: expect.stringContaining('Expected arguments as a JSON object'),
      });
    const twice = read([
      { id: 'a', name: 'echo', arguments: '{}' },
      { id: 'a', name: 'echo', arguments: '{}' },
    ]);
    expect(twice.map(({ toolCallId, refusal }) => [toolCallId, refusal?.slice(0, 9)])).toEqual([
      ['a', undefined],
      ['call-1', 'The id a '],
    ]);
  });

  it('limits the answer of a model, with an own id for each call and object arguments, for any input', () => {
    const someText = anyText({ maxLength: 20 });
    const anyId = fc.oneof(fc.constantFrom('a', 'call-1', ''), someText);
    const anyArguments = fc.oneof(fc.constantFrom('{}', '[]', '{"a":1}', '1', 'null', '{'), someText);
    const anyCall = fc.record({ id: anyId, name: fc.oneof(fc.constant('echo'), someText), arguments: anyArguments });
    fc.assert(
      fc.property(someText, fc.array(anyCall, { maxLength: 40 }), (text, calls) => {
        const answer = readAnswer({ text, toolCalls: calls }, { offered: ['echo'], exists: () => true });
        expect(answer.toolCalls.length + answer.leftOut).toBe(calls.length);
        expect(answer.toolCalls.length).toBeLessThanOrEqual(TURN_LIMITS.toolCalls);
        expect(new Set(answer.toolCalls.map(({ toolCallId }) => toolCallId)).size).toBe(answer.toolCalls.length);
        for (const { toolCallId, tool, arguments: args, refusal } of answer.toolCalls) {
          expect(toolCallId).toMatch(/^[A-Za-z0-9_.:-]{1,128}$/);
          expect(tool).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          const value: unknown = JSON.parse(args);
          expect(typeof value === 'object' && value !== null && !Array.isArray(value)).toBe(true);
          if (refusal === undefined) expect(tool).toBe('echo');
          else expect(refusal.length).toBeLessThan(1_000);
        }
      }),
      { numRuns: 50 },
    );
    const long = readAnswer(
      { text: '\u{1F600}'.repeat(ANSWER_LIMITS.textCharacters), toolCalls: [] },
      { offered: [], exists: () => false },
    );
    expect(long.text.length).toBeLessThan(ANSWER_LIMITS.textCharacters + 100);
    expect(long.text.isWellFormed()).toBe(true);
  });
});
