import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonSchema } from '#contracts';
import { loopingReferences } from './loops.js';

/** Cuts the references that loop, and says how many loops are left and how many references were cut. */
function cut(schemas: readonly JsonSchema[], targetOf: (reference: string) => JsonSchema | undefined) {
  const looping = loopingReferences(schemas, targetOf);
  for (const schema of looping) delete schema['$ref'];
  return { cut: looping.size, left: loopingReferences(schemas, targetOf).size };
}

describe('loops of references', () => {
  it('cuts both of two loops that share a part', () => {
    // The root names u and a part of u, which names u twice.
    const references = [{ $ref: 'u' }, { $ref: 'u' }];
    const part: JsonSchema = { allOf: references };
    const u: JsonSchema = { allOf: [part] };
    const names = [{ $ref: 'u' }, { $ref: 'part' }];
    const root: JsonSchema = { allOf: names };
    const targetOf = (reference: string) => (reference === 'u' ? u : part);
    expect(cut([root, ...names, u, part, ...references], targetOf)).toEqual({ cut: 2, left: 0 });
    expect(names).toEqual([{ $ref: 'u' }, { $ref: 'part' }]);
  });

  it('leaves no loop of any references', () => {
    const parts = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(parts, (lists) => {
        // Each schema has the next one as a part, besides references to any.
        const schemas: JsonSchema[] = lists.map(() => ({}));
        const references: JsonSchema[] = [];
        lists.forEach((list, index) => {
          const own = list.map((it): JsonSchema => ({ $ref: String(it % lists.length) }));
          const next = schemas[index + 1];
          references.push(...own);
          Object.assign(schemas[index] ?? {}, { allOf: next === undefined ? own : [next, ...own] });
        });
        expect(cut([...schemas, ...references], (it) => schemas[Number(it)]).left).toBe(0);
      }),
    );
  });
});
