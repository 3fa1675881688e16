import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { capabilityMap, claimsOf } from './capability-map.mjs';

/** Tests that see the product as its users do. Those elsewhere call parts of it in their own process. */
const THROUGH_PUBLIC_INTERFACES = /^test\/(api|process|faults|deploy)\//;

/** Rows about shapes and pure functions: a test of the unit shows them. Every other row needs a test of the running product. */
const SHOWN_BY_A_UNIT = new Set(
  [
    ['CC-01', 'CC-02', 'CC-03', 'CC-04', 'CC-05', 'CC-09', 'CC-12', 'CC-40'], // definitions and error values
    ['RP-01', 'RP-03', 'RP-05', 'RP-06', 'RP-07', 'RP-08', 'RP-12', 'RP-13', 'RP-17'], // registration
    ['VA-11', 'VA-12', 'VA-15'], // validation of arguments
    ['HK-06'], // reading a hook's answer
    ['PP-32'], // thousands of runs of one tool
  ].flat(),
);

const map = capabilityMap();

describe('test/capabilities.json', () => {
  it('matches the titles of the tests in test/capabilities.json: `npm run generate` writes it', () => {
    expect(JSON.parse(readFileSync('test/capabilities.json', 'utf8'))).toEqual(map);
  });

  it('names only rows of the matrix in test/capabilities.json', () => {
    expect(Object.keys(map).filter((row) => !/^(CC|RP|PP|EX|EV|HK|TB|TS|VA|AV|CN|DX|K)-\d{2,3}$/.test(row))).toEqual([]);
  });

  it('shows each row about the running product by a test of it', () => {
    const unitOnly = Object.entries(map).filter(
      ([row, tests]) => !SHOWN_BY_A_UNIT.has(row) && !tests.some((it) => THROUGH_PUBLIC_INTERFACES.test(it)),
    );
    expect(unitOnly.map(([row]) => row)).toEqual([]);
  });
});

describe('a row in a title', () => {
  it('counts a row at the end of a title only, one or several, in every form of a title', () => {
    const source = `it('runs [PP-01]', f); it.each([[1]])("accepts %s [PP-02, EX-30]", f); test(\`a \\'b\\' [K-24]\`, f); it('[PP-03] first', f);`;
    expect(claimsOf(source)).toEqual([
      ['PP-01', 'runs'],
      ['PP-02', 'accepts %s'],
      ['EX-30', 'accepts %s'],
      ['K-24', "a 'b'"],
    ]);
  });
});
