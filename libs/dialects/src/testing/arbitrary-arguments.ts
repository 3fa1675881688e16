import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema, JsonValue } from '#contracts';

type Schema = Readonly<Record<string, JsonValue>>;

/** Arguments that a schema accepts, as far as dialects use JSON Schema. */
export function argumentsOf(schema: JsonSchema): Arbitrary<JsonValue> {
  return valueOf(schema);
}

function valueOf(schema: Schema): Arbitrary<JsonValue> {
  if ('const' in schema) return fc.constant(schema['const'] ?? null);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return fc.oneof(...branches.map((branch) => valueOf(asSchema(branch))));
  switch (schema['type']) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: numberOf(schema, 'minimum', -1_000), max: numberOf(schema, 'maximum', 10_000) });
    case 'number':
      return fc.double({ min: numberOf(schema, 'minimum', -1_000), max: numberOf(schema, 'maximum', 10_000), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array': {
      const size = { minLength: numberOf(schema, 'minItems', 0), maxLength: Math.min(numberOf(schema, 'maxItems', 4), 4) };
      return fc.array(valueOf(asSchema(schema['items'])), size);
    }
    case 'object':
      return objectOf(schema);
    default:
      return fc.constantFrom<JsonValue>('text', 1, true);
  }
}

const WORDS = ['a', 'src/app.ts', 'a.ipynb', 'https://example.com/', 'http://localhost/x', 'ls -la', '**/*.ts', 'text', ' '];

function textOf(schema: Schema): Arbitrary<string> {
  const min = numberOf(schema, 'minLength', 0);
  const max = numberOf(schema, 'maxLength', 300);
  return fc.oneof(
    fc.constantFrom(...WORDS.filter(({ length }) => length >= min && length <= max)),
    fc.string({ minLength: min, maxLength: Math.min(max, 40) }),
  );
}

function objectOf(schema: Schema): Arbitrary<JsonValue> {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = Object.entries(asSchema(schema['properties'] ?? {}));
  const record = fc.record(Object.fromEntries(properties.map(([name, property]) => [name, valueOf(asSchema(property))])), {
    requiredKeys: properties.map(([name]) => name).filter((name) => required.includes(name)),
  });
  const others = schema['additionalProperties'];
  if (typeof others !== 'object' || others === null) return record;
  return fc.dictionary(fc.constantFrom('x-name', 'accept'), valueOf(asSchema(others)));
}

function asSchema(value: JsonValue | undefined): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function numberOf(schema: Schema, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  if (typeof value !== 'number') return otherwise;
  return Math.max(-1_000_000, Math.min(value, 1_000_000));
}
