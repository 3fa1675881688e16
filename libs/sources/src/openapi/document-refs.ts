import { fieldsOf, isFields, type Fields } from '../fields.js';

/** A chain of references that is longer has a circle. */
const MAX_HOPS = 32;
const SHOWN = 200;

/** Looks up references within one document. References to other documents are not followed. */
export class DocumentRefs {
  /** Values by reference. One that is still looked up has none: a circle leads nowhere. */
  private readonly found = new Map<string, unknown>();
  /** References that lead nowhere, with the reason. */
  private readonly missing = new Map<string, string>();
  private named: ReadonlyMap<string, unknown> | undefined;
  /** Addresses under which the document refers to itself. */
  private readonly own: readonly string[];

  constructor(
    private readonly document: Fields,
    location?: string,
  ) {
    const { $self } = document;
    const self = typeof $self === 'string' && URL.canParse($self, location) ? new URL($self, location).href : undefined;
    this.own = [self, location].filter((it) => it !== undefined).map((it) => it.replace(/#.*$/, ''));
  }

  /** Value of a reference; undefined if the document has no such place, which `takeFaults` reports. */
  at(reference: string, hops = 0): unknown {
    if (hops <= MAX_HOPS && !this.found.has(reference)) {
      this.found.set(reference, undefined);
      this.found.set(reference, this.meant(reference, hops));
    }
    const value = this.found.get(reference);
    if (value === undefined) this.missing.set(reference, this.reasonOf(reference));
    return value;
  }

  private meant(reference: string, hops: number): unknown {
    const trimmed = reference.trim();
    for (const written of new Set([reference, trimmed, moved(trimmed)])) {
      const value = this.lookUp(written, hops);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  /** The value, or what it refers to over any number of references. Members beside a reference replace those that it leads to. */
  resolve(value: unknown): Fields {
    let current = value;
    let reference = '';
    let beside: Fields = {};
    for (let hops = 0; hops < MAX_HOPS; hops += 1) {
      const { $ref, ...others } = fieldsOf(current);
      beside = { ...others, ...beside };
      if (typeof $ref !== 'string') return beside;
      reference = $ref;
      current = this.at($ref);
    }
    this.missing.set(reference, 'which leads back to itself');
    return {};
  }

  /** Same as `resolve`, for values that cannot be left out. @throws Error with a text for the operator */
  required(value: unknown): Fields {
    const before = new Map(this.missing);
    this.missing.clear();
    const resolved = this.resolve(value);
    const [fault] = this.faults();
    for (const [reference, reason] of before) this.missing.set(reference, reason);
    if (fault !== undefined) throw new Error(fault);
    return resolved;
  }

  /** References that led nowhere since the last time, in words for the operator. */
  takeFaults(): string[] {
    const faults = this.faults().map((it) => `${it}; that part is left open`);
    this.missing.clear();
    return faults;
  }

  private faults(): string[] {
    return [...this.missing].map(([reference, reason]) => `it refers to ${reference.slice(0, SHOWN)}, ${reason}`);
  }

  private reasonOf(reference: string): string {
    const isOutside = !reference.startsWith('#') && this.fragmentOf(reference) === undefined;
    return isOutside ? 'which is in another document, and those are not read' : 'which the document does not have';
  }

  private lookUp(reference: string, hops: number): unknown {
    const fragment = this.fragmentOf(reference);
    if (fragment === undefined || (fragment !== '' && !fragment.startsWith('/'))) return this.names().get(reference);
    let value: unknown = this.document;
    for (const word of fragment.split('/').slice(1)) {
      const key = unescaped(word);
      const { $ref } = fieldsOf(value);
      if (typeof $ref === 'string' && !Object.hasOwn(fieldsOf(value), key)) value = this.at($ref, hops + 1);
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = Reflect.get(value, key);
    }
    return value;
  }

  /** The part behind `#` of a reference into this document. */
  private fragmentOf(reference: string): string | undefined {
    const [address = '', fragment = ''] = reference.split(/#(.*)/s);
    const isOwn = address === '' || this.own.some((base) => URL.canParse(address, base) && new URL(address, base).href === base);
    return isOwn ? fragment : undefined;
  }

  /** Schemas by `$anchor`, `$id`, and by their bare names, which older documents refer to. */
  private names(): ReadonlyMap<string, unknown> {
    if (this.named !== undefined) return this.named;
    const named = new Map<string, unknown>();
    const open: unknown[] = [this.document['components'], this.document['definitions']];
    // Aliases of YAML make parts that contain themselves.
    const seen = new Set<unknown>();
    while (open.length > 0) {
      const next = open.pop();
      if (typeof next !== 'object' || next === null || seen.has(next)) continue;
      seen.add(next);
      const { $anchor, $dynamicAnchor, $id } = fieldsOf(next);
      for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') named.set(`#${anchor}`, next);
      if (typeof $id === 'string') named.set($id, next);
      for (const inner of Object.values<unknown>({ ...next })) open.push(inner);
    }
    const schemas = { ...fieldsOf(this.document['definitions']), ...fieldsOf(fieldsOf(this.document['components'])['schemas']) };
    for (const [name, schema] of Object.entries(schemas)) if (isFields(schema) && !named.has(name)) named.set(name, schema);
    this.named = named;
    return named;
  }
}

/** A reference that was not changed when its document became one of another version. */
function moved(reference: string): string {
  if (reference.startsWith('#/definitions/')) return reference.replace('#/definitions/', '#/components/schemas/');
  return reference.replace(/^#\/components\/schemas\//, '#/definitions/');
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
