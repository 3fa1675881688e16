import { isFields } from '../fields.js';

/**
 * Characters that a model reads and a person does not see: tags, controls of direction, spaces without width. Joiners stay,
 * which scripts and emoji need.
 */
const HIDDEN = /[\u{E0000}-\u{E0FFF}\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;
/** The keywords of a schema that say something to a model. Others are as they were: they check values. */
const TEXTS = new Set(['label', 'title', 'description', '$comment']);

/** The same description of a tool, if it has no hidden characters in its texts; else one without them. */
export function withoutHiddenText<T extends object>(tool: T): T {
  if (JSON.stringify(tool).search(HIDDEN) === -1) return tool;
  const read = readable(tool);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same value with shorter texts
  return JSON.stringify(read) === JSON.stringify(tool) ? tool : (read as T);
}

function readable(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return TEXTS.has(key) ? value.replace(HIDDEN, '') : value;
  if (Array.isArray(value)) return value.map((part) => readable(part));
  return isFields(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part, name)])) : value;
}
