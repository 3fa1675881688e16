import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countParts, hasLargerObject, hasMoreParts } from './json-parts.js';

/** Containers, and the items and members that follow another one. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return 1 + Math.max(0, inner.length - 1) + inner.reduce((sum: number, item) => sum + partsOf(item), 0);
}

/** Members of the largest object. */
function mostMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return Math.max(Array.isArray(value) ? 0 : inner.length, ...inner.map(mostMembers));
}

describe('hasLargerObject', () => {
  it('finds the object with the most members regardless of lists, texts and nesting', () => {
    const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', '}', ']', 'a') });
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, text, fc.array(tie('value')), fc.dictionary(text, tie('value'))),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const [json, most] = [JSON.stringify(given), Math.max(1, mostMembers(given))];
        expect(hasLargerObject(json, most)).toBe(false);
        if (most > 1) expect(hasLargerObject(json, most - 1)).toBe(true);
      }),
    );
  });

  it('ends at the end of a malformed text', () => {
    for (const json of ['}}],,,', '{"a', ',,,,,,', '[,,,,,,', '{,"\\']) expect(hasLargerObject(json, 3)).toBe(false);
  });
});

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
