import { describe, expect, it } from '@jest/globals';
import { ToolCallAccumulator, type ToolCallDelta } from './tool-call-accumulator.js';

const joined = (...deltas: ToolCallDelta[]) => {
  const answer = new ToolCallAccumulator();
  for (const delta of deltas) answer.add(delta);
  return answer.calls();
};

describe('ToolCallAccumulator', () => {
  it('joins the pieces of each call by index, in the order of the indexes [VA-01]', () => {
    expect(
      joined(
        { index: 1, id: 'b', name: 'date' },
        { index: 0, id: 'a', name: 'file_read', arguments: '{"pa' },
        { index: 0, id: null, name: '', arguments: 'th":"a"}' },
        { index: 1, id: 'b', name: 'date', arguments: null },
      ),
    ).toEqual([
      { id: 'a', name: 'file_read', arguments: '{"path":"a"}' },
      { id: 'b', name: 'date', arguments: '{}' },
    ]);
    expect(joined()).toEqual([]);
  });

  it.each<[string, ToolCallDelta[], string]>([
    ['no id', [{ index: 2, name: 'date' }], 'The stream ended without id of the tool call with index 2'],
    ['neither', [{ index: 0, arguments: '{}' }], 'The stream ended without id and name of the tool call with index 0'],
    ['two ids', [0, 1].map((n) => ({ index: 0, id: `call_${n}`, name: 'date' })), 'index 0 has two ids: call_0 and call_1'],
    ['no index', [{ index: Number.NaN, id: 'a', name: 'date' }], 'a whole number from 0, got NaN'],
  ])('refuses a stream with %s as a protocol error', (_what, deltas, message) => {
    expect(() => joined(...deltas)).toThrow(expect.objectContaining({ code: 'protocol', message: expect.stringContaining(message) }));
  });
});
