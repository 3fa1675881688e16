import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseName, printName, type NameParts } from './name-parts.js';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
const source = fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/);
const anyName: fc.Arbitrary<NameParts> = fc.oneof(
  fc.record({ kind: fc.constant('plain' as const), name }),
  fc.record({ kind: fc.constant('agent' as const), name }),
  fc.record({ kind: fc.constant('source' as const), source }),
  fc.record({ kind: fc.constant('source' as const), source, name: fc.oneof(name, fc.constantFrom('', '*', 'a/b', '@a/b')) }),
);

describe('names of tools as people write them', () => {
  it.each([
    ['status', { kind: 'plain', name: 'status' }],
    ['@git/status', { kind: 'source', source: 'git', name: 'status' }],
    ['@git', { kind: 'source', source: 'git' }],
    ['#reviewer', { kind: 'agent', name: 'reviewer' }],
  ])('reads the written name %s as %j [CC-15]', (text, written) => expect(parseName(text)).toEqual(written));

  it('prints tool names that parse back to the same name [CC-15]', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[@#]?[a-z/@#*-]{0,8}$/));
    fc.assert(fc.property(texts, (text) => expect(printName(parseName(text))).toBe(text)));
    fc.assert(fc.property(anyName, (written) => expect(parseName(printName(written))).toEqual(written)));
  });
});
