import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { AnnouncedSource, JsonSchema } from '#contracts';
import { compileExpression } from '#patterns';
import { BuiltinSource, ToolRegistry } from '#tool-sdk';
import { acceptOffer } from '../catalog/offered-tool.js';
import { TenantCatalog } from '../catalog/tenant-catalog.js';
import { checkableSchema } from './checkable-schema.js';

/** Offers a tool with these schemas, and checks its arguments and results as a registry does. */
const offered = (input: JsonSchema, output?: JsonSchema) => {
  const offer = acceptOffer([{ rawName: 't', input, ...(output && { output }) }], { name: 'x', kind: 'mcp', trust: false });
  const entry = {
    tenantId: 't',
    name: 'x',
    kind: 'mcp',
    pin: false,
    origin: 'config',
    status: 'ok',
    ...offer,
  } as unknown as AnnouncedSource;
  const registry = new ToolRegistry(new BuiltinSource(() => []));
  registry.onModuleInit();
  registry.attach(new TenantCatalog({ list: () => [{ entry, pins: {} }], refresh: () => Promise.resolve() }));
  const view = registry.for('t');
  return {
    problems: offer.problems,
    shown: offer.tools[0]?.descriptor,
    accepts: (json: string) => view.validateArguments('t', json).ok,
    faults: (value: unknown) => view.checkOutput('t', value),
  };
};
const regExp = Object.assign((pattern: string) => compileExpression(pattern), { code: '' });
const compile = (schema: JsonSchema) =>
  new (schema['$schema'] === 'http://json-schema.org/draft-07/schema#' ? Ajv : Ajv2020)({
    strict: false,
    logger: false,
    code: { regExp },
  }).compile(schema);
const property = (schema: unknown): JsonSchema => ({ type: 'object', properties: { a: schema } }) as JsonSchema;
const EMAIL = "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";

