import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '#contracts';
import { argumentChanges } from './argument-changes.js';
import { anyText } from '../../../../test/support/any-text.js';

describe('the changes between two sets of arguments', () => {
  it('lists added, removed and replaced arguments by pointer, in the order of the keys', () => {
    const before = { path: 'a', 'x/y~z': 1, list: [1, 2], gone: null };
    const after = { path: 'b', 'x/y~z': 2, list: [1, 3, 4], added: {} };
    expect(argumentChanges(before, after)).toEqual({
      changes: [
        { pointer: '/path', before: '"a"', after: '"b"' },
        { pointer: '/x~1y~0z', before: '1', after: '2' },
        { pointer: '/list/1', before: '2', after: '3' },
        { pointer: '/list/2', after: '4' },
        { pointer: '/gone', before: 'null' },
        { pointer: '/added', after: '{}' },
      ],
    });
  });

  it('finds changes exactly between different arguments, in a bounded list', () => {
    const arbitrary = fc.dictionary(anyText(), fc.jsonValue());
    fc.assert(
      fc.property(arbitrary, arbitrary, (one, other) => {
        const [before, after] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))] as [JsonValue, JsonValue];
        expect(argumentChanges(before, before)).toEqual({ changes: [] });
        const { changes, moreChanges = 0 } = argumentChanges(before, after);
        expect(changes.length + moreChanges > 0).toBe(JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after)));
        expect(Buffer.byteLength(JSON.stringify(changes))).toBeLessThanOrEqual(2_000);
      }),
    );
    const many = Object.fromEntries(Array.from({ length: 50 }, (_unused, n) => [`key${n}`, 'x'.repeat(500)]));
    const { changes, moreChanges } = argumentChanges({}, many);
    expect([changes.length + (moreChanges ?? 0), changes[0]?.after?.length]).toEqual([50, 120]);
  });
});

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
