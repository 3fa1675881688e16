import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const INCLUDE = /^ *--- @include "([^"]+)"$/gm;

/**
 * Text of a Lua file with each line `--- @include "name"` replaced by the file `name.lua` beside it, as in BullMQ's scripts. An
 * included file only defines functions. Includes may be nested and indented; each file is inserted once, at its first include.
 * `--- @include "<name>"` inserts `provided[name]` of the caller.
 * @throws Error if a file (after a build: not copied) or a provided text is missing, and if files include each other in a
 * circle
 */
export function loadLua(file: URL, provided: Readonly<Record<string, string>> = {}): string {
  return expand(file, { provided, inserted: new Set(), path: [] });
}

interface Loading {
  readonly provided: Readonly<Record<string, string>>;
  readonly inserted: Set<string>;
  /** Files under expansion, outermost first. */
  readonly path: readonly string[];
}

function expand(file: URL, loading: Loading): string {
  const path = [...loading.path, file.href];
  if (loading.path.includes(file.href)) throw new Error(`Lua files include each other: ${path.map(fileName).join(' -> ')}.`);
  return readFileSync(file, 'utf8').replace(INCLUDE, (_line, name: string) => include(name, file, { ...loading, path }));
}

function include(name: string, from: URL, loading: Loading): string {
  const slot = /^<(.+)>$/.exec(name)?.[1];
  const target = slot === undefined ? new URL(`./${name}.lua`, from) : undefined;
  const key = target?.href ?? name;
  if (target !== undefined && loading.path.includes(key)) return expand(target, loading);
  if (loading.inserted.has(key)) return '';
  loading.inserted.add(key);
  if (target !== undefined) return expand(target, loading);
  const text = loading.provided[slot ?? ''];
  if (text === undefined) throw new Error(`${fileName(from.href)} includes ${name}, which the caller of loadLua did not provide.`);
  return text;
}

function fileName(href: string): string {
  return fileURLToPath(href).replace(/^.*[\\/]/, '');
}