/** Schema of the argument `a`, a value that its author allows, one that is refused by what is left, and what is said. */
const PARTS: readonly (readonly [what: string, schema: unknown, good: unknown, bad: unknown, said: RegExp | undefined])[] = [
  [
    'a pattern with look-ahead',
    { type: 'string', format: 'email', pattern: EMAIL },
    'ann@example.com',
    7,
    /input\/properties\/a\/pattern.*\(\?!/,
  ],
  ['a pattern with look-behind', { type: 'string', pattern: '(?<=a)b' }, 'x', 7, /pattern/],
  ['a pattern with a back-reference', { type: 'string', pattern: '(a)\\1' }, 'x', 7, /pattern/],
  ['a pattern between slashes', { type: 'string', pattern: '/^[a-z]+$/i' }, 'Abc', 7, /pattern.*slashes/],
  ['a pattern with a named group', { type: 'string', pattern: '^(?<year>\\d{4})$' }, '2024', 'x', undefined],
  ['a pattern that is a number', { type: 'string', pattern: 7 }, 'x', 7, /pattern/],
  ['a pattern that is null', { type: 'string', pattern: null }, 'x', 7, undefined],
  ['an unknown type', { type: 'strng', maxLength: 3 }, 7, 'long', /type.*strng/],
  ['an unknown type among others', { type: ['string', 'file'] }, 7, undefined, /type/],
  ['any type, as draft 03 writes it', { type: 'any' }, 7, undefined, undefined],
  ['an unknown keyword', { type: 'string', 'x-order': 1, example: 'x' }, 'x', 7, undefined],
  ['an unknown format', { type: 'string', format: 'colour' }, 'x', 7, undefined],
  ['limits as texts', { type: 'string', maxLength: '3' }, 'long', 7, /maxLength.*3/],
  ['negative limits', { type: 'string', minLength: -1 }, 'x', 7, /minLength/],
  ['an empty list of values', { type: 'string', enum: [] }, 'x', 7, /enum/],
  ['a null among nulls', { type: 'string', enum: null, description: null, title: null, default: null }, 'x', 7, undefined],
  ['texts that are none', { type: 'string', description: 5, title: {}, examples: 'x' }, 'x', 7, /description/],
  ['a nullable type', { type: 'string', nullable: true }, 'x', 7, undefined],
  ['null of a nullable type', { type: 'string', nullable: true }, null, 7, undefined],
  ['null beside nullable values', { type: 'string', enum: ['x'], nullable: true }, null, 'y', undefined],
  [
    'a schema that is closed beside its branches',
    { type: 'object', additionalProperties: false, anyOf: [{ properties: { b: {} }, required: ['b'] }] },
    { b: 1 },
    {},
    /additionalProperties.*member b/,
  ],
  [
    'a name that a closed schema asks for',
    { type: 'object', additionalProperties: false, properties: { b: {} }, required: ['c', 'b'] },
    { b: 1 },
    {},
    /required.*no such member/,
  ],
  ['nullable without type', { nullable: true }, 7, undefined, undefined],
  ['a flag that says that it is needed', { type: 'string', required: true }, 'x', 7, undefined],
  ['limits of draft 04', { type: 'number', minimum: 1, exclusiveMinimum: true, id: 'a' }, 2, 1, undefined],
  ['limits of draft 04 that are not exclusive', { type: 'number', minimum: 1, exclusiveMinimum: false }, 1, 0, undefined],
  ['items in a list', { type: 'array', items: [{ type: 'string' }], additionalItems: false }, ['x'], ['x', 1], undefined],
  ['no items at all', { type: 'array', items: null }, [1], 7, undefined],
  ['a reference to nowhere', { $ref: '#/$defs/none' }, 7, undefined, /\$ref.*none/],
  ['a reference to another document', { $ref: 'https://example.com/a.json' }, 7, undefined, /\$ref/],
  ['a part that is null', null, 7, undefined, undefined],
  ['a part that is a text', 'string', 7, undefined, /properties\/a/],
  ['a branch that is no schema', { anyOf: [{ type: 'string' }, 'x'] }, 7, undefined, /anyOf\/1/],
  ['a negation of what cannot be read', { type: 'string', not: { pattern: '(?=a)' } }, 'x', 7, /pattern/],
  ['a condition that cannot be read', { if: { pattern: '(?=a)' }, then: { maxLength: 1 } }, 'long', undefined, /pattern/],
  ['a negation of null without quotes', { not: { type: null } }, 'x', undefined, /not is left out/],
  ['a negation of no branches', { type: 'string', not: { anyOf: [] } }, 'x', 7, /anyOf/],
  ['alternatives of which one is no schema', { oneOf: [{ type: 'string' }, 'x'] }, 'x', undefined, /oneOf\/1/],
  [
    'alternatives by unknown formats',
    { oneOf: ['a', 'b'].map((format) => ({ type: 'string', format })) },
    'x',
    7,
    /branches of oneOf that overlap/,
  ],
  [
    'others beside names that cannot be read',
    { patternProperties: { '(?=a)': {} }, additionalProperties: { type: 'string' } },
    { x: 1 },
    undefined,
    /patternProperties/,
  ],
  ['values of another type than their schema', { type: 'string', enum: [1, 'a', true] }, '1', 1, undefined],
  ['alternatives of which several now match', { oneOf: [{ type: 'string', pattern: '(?=a)' }, { type: 'string' }] }, 'x', 7, /pattern/],
  [
    'names that cannot be read',
    { patternProperties: { '(?=a)': {} }, additionalProperties: false },
    { x: 1 },
    undefined,
    /patternProperties/,
  ],
  ['an asynchronous check', { $async: true, type: 'string' }, 'x', 7, undefined],
  ['an odd address', { $id: 'not an address', type: 'string' }, 'x', 7, undefined],
  ['names that are no texts', { type: 'object', required: ['b', 7, 'b'] }, { b: 1 }, {}, /required.*7/],
  ['properties that are a list', { type: 'object', properties: [] }, {}, 7, undefined],
  ['dependencies of draft 07', { type: 'object', dependencies: { b: ['c'], d: { required: ['e'] } } }, { b: 1, c: 1 }, { b: 1 }, undefined],
];

/** Whole schemas that are read without a word, with arguments that they allow and refuse. */
const WHOLE: readonly (readonly [what: string, schema: object, good: string, bad: string])[] = [
  ...['http://json-schema.org/draft-03/schema#', 'http://json-schema.org/draft-04/schema#', 'http://json-schema.org/draft-06/schema#'].map(
    (draft) =>
      [
        draft,
        {
          $schema: draft,
          id: 'http://x.example/a',
          properties: { a: { $ref: '#/definitions/n' } },
          definitions: { n: { type: 'number', minimum: 1, exclusiveMinimum: true } },
        },
        '{"a":2}',
        '{"a":1}',
      ] as const,
  ),
  [
    'draft 07',
    { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: { type: 'array', items: [{ type: 'string' }] } } },
    '{"a":["x"]}',
    '{"a":[1]}',
  ],
  [
    'draft 07 by HTTPS',
    { $schema: 'https://json-schema.org/draft-07/schema', properties: { a: { type: 'string' } } },
    '{"a":"x"}',
    '{"a":1}',
  ],
  [
    'draft 2019-09',
    {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      properties: { a: { $recursiveRef: '#' } },
      required: ['a'],
      maxProperties: 1,
      minProperties: 0,
      type: 'object',
      not: { required: ['b'] },
    },
    '{"a":{"a":{"a":1}}}',
    '{"b":1}',
  ],
  [
    'draft 2020-12',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { a: { $dynamicRef: '#n' } },
      $defs: { n: { $dynamicAnchor: 'n', type: 'number' } },
    },
    '{"a":1}',
    '{"a":"x"}',
  ],
  ['anchors', { properties: { a: { $ref: '#n' } }, $defs: { n: { $anchor: 'n', type: 'number' } } }, '{"a":1}', '{"a":"x"}'],
  [
    'references with odd names',
    { properties: { a: { $ref: '#/definitions/List<a b>' } }, definitions: { 'List<a b>': { type: 'number' } } },
    '{"a":1}',
    '{"a":"x"}',
  ],
  [
    'references to its own address',
    { $id: 'https://x.example/a', properties: { a: { $ref: 'https://x.example/a#/$defs/n' } }, $defs: { n: { type: 'number' } } },
    '{"a":1}',
    '{"a":"x"}',
  ],
  [
    'references to an unknown place',
    { properties: { a: { $ref: '#/components/schemas/n' } }, components: { schemas: { n: { type: 'number', title: null } } } },
    '{"a":1}',
    '{"a":"x"}',
  ],
];

