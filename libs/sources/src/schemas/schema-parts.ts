import { isFields, type Fields } from '../fields.js';

const MAX_PARTS = 1_000;

/** References of a document, or of one schema. */
export interface SchemaRefs {
  /** The schema with what its reference leads to; empty for a reference to nowhere. */
  resolve(schema: unknown): Fields;
}

/** The schema and those that it has below the keys, over any number of them. Each list is entered once, and 1,000 parts at most. */
export function partsOf(schema: unknown, keys: readonly string[], refs: SchemaRefs): Fields[] {
  const parts: Fields[] = [];
  const known = new Set<unknown>();
  const open: unknown[] = [schema];
  while (open.length > 0 && parts.length < MAX_PARTS) {
    const part = refs.resolve(open.pop());
    parts.push(part);
    for (const key of keys) {
      const inner = part[key];
      if (typeof inner !== 'object' || inner === null || known.has(inner)) continue;
      known.add(inner);
      for (const it of [inner].flat()) if (isFields(it)) open.push(it);
    }
  }
  return parts;
}
