// Hooks of Node's module loader: it compiles the TypeScript of this tree, takes `#lib` from its source, and gives each test file
// the `@jest/globals` of the file that runs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform, version } from '@swc/core';

const JEST_GLOBALS = new URL('./jest-globals.mjs', import.meta.url).href;
/** The query tells apart what is imported again. */
const TYPESCRIPT = /\.tsx?(\?|$)/;
const COMPILED_NAME = /^(\..*)\.js(\?.*)?$/;

const SETTINGS = new URL('../../../.swcrc', import.meta.url);
const COMPILER = [version, readFileSync(SETTINGS)];
const CACHE = new URL('../../../node_modules/.cache/tests/', import.meta.url);
mkdirSync(CACHE, { recursive: true });

export function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: JEST_GLOBALS, format: 'module', shortCircuit: true };
  if (!TYPESCRIPT.test(context.parentURL ?? '')) return next(specifier, context);
  if (specifier.startsWith('#')) return next(specifier, { ...context, conditions: [...context.conditions, 'source'] });
  const [, name, query = ''] = COMPILED_NAME.exec(specifier) ?? [];
  for (const ending of name === undefined ? [] : ['.ts', '.tsx']) {
    const { href } = new URL(`${name}${ending}`, context.parentURL);
    if (existsSync(fileURLToPath(href))) return { url: href + query, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!TYPESCRIPT.test(url) || url.includes('/node_modules/')) return next(url, context);
  const filename = fileURLToPath(url);
  return { format: 'module', source: await compiled(filename, await readFile(filename, 'utf8')), shortCircuit: true };
}

/** Compiled once for all workers and runs. */
async function compiled(filename, source) {
  const hash = createHash('sha256');
  for (const part of [...COMPILER, filename, source]) hash.update(part);
  const cached = fileURLToPath(new URL(`${hash.digest('hex')}.js`, CACHE));
  if (existsSync(cached)) return readFile(cached, 'utf8');
  const { code } = await transform(source, { filename, configFile: fileURLToPath(SETTINGS), sourceMaps: 'inline' });
  const partial = `${cached}.${process.pid}`;
  await writeFile(partial, code);
  await rename(partial, cached);
  return code;
}
