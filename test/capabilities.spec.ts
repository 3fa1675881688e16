import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { capabilityMap, claimsOf } from './capability-map.mjs';

const map = capabilityMap();

describe('test/capabilities.json', () => {
  it('is what the titles of the tests say: `npm run generate` writes it', () => {
    expect(JSON.parse(readFileSync('test/capabilities.json', 'utf8'))).toEqual(map);
  });

  it('has rows of the matrix and nothing else', () => {
    expect(Object.keys(map).filter((row) => !/^(CC|RP|PP|EX|EV|HK|TB|TS|VA|AV|CN|DX|K)-\d{2,3}$/.test(row))).toEqual([]);
  });
});

describe('a row in a title', () => {
  it('counts at its end only, one or several, in every form of a title', () => {
    const source = `it('runs [PP-01]', f); it.each([[1]])("takes %s [PP-02, EX-30]", f); test(\`a \\'b\\' [K-24]\`, f); it('[PP-03] first', f);`;
    expect(claimsOf(source)).toEqual([
      ['PP-01', 'runs'],
      ['PP-02', 'takes %s'],
      ['EX-30', 'takes %s'],
      ['K-24', "a 'b'"],
    ]);
  });
});
