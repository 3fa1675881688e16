// Map from rows of the capability matrix to the tests that show them. A test names its rows at the end of its title: `it('… [PP-26, PP-30]', …)`.
// `npm run generate` writes the map to test/capabilities.json; test/capabilities.spec.ts fails when the file differs from the titles.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['apps', 'libs', 'test'];
const TITLE = /\b(?:it|test)(?:\.each\([\s\S]*?\))?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
const ROWS = /^([\s\S]*?) ?\[([A-Z]{1,2}-\d{2,3}(?:, [A-Z]{1,2}-\d{2,3})*)\]$/;

/** The rows that the tests of one file claim. @returns `[row, title without its rows][]` */
export function claimsOf(source) {
  return [...source.matchAll(TITLE)].flatMap(([, , written]) => {
    const [, title, rows] = ROWS.exec(written.replaceAll(/\\(.)/g, '$1')) ?? [];
    return rows === undefined ? [] : rows.split(', ').map((row) => [row, title]);
  });
}

/** All claims of all spec and contract files. @returns `{[row]: ['path › title']}`, sorted */
export function capabilityMap() {
  const files = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(folder, file)));
  const claims = files
    .filter((file) => /\.(spec|contract)\.ts$/.test(file) && file !== 'test/capabilities.spec.ts')
    .sort()
    .flatMap((file) => claimsOf(readFileSync(join(ROOT, file), 'utf8')).map(([row, title]) => [row, `${file} › ${title}`]));
  const map = {};
  for (const [row, test] of claims.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) map[row] = [...new Set([...(map[row] ?? []), test])];
  return map;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(ROOT, 'test/capabilities.json'), `${JSON.stringify(capabilityMap(), null, 2)}\n`);