describe('schemas that others wrote', () => {
  it.each(PARTS)('checks a schema but for %s', (_what, schema, good, bad, said) => {
    const { accepts, problems } = offered(property(schema));
    expect(accepts(JSON.stringify({ a: good }))).toBe(true);
    expect(accepts('{}')).toBe(true);
    if (bad !== undefined) expect(accepts(JSON.stringify({ a: bad }))).toBe(false);
    if (said === undefined) expect(problems).toEqual([]);
    else expect(problems[0]).toMatch(said);
  });

  it.each(WHOLE)('reads schemas of any draft: %s', (_what, schema, good, bad) => {
    const { accepts, problems } = offered({ type: 'object', ...schema });
    expect([problems, accepts(good)]).toEqual([[], true]);
    if (!_what.includes('2019')) expect(accepts(bad)).toBe(false);
  });

  it.each([
    [{ type: 'string', pattern: '^(?!x).*$' }, 'ann'],
    [{ type: 'strng' }, 'ann'],
  ])('accepts results that only a part left out of the schema would refuse: %j', (schema, value) => {
    const { faults, problems } = offered({ type: 'object' }, property(schema));
    expect(faults({ a: value })).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('output/properties/a/')]);
  });

  it('keeps fully readable schemas unchanged', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://x.example/a',
      ...property({ type: 'string', enum: ['a', 'a'], 'x-a': { b: null } }),
    };
    expect(checkableSchema(schema as JsonSchema)).toEqual({ schema, left: [] });
    const anchored = { $ref: '#/$defs/n', $defs: { n: { $anchor: 'n', type: 'object' } } };
    expect(checkableSchema(structuredClone(anchored) as JsonSchema)).toEqual({ schema: anchored, left: [] });
    const twice = { $defs: { a: { $anchor: 'n', type: 'object' }, b: { $anchor: 'n', type: 'string' } } };
    expect(JSON.stringify(checkableSchema(twice as JsonSchema).schema)).not.toContain('$anchor');
  });

  it('accepts arguments named like inherited members', () => {
    const schema = {
      type: 'object',
      properties: { constructor: { type: 'string' }, toString: { type: 'string' } },
      required: ['constructor'],
    };
    const { accepts } = offered(schema);
    expect([accepts('{"constructor":"ferrari"}'), accepts('{}'), accepts('{"constructor":7}')]).toEqual([true, false, false]);
    expect(accepts('{"constructor":{"prototype":{"polluted":1}}}')).toBe(false);
    expect(offered({ type: 'object' }).accepts('{"constructor":{"prototype":{"polluted":1}}}')).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('converts any schema into one that compiles, and keeps a converted one unchanged', () => {
    const odd = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        true,
        false,
        7,
        -1,
        'x',
        'string',
        'object',
        [],
        {},
        ['a'],
        [{}],
        '(?=a)',
        '#',
        '#/a',
        '#/properties/a',
        'x y',
      ),
    );
    const keys = fc.constantFrom(
      ...'type enum const pattern format minimum exclusiveMinimum multipleOf minLength required properties patternProperties additionalProperties items prefixItems additionalItems contains maxContains anyOf oneOf allOf not if then dependencies dependentRequired dependentSchemas $ref $id id $anchor $dynamicRef $recursiveRef $schema $async nullable discriminator unevaluatedProperties unevaluatedItems propertyNames contentSchema title examples default deprecated $comment $defs a'.split(
        ' ',
      ),
    );
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        odd,
        fc.dictionary(
          keys,
          fc.oneof(
            odd,
            tie('schema'),
            fc.array(tie('schema'), { maxLength: 2 }),
            fc.dictionary(fc.constantFrom('a', '(?=a)'), tie('schema'), { maxKeys: 2 }),
          ),
          { maxKeys: 4 },
        ),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.constantFrom(undefined, 'http://json-schema.org/draft-04/schema#'), (part, $schema) => {
        const read = checkableSchema({ ...property(part), definitions: { part }, ...($schema && { $schema }) } as JsonSchema);
        expect(checkableSchema(read.schema)).toEqual({ schema: read.schema, left: [] });
        expect(() => compile(read.schema)).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  it('allows arguments of an MCP tool with a default to be absent, but requires them in results', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { scale: { type: 'string', default: 'css' }, url: { type: 'string' } },
      required: ['scale', 'url'],
    };
    const { accepts, faults, problems, shown } = offered(schema, schema);
    expect([accepts('{"url":"x"}'), accepts('{}'), problems, shown?.input['required']]).toEqual([true, false, [], ['url']]);
    expect(faults({ url: 'x' })).not.toEqual([]);
  });
});

