import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compileExpression, syntaxFault } from './expression.js';
import { compileExpressions, quoteExpression } from './expressions.js';
import { PATTERN_LIMITS, PatternError } from './pattern-limits.js';

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '(a|b)', ' ', '^', '$', '\\w', '(?:ab)');
const expression = fc
  .array(fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}')), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map(([it, times]) => (/[\^$]/.test(it) ? it : it + times)).join(''));
const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'c'), maxLength: 6 });

const faultsOf = (...patterns: string[]) => compileExpressions(patterns).faults;

describe('a list of expressions', () => {
  it('finds the expressions of a list that match the whole text, the same as one by one', () => {
    fc.assert(
      fc.property(fc.array(expression, { maxLength: 5 }), text, (patterns, text) => {
        expect(compileExpressions(patterns).matching(text)).toEqual(patterns.filter((it) => RE2JS.compile(it).testExact(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('compiles a list of expressions once for each content', () => {
    expect(compileExpressions(['git .*'])).toBe(compileExpressions(['git .*']));
  });

  it('separates lists of expressions that could be joined ambiguously', () => {
    expect(compileExpressions(['a\n\0b']).matching('a')).toEqual([]);
    expect(compileExpressions(['a', 'b']).matching('b')).toEqual(['b']);
    expect(faultsOf('a\n\0b')).toEqual([{ index: 0, message: expect.stringContaining('no NUL character') }]);
  });

  it('refuses a list of expressions as a whole, without compiling it, when it has too many characters', () => {
    const list = compileExpressions(Array.from({ length: 20 }, (_, index) => `[${'a'.repeat(4_000)}]${index}`));
    expect(list.faults).toEqual([{ index: 16, message: 'expected at most 65536 characters in the whole list' }]);
    expect(list.matching('a0')).toEqual([]);
  });

  it.each([
    `(?i)[${'C-\u{1e942}'.repeat(900)}]`,
    `a(?s-i)|(?i:[${'C-\\x{1e942}'.repeat(350)}])`,
    `(?i)[${'\\pL'.repeat(6)}]`,
    `[${'\\pL'.repeat(800)}]`,
  ])('refuses an expression that would take seconds, at once, however it is compiled: %.30s', (pattern) => {
    const before = process.cpuUsage();
    expect(faultsOf(pattern)).toEqual([{ index: 0, message: expect.stringMatching(/Unicode classes \(\\p\)/) }]);
    expect(() => compileExpression(pattern)).toThrow(PatternError);
    expect(() => syntaxFault(pattern)).toThrow(PatternError);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  it('shares a limit of case-insensitive parts among a list, and charges nothing for plain ranges', () => {
    const folded = Array.from({ length: 6 }, (_, index) => `(?i)[à-ÿ]${index}`);
    expect(faultsOf(...folded)).toEqual([{ index: 5, message: expect.stringContaining('at most 5 ranges above ASCII') }]);
    expect(faultsOf(...Array.from({ length: 50 }, (_, index) => `(?i)git[a-z0-9_.-]+ \\w${index}`))).toEqual([]);
    expect(faultsOf(...Array.from({ length: 50 }, (_, index) => `[à-ÿ]${index}`))).toEqual([]);
  });

  it('compiles any list of expressions without throwing, and keeps the usable ones', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...'ab()[]{}*+?\\|^$.,19pP'.split('')), maxLength: 12 }), { maxLength: 4 }),
        (patterns) => {
          const list = compileExpressions([...patterns, 'end']);
          expect(list.matching('end').at(-1)).toBe('end');
          for (const { index } of list.faults) expect(patterns[index]).toBeDefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('quotes any text so that exactly this text matches', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), (text) => {
        const list = compileExpressions([quoteExpression(text)]);
        expect([list.matching(text), list.matching(`${text}x`)]).toEqual([[quoteExpression(text)], []]);
      }),
    );
  });

  it.each([
    ['a'.repeat(PATTERN_LIMITS.length + 1), /at most 4096 characters; received 4097/],
    ['(a{1000}){1000}', /smaller counts of repetition/],
    ['((a{10}){10}){10}b{9000}', /smaller counts of repetition/],
    ['a{1000}b{1000}c{1000}', /at most 2500 instructions; it has 3\d{3}/],
    ['(?=a)', /a regular expression of RE2/],
    ['(', /a regular expression of RE2: missing closing \)/],
  ])('refuses an expression with the expected form: %.30s', (pattern, reason) => {
    expect(faultsOf('fine', pattern)).toEqual([{ index: 1, message: expect.stringMatching(reason) }]);
  });

  it('ends at the limits of the whole list, without looking at the rest', () => {
    const many = (pattern: (index: number) => string) => faultsOf(...Array.from({ length: 600 }, (_, index) => pattern(index)));
    expect(many((index) => `a${index}`)).toEqual([{ index: 500, message: 'expected at most 500 patterns; received 600' }]);
    expect(many((index) => `a{999}${index}`)).toEqual([
      { index: 9, message: 'expected expressions of at most 10000 instructions in the whole list' },
    ]);
    expect(many((index) => `[^\\pL]${index}`)).toEqual([{ index: 20, message: expect.stringContaining('at most 20 Unicode classes') }]);
  });
});
