// Writes down which dialects there are, from the files src/<name>.dialect.ts: their list for the code, their names for the contracts.
// `npm run generate` renews both files before it builds; dialects.spec.ts fails when they differ.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('src/', import.meta.url);
const HEADER = '// Written by `npm run generate` from the files libs/dialects/src/*.dialect.ts.\n';
const LIST = new URL('list.ts', FOLDER);
const NAMES = new URL('../contracts/src/values/dialect-names.ts', import.meta.url);

const camelCase = (name) => name.replace(/-(.)/g, (_all, letter) => letter.toUpperCase());

/** The text of each written file, by its address. */
export function listings() {
  const suffix = '.dialect.ts';
  const names = readdirSync(FOLDER).flatMap((file) => (file.endsWith(suffix) ? [file.slice(0, -suffix.length)] : []));
  names.sort();
  const imports = names.map((name) => `import { dialect as ${camelCase(name)} } from './${name}.dialect.js';\n`).join('');
  const quoted = names.map((name) => `'${name}'`).join(', ');
  return new Map([
    [LIST, `${HEADER}${imports}\nexport const LIST = [${names.map(camelCase).join(', ')}] as const;\n`],
    [NAMES, `${HEADER}export const DIALECT_NAMES = [${quoted}] as const;\n`],
  ]);
}

/** The written files that are not as they should be. */
export function outdated() {
  return [...listings()].flatMap(([file, text]) => (readFileSync(file, 'utf8') === text ? [] : [fileURLToPath(file)]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const [file, text] of listings()) writeFileSync(file, text);