describe('formats of an MCP tool', () => {
  it.each([
    ['date-time', '2026-11-30 10:00:00'],
    ['date-time', '2026-11-30T10:00:00'],
    ['date', '2026-11-30T00:00:00Z'],
    ['time', '10:00'],
    ['duration', '90s'],
    ['uri', 'example.com/a'],
    ['uri', 'https://example.com/a b'],
    ['email', 'ann@localhost'],
    ['hostname', 'a_b.example'],
    ['ipv4', '10.0.0.0/8'],
    ['uuid', '0189f7ea00007000800000000000a0b1'],
    ['regex', '(?P<year>\\d+)'],
  ])('leaves it to the server whether the format %s allows %s, and shows the format', (format, value) => {
    const schema = property({ type: 'string', format });
    const { problems, shown, accepts, faults } = offered(schema, schema);
    expect([problems, shown?.input['properties']]).toEqual([[], { a: { type: 'string', format } }]);
    expect([accepts(JSON.stringify({ a: value })), accepts('{"a":7}'), faults({ a: value })]).toEqual([true, false, []]);
  });

  it('tells branches of oneOf with formats apart, and drops a negation of a format', () => {
    const when = { type: 'string', format: 'date-time' };
    const { shown, accepts } = offered(property({ oneOf: [when, { type: 'integer' }] }));
    expect(shown?.input['properties']).toEqual({ a: { oneOf: [when, { type: 'integer' }] } });
    expect([accepts('{"a":"today"}'), accepts('{"a":7}'), accepts('{"a":true}')]).toEqual([true, true, false]);
    expect(offered(property({ not: when })).accepts('{"a":"today"}')).toBe(true);
  });
});

