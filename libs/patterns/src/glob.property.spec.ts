import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import picomatch from 'picomatch';
import { compileGlob, globFaults, globMatches, globOrFault } from './glob.js';
import { PATTERN_LIMITS, PatternError } from './pattern-limits.js';

const letter = fc.constantFrom('a', 'b', '.', '-', '!');
const isName = (it: string) => !/^\.*$/.test(it);
const name = fc.string({ unit: letter, minLength: 1, maxLength: 4 }).filter(isName);
const text = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const wildcard = fc.constantFrom('*', '?', '[ab]', '[^b]', '[a-c]', '\\*', '\\?');
const piece = fc.oneof({ weight: 3, arbitrary: letter }, { weight: 2, arbitrary: wildcard });
const plainSegment = fc.array(piece, { minLength: 1, maxLength: 4 }).map((it) => it.join(''));
// picomatch reads `..` between braces as a range, or half of one, lets `**` there cross folders behind a letter, and
// takes a dot there for the start of a name: `a{.*,b}` does not match `a.`, which `a.*` does.
const braces = fc
  .array(
    plainSegment.filter((it) => !/\.\.|\*\*|\.\*/.test(it)),
    { minLength: 2, maxLength: 3 },
  )
  .map((it) => `{${it.join(',')}}`);
const segment = fc.oneof(
  { weight: 4, arbitrary: plainSegment.filter(isName) },
  { weight: 2, arbitrary: fc.constant('**') },
  // Stars that meet through braces are one star here, and so are stars before braces at the start of a name.
  // picomatch makes `**` of both, which crosses folders.
  {
    weight: 2,
    arbitrary: fc
      .tuple(plainSegment, braces)
      .map((it) => it.join(''))
      .filter((it) => !/\*\{([^}]*,)?\*|^\*{2,}\{/.test(it)),
  },
);
const pattern = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .filter((segments) => segments.every((it, index) => it !== '**' || segments[index - 1] !== '**'))
  .map((it) => it.join('/'))
  // `a*/**` is nothing but what lies in folders `a*`; picomatch overlooks that star where it is in braces.
  .filter((it) => !/\*[,}][^/]*\/\*\*$/.test(it));
const options = { dot: true, nonegate: true };

describe('a glob', () => {
  it('matches globs as picomatch does: braces, **, classes, escapes, dot files, no leading negation', () => {
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        expect(compileGlob(pattern).matches(text)).toBe(text === pattern || picomatch(pattern, options)(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it('covers a path when it matches the path or a folder above it', () => {
    fc.assert(
      fc.property(pattern, text, (pattern, path) => {
        const glob = compileGlob(pattern);
        const names = path.split('/');
        const above = names.map((_, index) => names.slice(0, index + 1).join('/'));
        // `**` at the end is also none at all, which the folder above of the first name is.
        fc.pre(!pattern.startsWith('**'));
        expect(glob.covers(path)).toBe(above.some((it) => glob.matches(it)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('throws only PatternError for any glob, and a valid glob covers its own text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab/*?[]{}!^-,.\\()|@+'.split('')), maxLength: 40 }), (pattern) => {
        const glob = globOrFault(pattern);
        expect(glob instanceof PatternError || (glob.matches(pattern) && glob.covers(`${pattern}/below`))).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('matches a glob in time linear in glob and text length, whatever its wildcards', () => {
    // A backtracking matcher does not end within the age of the universe.
    const stars = `${'*a'.repeat(1_000)}*b`;
    expect(globMatches(stars, 'a'.repeat(4_096))).toBe(false);
    expect(globMatches(`${'**/a/'.repeat(500)}b`, 'a/'.repeat(2_000))).toBe(false);
  });

  it.each([
    ['a'.repeat(PATTERN_LIMITS.length + 1), /at most 4096 characters; received 4097/],
    ['{a,b}'.repeat(7), /at most 100 alternatives; received 128/],
    [`{${'a'.repeat(40)},b}{c,d}{e,f}{g,h}{i,j}${'x'.repeat(200)}`, /at most 4096 characters with braces written out/],
    ['!(a)', /expected \{a,b\} in place of "!\(a\)"/],
    ['src/(a|b)', /expected \{a,b\} in place of/],
    ['s[0-9]+', /expected \\\+ in place of \+ behind \]/],
    ['s[\\w]+', /behind \]/],
    ['{a,b}+', /behind \}/],
    ['x/(abc)', /a parenthesis in a name is written \\\(/],
    ['x/(a(b)|c)', /written \\\(/],
    ['x/((a)|b)', /written \\\(/],
    ['a)*', /written \\\(/],
    ['"a b"', /expected \\" in place of "/],
    ['[!a]', /expected \[\^a\] in place of \[!a\]/],
    ['[z-a]', /from low to high/],
    ['{1..9}', /in place of the range \{1\.\.9\}/],
  ])('refuses a glob with what was expected: %.30s', (pattern, reason) => {
    expect(globFaults(['fine', pattern])).toEqual([{ index: 1, message: expect.stringMatching(reason) }]);
    expect(globMatches(pattern, 'anything')).toBe(false);
  });

  it('reads an escaped special character as plain text as picomatch does, also within a class', () => {
    for (const [pattern, name] of [
      ['app/\\(main\\)/*', 'app/(main)/x'],
      ['s[0-9]\\+', 's1+'],
      ['{a,b}\\+', 'a+'],
      ['a\\]+*', 'a]+x'],
      ['c++*', 'c++x'],
      ['\\"a b\\"', '"a b"'],
      ['[()"]', '('],
    ] as const)
      expect([pattern, compileGlob(pattern).matches(name), picomatch(pattern, options)(name)]).toEqual([pattern, true, true]);
  });

  it('shares the limits of a list among its globs', () => {
    expect(globFaults(Array.from({ length: 501 }, (_, index) => `a${index}`))).toEqual([
      { index: 500, message: 'expected at most 500 patterns; received 501' },
    ]);
    const long = Array.from({ length: 20 }, (_, index) => `*${'a'.repeat(1_000)}${index}`);
    expect(globFaults(long)).toEqual([{ index: 16, message: 'expected globs of at most 16384 characters in the whole list' }]);
    // Paths without wildcards cost next to nothing.
    expect(globFaults(Array.from({ length: 500 }, (_, index) => `/${'a'.repeat(200)}${index}`))).toEqual([]);
  });
});
