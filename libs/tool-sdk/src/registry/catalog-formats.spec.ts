import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema } from '#contracts';
import { argumentShape } from '../validation/argument-shape.js';
import { prepareArguments } from '../validation/prepare-arguments.js';
import { compileForeignSchema } from '../validation/schema-compiler.js';
import { formatCatalog, matchesSearch } from './catalog-formats.js';
import { describeTool, type ToolFacts } from './tool-descriptor.js';

const facts = (name: string, more: Partial<ToolFacts> = {}): ToolFacts => ({
  name,
  description: `Does ${name}.`,
  source: 'fake',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
  ...more,
});

const SHAPES: JsonSchema = {
  type: 'object',
  properties: { unit: { type: 'string' } },
  required: ['unit'],
  oneOf: [
    {
      properties: { kind: { const: 'circle', type: 'string' }, radius: { type: 'number' }, side: { type: 'number' } },
      required: ['kind', 'radius'],
      additionalProperties: false,
    },
    {
      properties: { kind: { const: 'square', type: 'string' }, side: { type: 'string' } },
      required: ['kind', 'side'],
      additionalProperties: false,
    },
  ],
};

/** Schemas as sources send them, each with arguments that it accepts. */
const ODD: [string, JsonSchema, object][] = [
  ['no properties', { type: 'object' }, { a: 1 }],
  ['no type', { properties: { a: { type: 'string' } } }, { a: 'x' }],
  ['several types', { type: ['object', 'null'], properties: {} }, {}],
  ['arrays without items', { type: 'object', properties: { a: { type: 'array' }, b: { type: ['array', 'null'] } } }, { a: [1], b: null }],
  ['oneOf at the root', SHAPES, { unit: 'm', kind: 'square', side: '1' }],
  ['anyOf of required', { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { b: 1 }],
  [
    'allOf with a union',
    { type: 'object', allOf: [SHAPES, { properties: { a: { type: 'null' } }, required: ['a'] }] },
    { unit: '', kind: 'circle', radius: 1, a: null },
  ],
  [
    'a reference at the root',
    { type: 'object', $ref: '#/$defs/a', $defs: { a: { properties: { b: { $ref: '#' } }, required: ['b'] } } },
    { b: { b: {} } },
  ],
  ['enum and not at the root', { type: 'object', enum: [{ a: 1 }], not: { required: ['b'] }, properties: { a: {} } }, { a: 1 }],
  [
    'a tuple of draft-07',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { a: { type: 'array', items: [{ type: 'string' }, true], additionalItems: { type: 'null' } } },
    },
    { a: ['x', 1, null] },
  ],
  [
    'a closed tuple',
    { type: 'object', properties: { a: { type: 'array', prefixItems: [{ type: 'string' }], items: false } } },
    { a: ['x'] },
  ],
  [
    'boolean schemas',
    { type: 'object', properties: { a: true, b: false, c: { type: 'array', items: true }, d: { not: false, anyOf: [true] } } },
    { a: 1, c: [1], d: 2 },
  ],
  ['a required name without a schema', { type: 'object', required: ['a', 'b c'] }, { a: 1, 'b c': 2 }],
  [
    'odd names',
    {
      type: 'object',
      properties: { 'filter[name]': { type: 'string' }, 'a b': {}, ['n'.repeat(80)]: {}, '': {}, __proto__x: {} },
      required: ['a b'],
      dependentRequired: { 'a b': ['filter[name]'] },
    },
    { 'a b': 1, 'filter[name]': 'x' },
  ],
  [
    'references into branches',
    { type: 'object', anyOf: [{ properties: { a: { type: 'array' } } }, { properties: { b: { $ref: '#/anyOf/0/properties/a' } } }] },
    { b: [1] },
  ],
];

const drafts = new Ajv2020({ strict: false, logger: false });

function faultsOf(schema: JsonSchema, refused: readonly string[]): string[] {
  return [
    ...(schema['type'] === 'object' ? [] : ['type must be object']),
    ...refused.filter((key) => schema[key] !== undefined).map((key) => `${key} at the top level`),
    ...(drafts.validateSchema(schema) === true ? [] : [`not of draft 2020-12: ${drafts.errorsText()}`]),
  ];
}

/** 400 "input_schema does not support oneOf, allOf, or anyOf at the top level", "Property keys should match pattern …". */
function faultsForAnthropic(schema: JsonSchema): string[] {
  const names = Object.keys(schema['properties'] ?? {}).filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
  return [...faultsOf(schema, ['oneOf', 'anyOf', 'allOf']), ...names.map((name) => `property key ${name}`)];
}

/** 400 "object schema missing properties", "array schema missing items", "… is not of type 'object', 'boolean'". */
function faultsForOpenAi(schema: JsonSchema): string[] {
  const faults = faultsOf(schema, ['oneOf', 'anyOf', 'allOf', 'enum', 'not', '$schema']);
  if (schema['properties'] === undefined) faults.push('object schema missing properties');
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, items } = value as Record<string, unknown>;
    if ([type].flat().includes('array') && (typeof items !== 'object' || Array.isArray(items))) faults.push('array schema missing items');
    Object.values(value).forEach(visit);
  };
  visit(schema);
  return faults;
}

