import fc from 'fast-check';
import type { ToolDescriptor } from '#contracts';

type Described = Pick<ToolDescriptor, 'input'>;

/** Values that are awkward for paths, globs, patterns, commands and URLs. */
const AWKWARD = [
  '',
  '.',
  '..',
  '../..',
  '/',
  '/etc/passwd',
  'README.md',
  'src',
  '**',
  '*',
  '[',
  '{',
  '(',
  '\\',
  '-x',
  '--help',
  '\0',
  '~',
  'a\nb',
];

/** Random arguments: two in five any JSON; the others fit the schema: required fields are present, each value has its type. */
export function randomArguments(tool: Described, texts: readonly string[]): fc.Arbitrary<Record<string, unknown> | string> {
  const names = Object.keys(propertiesOf(tool));
  const any = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.json(),
    fc.string(),
    fc.dictionary(fc.constantFrom(...names, '__proto__', 'constructor', 'x'), fc.jsonValue()),
  );
  const text = fc.oneof(fc.constantFrom(...AWKWARD, ...texts), fc.string());
  const shaped = Object.fromEntries(Object.entries(propertiesOf(tool)).map(([name, schema]) => [name, valueOf(schema, text)]));
  const required = names.filter((name) => requiredOf(tool).includes(name));
  return fc.oneof({ weight: 2, arbitrary: any }, { weight: 3, arbitrary: fc.record(shaped, { requiredKeys: required }) });
}

function valueOf(schema: Record<string, unknown>, text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const { type, minimum = 0, maximum = 60 } = schema;
  const choices: readonly unknown[] = Array.isArray(schema['enum']) ? schema['enum'] : [];
  if (choices.length > 0) return fc.constantFrom(...choices);
  switch (type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return fc.integer({ min: Number(minimum), max: Math.max(Number(minimum), Math.min(Number(maximum), 60)) });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue();
  }
}

function requiredOf({ input }: Described): readonly unknown[] {
  return Array.isArray(input['required']) ? input['required'] : [];
}

function propertiesOf(tool: Described): Record<string, Record<string, unknown>> {
  const properties = tool.input['properties'];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the properties of a JSON Schema are schemas
  return (properties ?? {}) as Record<string, Record<string, unknown>>;
}