describe('branches of oneOf of an MCP tool', () => {
  const text = { type: 'string' };
  const needs = (name: string, more: object = {}) => ({ type: 'object', properties: { [name]: text }, required: [name], ...more });
  const closed = (name: string) => needs(name, { additionalProperties: false });
  const kind = (value: string) => needs('kind', { properties: { kind: { const: value } } });
  const $ref = (name: string, more: object = {}) => ({ $ref: `#/$defs/${name}`, ...more });
  const $defs = { B: needs('b'), C: needs('c'), D: closed('b'), E: closed('c'), X: kind('x'), Y: kind('y') };

  it.each([
    ['objects', { oneOf: [needs('b'), needs('c')] }, { b: 'x', c: 'y' }, {}],
    ['references', { oneOf: [$ref('B'), $ref('C')] }, { b: 'x', c: 'y' }, {}],
    ['references with a check beside them', { oneOf: [$ref('X'), $ref('X', { required: ['b'] })] }, { kind: 'x', b: 1 }, { kind: 'y' }],
    ['numbers', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, 7, 'x'],
    ['values', { oneOf: [{ enum: ['a', 'b'] }, { const: 'b' }] }, 'b', 'c'],
    ['texts beside another union', { anyOf: [text, { type: 'null' }], oneOf: [{ maxLength: 3 }, { minLength: 2 }] }, 'abc', 7],
  ])('leaves it to the server which one is meant of %s that overlap, and says so', (_what, schema, good, bad) => {
    const { problems, accepts } = offered({ ...property(schema), $defs });
    expect(problems).toEqual([expect.stringContaining('input/properties/a has branches of oneOf that overlap')]);
    expect([accepts(JSON.stringify({ a: good })), accepts(JSON.stringify({ a: bad }))]).toEqual([true, false]);
  });

  it.each([
    ['kinds', { oneOf: [$ref('X'), $ref('Y')] }, { kind: 'x' }, { kind: 'z' }],
    ['kinds beside a reference', { oneOf: [$ref('B', kind('x')), $ref('B', kind('y'))] }, { b: 'x', kind: 'x' }, { b: 'x', kind: 'z' }],
    ['titles beside closed objects', { oneOf: [$ref('D', { title: 'D' }), $ref('E', { title: 'E' })] }, { b: 'x' }, { b: 'x', c: 'y' }],
    ['closed objects', { oneOf: [closed('b'), closed('c')] }, { b: 'x' }, { b: 'x', c: 'y' }],
    ['names', { type: 'object', oneOf: [{ required: ['b'] }, { required: ['c'] }] }, { b: 1 }, { b: 1, c: 1 }],
  ])('checks %s of which a value fits only one', (_what, schema, good, bad) => {
    const { problems, accepts, shown } = offered({ ...property(schema), $defs });
    expect([problems, shown?.input['properties']]).toEqual([[], { a: schema }]);
    expect([accepts(JSON.stringify({ a: good })), accepts(JSON.stringify({ a: bad }))]).toEqual([true, false]);
  });

  it('accepts a result that fits several branches, and drops a negation of such branches', () => {
    const schema = { oneOf: [needs('b'), needs('c')] };
    const { faults, accepts } = offered(property({ not: schema }), property(schema));
    expect(faults({ a: { b: 'x', c: 'y' } })).toEqual([]);
    expect(faults({ a: {} })).not.toEqual([]);
    expect(accepts('{"a":{"b":"x","c":"y"}}')).toBe(true);
  });
});

describe('references that lead back without a step into the value', () => {
  const $ref = (name: string) => ({ $ref: `#/$defs/${name}` });
  const object = (more: object) => ({ type: 'object', ...more });

  it.each([
    ['by allOf', { A: object({ allOf: [$ref('A')] }) }],
    ['by anyOf and allOf', { A: object({ anyOf: [$ref('B')] }), B: object({ allOf: [$ref('A')], properties: { b: { type: 'string' } } }) }],
    ['by oneOf of a base', { A: object({ oneOf: [$ref('B')] }), B: { allOf: [$ref('C')] }, C: { allOf: [$ref('A')] } }],
    ['by if', { A: object({ if: $ref('B'), then: {} }), B: object({ not: $ref('A') }) }],
    ['by dependentSchemas', { A: object({ dependentSchemas: { b: $ref('A') } }) }],
  ])('checks a schema that leads back to itself %s, and reports it', (_how, $defs) => {
    const { problems, accepts } = offered({ ...property($ref('A')), $defs });
    expect(problems.filter((it) => !/\/(?:not|if) is left out/.test(it))).toEqual([expect.stringMatching(/\$ref cannot be read/)]);
    expect([accepts('{"a":{"b":"x"}}'), accepts('{"a":7}')]).toEqual([true, false]);
  });

  it('keeps recursive references through a member, an item or a name', () => {
    const A = object({ properties: { next: $ref('A') }, additionalProperties: $ref('A') });
    const { problems, accepts } = offered({ ...property($ref('A')), $defs: { A } });
    expect([problems, accepts('{"a":{"next":{"x":{}}}}'), accepts('{"a":{"next":{"x":7}}}')]).toEqual([[], true, false]);
  });
});
