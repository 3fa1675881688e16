import { cleanText } from '#patterns';
import { isFields } from '../fields.js';

/** Hidden in a name or description; in results of tools, words may be written with it. */
const SOFT_HYPHENS = /\u00AD/g;
/** Keywords of a schema with text for a model. Others stay unchanged: they check values. */
const TEXTS = new Set(['label', 'title', 'description', '$comment']);
/** Keywords whose values arguments are compared with. */
const VALUES = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose members are schemas by names of any kind. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** The same description of a tool, if it has no hidden characters in its texts; else one without them. */
export function withoutHiddenText<T extends object>(tool: T): T {
  if (!hasHiddenText(tool)) return tool;
  const read = readable(tool);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same value with shorter texts
  return JSON.stringify(read) === JSON.stringify(tool) ? tool : (read as T);
}

/** Anywhere: also where a text must stay as it is. */
export function hasHiddenText(tool: object): boolean {
  return Object.entries(tool).some(([name, part]: [string, unknown]) => {
    if (visible(name) !== name) return true;
    return typeof part === 'string' ? visible(part) !== part : typeof part === 'object' && part !== null && hasHiddenText(part);
  });
}

const visible = (text: string): string => cleanText(text).replace(SOFT_HYPHENS, '');

function readable(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return TEXTS.has(key) ? visible(value) : value;
  if (VALUES.has(key)) return value;
  if (Array.isArray(value)) return value.map((part) => readable(part));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part, NAMED.has(key) ? '' : name)]));
}
