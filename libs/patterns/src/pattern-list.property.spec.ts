import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { globMatches } from './glob.js';
import { isInList, isNarrowerList, listOfAny, listOfBoth, negationsIn } from './pattern-list.js';

const name = fc.constantFrom('shell', 'file_read', 'file_write', 'echo');
const positive = fc.oneof(name, fc.constantFrom('*', 'file_*', 'x'));
const pattern = fc.oneof(
  positive,
  positive.map((it) => `!${it}`),
);
const list = fc.array(pattern, { minLength: 1, maxLength: 5 });
const anyList = fc.array(pattern, { maxLength: 5 });
const has = (patterns: readonly string[], item: string) => isInList(patterns, (it) => globMatches(it, item));
const covers = (positives: readonly string[], one: string) => positives.some((it) => it === one || globMatches(it, one));

describe('a list of patterns with negations', () => {
  it('matches a list if a positive pattern matches or all are negated, and no negated pattern matches', () => {
    fc.assert(
      fc.property(list, name, (patterns, item) => {
        const positives = patterns.filter((it) => !it.startsWith('!'));
        const isMeant = positives.length === 0 || positives.some((it) => globMatches(it, item));
        const isNegated = patterns.some((it) => it.startsWith('!') && globMatches(it.slice(1), item));
        expect(has(patterns, item)).toBe(isMeant && !isNegated);
      }),
    );
  });

  it('matches nothing by an empty list of patterns', () => fc.assert(fc.property(name, (item) => expect(has([], item)).toBe(false))));

  it('matches the same by a list of patterns in every order', () => {
    const orders = list.chain((it) => fc.tuple(fc.constant(it), fc.shuffledSubarray(it, { minLength: it.length })));
    fc.assert(fc.property(orders, name, ([some, shuffled], item) => expect(has(shuffled, item)).toBe(has(some, item))));
  });

  it('applies each negation of a list of patterns', () => {
    fc.assert(fc.property(list, name, (patterns, item) => expect(has([...patterns, `!${item}`], item)).toBe(false)));
    expect(['shell', 'file_write'].map((item) => has(['!shell', '!file_write'], item))).toEqual([false, false]);
  });

  it('matches no more after a negation is added to a list of patterns', () => {
    fc.assert(
      fc.property(list, positive, name, (patterns, added, item) => {
        expect(has([...patterns, `!${added}`], item) && !has(patterns, item)).toBe(false);
      }),
    );
  });

  it('matches negated patterns by their own meaning if one is given', () => {
    const either = (it: string) => it === 'shell' || it === 'repl';
    expect(isInList(['*', '!shell'], (it) => it === '*', either)).toBe(false);
    expect(negationsIn(['a', '!b', '!!c'])).toEqual(['b', '!c']);
  });

  it('intersects two lists of patterns only where both match', () => {
    fc.assert(
      fc.property(anyList, anyList, name, (some, others, item) => {
        expect(has(listOfBoth(some, others, covers), item) && !(has(some, item) && has(others, item))).toBe(false);
      }),
    );
    expect(listOfBoth(['file_*', '!file_write'], ['file_*', '!file_read'], covers)).toEqual(['file_*', '!file_write', '!file_read']);
    expect(listOfBoth(['!shell'], ['echo', 'shell'], covers)).toEqual(['echo', 'shell', '!shell']);
  });

  it('intersects two lists in no name that either lacks or negates', () => {
    fc.assert(
      fc.property(anyList, anyList, name, (some, others, item) => {
        const isNegated = negationsIn([...some, ...others]).some((it) => globMatches(it, item));
        expect(has(listOfAny([some, others]), item)).toBe((has(some, item) || has(others, item)) && !isNegated);
      }),
    );
  });

  it('ranks a list of patterns as narrower only if it matches nothing more', () => {
    fc.assert(
      fc.property(anyList, anyList, name, (some, others, item) => {
        expect(isNarrowerList(some, others) && has(some, item) && !has(others, item)).toBe(false);
      }),
    );
    expect(isNarrowerList(['*'], ['*', '!shell'])).toBe(false);
    expect(isNarrowerList(['!shell'], ['!shell', '!echo'])).toBe(false);
    expect(isNarrowerList(['echo', '!shell'], ['!shell'])).toBe(true);
    expect(isNarrowerList(['a', '!shell', '!b'], ['a', 'c', '!shell'])).toBe(true);
  });
});
