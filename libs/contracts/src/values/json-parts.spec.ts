import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countParts, hasMoreParts } from './json-parts.js';

/** Containers, and the items and members that follow another one. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return 1 + Math.max(0, inner.length - 1) + inner.reduce((sum: number, item) => sum + partsOf(item), 0);
}

describe('hasMoreParts', () => {
  it('counts the parts of a parsed value regardless of its texts', () => {
    const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', 'a', '\n') });
    const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 });
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, value), { maxKeys: 5 }), (given) => {
        const json = JSON.stringify(given);
        const parts = partsOf(JSON.parse(json));
        expect([hasMoreParts(json, parts), hasMoreParts(json, parts - 1)]).toEqual([false, true]);
        expect([countParts(json, parts), countParts(json, parts - 1)]).toEqual([parts, parts]);
      }),
    );
  });

  it('ends at the end of a malformed text', () => {
    for (const json of ['{"a', '"\\', '['.repeat(9), '{"a":"\\"']) expect(hasMoreParts(json, 100)).toBe(false);
  });
});
