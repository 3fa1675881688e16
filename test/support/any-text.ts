import fc, { type Arbitrary, type StringSharedConstraints } from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

const character = fc.integer({ min: 0, max: LAST - SURROGATES.count }).map(
  (n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count),
  (text) => indexOf(text),
);

/**
 * Texts of any characters but halves of surrogate pairs, and names such as `__proto__`: what `fc.string({ unit: 'binary' })` makes,
 * which builds a table of all 1.1 million characters first. That takes a second and 128 MB in each test file.
 */
export function anyText(constraints: StringSharedConstraints = {}): Arbitrary<string> {
  return fc.string({ unit: character, ...constraints });
}

/** @throws Error for what is not one character, by which fast-check learns what it can shrink. */
function indexOf(text: unknown): number {
  const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('not one character');
  if (point < SURROGATES.first) return point;
  if (point < SURROGATES.first + SURROGATES.count) throw new Error('half of a surrogate pair');
  return point - SURROGATES.count;
}
