import { isFields } from '../fields.js';

/**
 * Characters that a model reads and a person does not see: tags, controls of direction, fillers, spaces without width. Joiners
 * stay, which scripts and emoji need.
 */
const HIDDEN =
  /\u034F|[\u{E0000}-\u{E0FFF}\u00AD\u061C\u115F\u1160\u180B-\u180F\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFFA0\uFFF0-\uFFFB\uFEFF]/gu;
/** The keywords of a schema that say something to a model. Others are as they were: they check values. */
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
  return JSON.stringify(tool).search(HIDDEN) !== -1;
}

function readable(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return TEXTS.has(key) ? value.replace(HIDDEN, '') : value;
  if (VALUES.has(key)) return value;
  if (Array.isArray(value)) return value.map((part) => readable(part));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part, NAMED.has(key) ? '' : name)]));
}
