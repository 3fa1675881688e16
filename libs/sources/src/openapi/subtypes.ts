import { fieldsOf, isFields, listOf, type Fields } from '../fields.js';

/** A base with more of them is shown without them. */
const MAX_SUBTYPES = 40;

/** Schemas that extend another one by `allOf`, by the reference to that one. */
export class Subtypes {
  private readonly direct = new Map<string, Set<string>>();

  constructor(document: Fields) {
    const places = { '#/components/schemas/': fieldsOf(document['components'])['schemas'], '#/definitions/': document['definitions'] };
    for (const [place, schemas] of Object.entries(places))
      for (const [name, schema] of Object.entries(fieldsOf(schemas))) {
        const reference = `${place}${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
        for (const part of listOf(fieldsOf(schema)['allOf'])) this.add(fieldsOf(part)['$ref'], reference);
      }
  }

  /** Up to one more than are shown, without the base itself. */
  private add($ref: unknown, reference: string): void {
    if (typeof $ref !== 'string' || $ref === reference) return;
    const known = this.direct.get($ref) ?? new Set();
    if (known.size <= MAX_SUBTYPES) known.add(reference);
    this.direct.set($ref, known);
  }

  /** True if other schemas extend this one. */
  has(reference: string): boolean {
    return this.direct.has(reference);
  }

  /** All that a value of the base with a discriminator may be; none where the base lists its branches itself. */
  of(reference: string, base: unknown): readonly string[] {
    if (!hasDiscriminator(base) || Array.isArray(base['oneOf']) || Array.isArray(base['anyOf'])) return [];
    const all = new Set<string>();
    const open = [reference];
    for (let next = open.pop(); next !== undefined && all.size <= MAX_SUBTYPES; next = open.pop())
      for (const subtype of this.direct.get(next) ?? [])
        if (!all.has(subtype) && subtype !== reference && all.size <= MAX_SUBTYPES) {
          all.add(subtype);
          open.push(subtype);
        }
    return all.size > MAX_SUBTYPES ? [] : [...all];
  }
}

/** An object in OpenAPI 3, a text in Swagger 2.0. */
export function hasDiscriminator(schema: unknown): schema is Fields {
  return isFields(schema) && (isFields(schema['discriminator']) || typeof schema['discriminator'] === 'string');
}