describe('formatCatalog', () => {
  const tool = describeTool(facts('a', { label: 'Nice A', output: { type: 'object' } }));

  it('gives models exactly the needed fields of the catalog, without facts for people [CC-02, CC-04, CC-05, CC-07, CN-03]', async () => {
    expect(await formatCatalog([tool], 'anthropic')).toEqual([{ name: 'a', description: 'Does a.', input_schema: tool.input }]);
    expect(await formatCatalog([tool], 'openai')).toEqual([
      { type: 'function', function: { name: 'a', description: 'Does a.', parameters: tool.input } },
    ]);
  });

  it('gives MCP the annotations of the catalog, and people all fields [CC-02]', async () => {
    expect(await formatCatalog([tool], 'mcp')).toEqual([
      {
        name: 'a',
        title: 'Nice A',
        description: 'Does a.',
        inputSchema: tool.input,
        outputSchema: { type: 'object' },
        annotations: tool.annotations,
      },
    ]);
    expect(await formatCatalog([tool], 'full')).toEqual([tool]);
  });

  it.each(ODD)('gives models a schema that their APIs accept and that covers the source’s: %s', async (_title, input, args) => {
    const odd = describeTool(facts('a', { input }));
    const before = structuredClone(input);
    for (const format of ['anthropic', 'function', 'permissions', 'openai', 'openai-responses'] as const) {
      const [{ function: ofOpenAi, ...given } = {}] = await formatCatalog([odd], format);
      const { input_schema: a, parameters: b } = { ...given, ...(ofOpenAi as object | undefined) } as Record<string, unknown>;
      const schema = (a ?? b) as JsonSchema;
      expect([format, ...(format.startsWith('openai') ? faultsForOpenAi(schema) : faultsForAnthropic(schema))]).toEqual([format]);
      if (format.startsWith('openai')) expect(compileForeignSchema(schema)(structuredClone(args))).toEqual([]);
    }
    expect(await formatCatalog([odd], 'mcp')).toMatchObject([{ inputSchema: before }]);
    expect(input).toEqual(before);
  });

  const givenTo = async (format: 'anthropic' | 'function', input: JsonSchema) => {
    const [tool] = await formatCatalog([describeTool(facts('a', { input }))], format);
    return { description: tool?.['description'], schema: (tool?.['input_schema'] ?? tool?.['parameters']) as JsonSchema };
  };

  it('folds branches at the root into one object, and describes which arguments belong together', async () => {
    const { description, schema } = await givenTo('anthropic', SHAPES);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['circle', 'square'] },
        radius: { type: 'number' },
        side: { anyOf: [{ type: 'number' }, { type: 'string' }] },
        unit: { type: 'string' },
      },
      required: ['unit', 'kind'],
      additionalProperties: false,
    });
    expect(description).toBe(
      'Does a.\n\nGive the arguments of exactly one of these sets: `kind` = "circle", `radius`, optionally `side`; `kind` = "square", `side`.',
    );
  });

  it('preserves the meaning of a reference whose target moved', async () => {
    const target = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    const { schema } = await givenTo('anthropic', {
      type: 'object',
      properties: { 'a b': target, c: { $ref: '#/properties/a%20b' }, d: { $ref: '#/properties/c' }, e: { $ref: '#/nowhere' } },
    });
    const copied = { type: 'array', prefixItems: [{ type: 'string' }], items: {}, maxItems: 1 };
    expect(schema).toEqual({
      type: 'object',
      properties: {
        a_b: { ...copied, description: 'The tool calls it "a b".' },
        c: { $ref: '#/$defs/part1' },
        d: { $ref: '#/properties/c' },
        e: {},
      },
      $defs: { part1: copied },
    });
  });

  it('accepts plain names of arguments that an API refuses, and passes the tool its own names', async () => {
    const names = ['filter[name]', 'filter(name)', 'a b', 'a_b', '姓名', 'n'.repeat(80), '$top'];
    const input = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])), required: names };
    const { schema } = await givenTo('anthropic', input);
    const plain = ['filter_name', 'filter_name_2', 'a_b_2', 'a_b', 'argument', 'n'.repeat(58), 'top'];
    expect([Object.keys(schema['properties'] ?? {}), schema['required']]).toEqual([plain, plain]);
    const args = (keys: readonly string[]) => Object.fromEntries(keys.map((key, index) => [key, `${index}`]));
    for (const sent of [plain, names])
      expect(prepareArguments(args(sent), argumentShape(input), compileForeignSchema(input))).toEqual({ ok: true, args: args(names) });
  });

  it('folds a schema of thousands of parts that share each other without going through them again and again', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [
        `d${index}`,
        {
          properties: { [`p${index}`]: { type: 'array' } },
          anyOf: [index + 1, index + 2, index + 3].map((next) => ({ $ref: `#/$defs/d${next % 2_000}` })),
        },
      ]),
    );
    const { schema } = await givenTo('anthropic', { type: 'object', $ref: '#/$defs/d0', $defs });
    expect(Object.keys(schema['properties'] ?? {}).length).toBeGreaterThan(10);
    expect(faultsForAnthropic(schema)).toEqual([]);
  });

  it('searches names, aliases, labels and descriptions of tools for every word', () => {
    expect(matchesSearch(tool, 'nice does')).toBe(true);
    expect(matchesSearch(tool, 'nice shell')).toBe(false);
  });
});
