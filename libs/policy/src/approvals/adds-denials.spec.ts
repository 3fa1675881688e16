import { describe, expect, it } from '@jest/globals';
import type { PathDenials } from '#contracts';
import { addsDenials } from './adds-denials.js';

const NOTHING: PathDenials = { forbidden: [], denied: [], session: { read: [], write: [] }, roots: [] };
const WRITABLE: PathDenials = { ...NOTHING, writable: { globs: ['src/**'], paths: ['a.ts'] } };
const READ_ONLY = { path: '/shared', access: 'read' } as const;

describe('denials compared with earlier ones', () => {
  it.each<[string, PathDenials | undefined, PathDenials | undefined, boolean]>([
    ['nothing denied at both times', undefined, undefined, false],
    ['the same lists', { ...NOTHING, denied: ['**/.env'] }, { ...NOTHING, denied: ['**/.env'] }, false],
    ['empty lists of names, which a trusted path leaves', NOTHING, { ...NOTHING, literal: { read: [], write: [] } }, false],
    ['fewer', { ...NOTHING, forbidden: ['/etc', '/root'] }, { ...NOTHING, forbidden: ['/etc'] }, false],
    ['nothing any more', { ...NOTHING, forbidden: ['/etc'] }, undefined, false],
    ['the first', undefined, { ...NOTHING, session: { read: ['.env'], write: [] } }, true],
    ['one more glob', { ...NOTHING, denied: ['a'] }, { ...NOTHING, denied: ['a', 'b'] }, true],
    [
      'the same path for reading also',
      { ...NOTHING, session: { read: [], write: ['a'] } },
      { ...NOTHING, session: { read: ['a'], write: [] } },
      true,
    ],
    ['a name', NOTHING, { ...NOTHING, literal: { read: ['/w/a'], write: [] } }, true],
    ['a root that is only read', { ...NOTHING, roots: [{ ...READ_ONLY, access: 'denied' }] }, { ...NOTHING, roots: [READ_ONLY] }, true],
    ['less that may be written', WRITABLE, { ...NOTHING, writable: { globs: ['src/**'], paths: [] } }, true],
    ['the first list of what may be written', NOTHING, WRITABLE, true],
    ['more that may be written', { ...NOTHING, writable: { globs: ['src/**'], paths: [] } }, WRITABLE, false],
    [
      'a writable root taken out of one that is only read',
      { ...NOTHING, roots: [READ_ONLY, { path: '/shared/a', access: 'write' }] },
      { ...NOTHING, roots: [READ_ONLY] },
      true,
    ],
  ])('compares denials with earlier ones: %s, %#', (_title, before, now, expected) => {
    expect(addsDenials(before, now)).toBe(expected);
  });
});
