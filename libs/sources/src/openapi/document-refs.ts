import { fieldsOf, type Fields } from '../fields.js';

/** A chain of references that is longer has a circle. */
const MAX_HOPS = 32;

/** Looks up references within one document. References to other documents are not followed. */
export class DocumentRefs {
  constructor(private readonly document: Fields) {}

  /** What the reference names; undefined when the document has no such place. */
  at(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined;
    let value: unknown = this.document;
    for (const word of reference.slice(2).split('/')) {
      const key = unescaped(word);
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = Reflect.get(value, key);
    }
    return value;
  }

  /** The value, or what it refers to over any number of references. */
  resolve(value: unknown): Fields {
    let current = value;
    for (let hops = 0; hops < MAX_HOPS; hops += 1) {
      const reference = fieldsOf(current)['$ref'];
      if (typeof reference !== 'string') return fieldsOf(current);
      current = this.at(reference);
    }
    return {};
  }
}

/** RFC 6901 within the fragment of a URL. */
function unescaped(word: string): string {
  let decoded = word;
  try {
    decoded = decodeURIComponent(word);
  } catch {
    // A lone percent sign stands for itself.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}
