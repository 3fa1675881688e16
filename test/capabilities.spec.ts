import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';

const capabilities = JSON.parse(readFileSync('test/capabilities.json', 'utf8')) as Record<string, string[]>;

/** `path › title` names a test when the file has a test (or a table of tests) with exactly that title. */
function namesATest(reference: string): boolean {
  const [path = '', title = ''] = reference.split(' › ');
  if (!existsSync(path) || title === '') return false;
  const titles = [...readFileSync(path, 'utf8').matchAll(/\b(?:it|test)(?:\.each\([\s\S]*?\))?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g)];
  return titles.some(([, , written = '']) => written.replaceAll(/\\(.)/g, '$1') === title);
}

describe('test/capabilities.json', () => {
  it('names only tests that exist', () => {
    const missing = Object.entries(capabilities).flatMap(([row, references]) =>
      references.filter((it) => !namesATest(it)).map((it) => `${row}: ${it}`),
    );
    expect(missing).toEqual([]);
  });

  it('has a row id of the matrix and at least one test in every entry', () => {
    const odd = Object.entries(capabilities).filter(
      ([row, references]) => !/^(CC|RP|PP|EX|EV|HK|TB|TS|VA|AV|CN|DX|K)-\d+$/.test(row) || references.length === 0,
    );
    expect(odd).toEqual([]);
  });
});
