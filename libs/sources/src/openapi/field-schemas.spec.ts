import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi } from '../testing/openapi-api.js';

type Api = Awaited<ReturnType<typeof openApi>>;
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const text = { type: 'string' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Schemas as public documents have them, by the bodies that are sent and those that are refused. */
describe('schemas of documents from the field', () => {
  let api: Api | undefined;
  afterEach(() => api?.close());
  const of = async (schema: object, schemas: object = {}, openapi = '3.0.3') => {
    const requestBody = { required: true, content: { 'application/json': { schema } } };
    api = await openApi({
      openapi,
      info: {},
      paths: { '/x': { post: { operationId: 'op', requestBody, responses: {} } } },
      components: { schemas },
    });
    return api;
  };
  const accepts = async (one: Api, body: unknown): Promise<boolean> => {
    const before = one.seen.length;
    await one.output('op', { body }).catch(() => undefined);
    const sent = one.seen.slice(before).map((it) => it.body);
    if (sent.length > 0) expect(sent).toEqual([JSON.stringify(body)]);
    return sent.length > 0;
  };

  const Pet = object({ kind: text }, { required: ['kind'], discriminator: { propertyName: 'kind' } });
  const Cat = { allOf: [ref('Pet'), object({ claws: { type: 'integer' } }, { required: ['claws'] })] };
  const Dog = { allOf: [ref('Pet'), object({ bark: text })] };
  const union = { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind' } };
  it.each([
    ['a base that others extend', ref('Pet'), { Pet, Cat, Dog }],
    ['a base that is closed', ref('Pet'), { Pet: { ...Pet, additionalProperties: false }, Cat, Dog }],
    [
      'a base that others extend over two steps',
      ref('Pet'),
      { Pet, Cat: { allOf: [ref('Feline'), Cat.allOf[1]] }, Feline: { allOf: [ref('Pet')] } },
    ],
    ['a base that lists its branches, which extend it', ref('Pet'), { Pet: { ...Pet, ...union }, Cat, Dog }],
    ['a union', union, { Pet, Cat, Dog }],
    [
      'a union with a mapping',
      { ...union, discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', Dog: 'Dog' } } },
      { Pet, Cat, Dog },
    ],
    ['a union by anyOf', { anyOf: union.oneOf, discriminator: union.discriminator }, { Pet, Cat, Dog }],
    ['a union as a part', { allOf: [ref('Any'), object({ more: text })] }, { Any: union, Pet, Cat, Dog }],
    ['a list of a base', ref('Box'), { Box: object({ kind: text, pets: { type: 'array', items: ref('Pet') } }), Pet, Cat, Dog }],
    ['a default mapping of 3.2', { ...union, discriminator: { propertyName: 'kind', defaultMapping: 'Cat' } }, { Pet, Cat, Dog }],
  ])('accepts and shows the branches of a discriminator: %s', async (_how, schema, schemas) => {
    const one = await of(schema, schemas);
    expect(one.problems).toEqual([]);
    expect(JSON.stringify(one.tools[0]?.input)).toContain('claws');
    const body = { kind: 'Cat', claws: 4 };
    expect(await accepts(one, JSON.stringify(schema).includes('Box') ? { pets: [body] } : body)).toBe(true);
    expect(await accepts(one, 'no pet')).toBe(false);
  });

  it('shows a base with very many schemas that extend it without them', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`Pet${index}`, Dog]));
    const one = await of(ref('Pet'), { Pet: { ...Pet, additionalProperties: false }, ...many });
    expect([await accepts(one, { kind: 'Pet7', bark: 'x' }), await accepts(one, {})]).toEqual([true, false]);
  });

  const closed = (name: string) => object({ [name]: text }, { required: [name], additionalProperties: false });
  const kind = (value: string) => object({ kind: { enum: [value] }, n: text }, { required: ['kind'] });
  const needs = (name: string) => object({ [name]: text }, { required: [name] });
  it.each([
    ['objects', { oneOf: [ref('A'), ref('B')] }, { a: 'x', b: 'y' }],
    ['objects of which one has more members', { oneOf: [needs('a'), object({ a: text, c: text }, { required: ['a'] })] }, { a: 'x' }],
    ['numbers', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, 7],
    ['texts of formats', { oneOf: [{ ...text, format: 'date' }, text] }, '2026-01-02'],
    [
      'nullable branches',
      {
        oneOf: [
          { ...text, nullable: true },
          { type: 'integer', nullable: true },
        ],
      },
      null,
    ],
    ['a union in a union', { oneOf: [{ anyOf: [needs('a'), text] }, needs('b')] }, { a: 'x', b: 'y' }],
    ['parts', { oneOf: [{ allOf: [ref('A')] }, { allOf: [ref('B')] }] }, { a: 'x', b: 'y' }],
    ['kinds of which two are the same', { oneOf: [kind('x'), kind('x'), kind('y')] }, { kind: 'x' }],
  ])('lets the API decide between branches of oneOf that overlap, and says so: %s', async (_what, schema, body) => {
    const one = await of(object({ it: schema }), { A: needs('a'), B: needs('b') });
    expect(one.problems).toEqual([expect.stringContaining('has branches of oneOf that overlap')]);
    expect([await accepts(one, { it: body }), await accepts(one, { it: [] })]).toEqual([true, false]);
  });

  it.each([
    ['types', { oneOf: [text, { type: 'integer' }] }, 'x', true],
    ['kinds', { oneOf: [kind('x'), kind('y')] }, { kind: 'y' }, { kind: 'z' }],
    ['kinds in parts', { oneOf: [{ allOf: [kind('x')] }, ref('Y')] }, { kind: 'y' }, { kind: 'z' }],
    ['closed members', { oneOf: [closed('a'), closed('b')] }, { a: 'x' }, { a: 'x', b: 'y' }],
    ['values', { oneOf: [{ ...text, enum: ['a'] }, { const: 'b' }] }, 'b', 'c'],
    ['names alone', object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }), { a: 'x' }, { a: 'x', b: 'y' }],
  ])('checks the branches of oneOf that nothing but one of them fits: %s', async (_what, schema, good, bad) => {
    const one = await of(object({ it: schema }), { Y: kind('y') });
    expect(one.problems).toEqual([]);
    expect([await accepts(one, { it: good }), await accepts(one, { it: bad })]).toEqual([true, false]);
  });

  it.each([
    ['beside a type', { ...text, nullable: true }, null, 7],
    ['beside an enumeration', { ...text, enum: ['a'], nullable: true }, null, 'b'],
    ['beside an enumeration without a type', { enum: ['a'], nullable: true }, null, 'b'],
    ['beside a reference', { ...ref('A'), nullable: true }, null, 7],
    ['beside allOf', { allOf: [ref('A')], nullable: true }, null, 7],
    ['beside allOf and a type', { type: 'object', allOf: [object({ b: text })], nullable: true }, null, 7],
    ['beside oneOf and a type', { type: 'object', oneOf: [object({ b: text })], nullable: true }, null, 7],
    ['as a type', { type: ['string', 'null'] }, null, 7],
    ['as a type without quotes', { type: ['string', null] }, null, 7],
    ['as a branch', { anyOf: [text, { type: 'null' }] }, null, 7],
    ['as a branch without quotes', { oneOf: [text, { type: null }] }, null, 7],
    ['of an older extension', { ...text, 'x-nullable': true }, null, 7],
  ])('accepts null as the schema allows by %s', async (_how, a, good, bad) => {
    const one = await of(object({ a }), { A: text });
    expect(one.problems).toEqual([]);
    expect([await accepts(one, { a: good }), await accepts(one, { a: bad })]).toEqual([true, false]);
  });

  it.each([
    ['of its own', object({ id: { ...text, readOnly: true } }, { required: ['id', 'n'] }), {}],
    [
      'of a part',
      { allOf: [ref('Base'), object({ n: text })], required: ['id', 'n'] },
      { Base: object({ id: { ...text, readOnly: true } }, { required: ['id'] }) },
    ],
    ['of another part', { allOf: [object({ id: { ...text, readOnly: true } }), { required: ['id', 'n'] }] }, {}],
    ['beside a reference', object({ id: { ...ref('Id'), readOnly: true } }, { required: ['id', 'n'] }), { Id: text }],
    ['by a reference', object({ id: ref('Id') }, { required: ['id', 'n'] }), { Id: { ...text, readOnly: true } }],
    ['by allOf', object({ id: { allOf: [ref('Id')], readOnly: true } }, { required: ['id', 'n'] }), { Id: text }],
  ])('does not ask for a property that only answers have: %s', async (_how, schema, schemas) => {
    const one = await of(schema, schemas);
    expect(JSON.stringify(one.tools[0]?.input)).not.toContain('"id"');
    expect([await accepts(one, { n: 'x' }), await accepts(one, {})]).toEqual([true, false]);
  });

  it.each([
    ['of allOf', { allOf: [closed('a'), closed('b')] }, {}],
    ['of allOf by reference', { allOf: [ref('A'), ref('B')] }, { A: closed('a'), B: closed('b') }],
    ['of allOf in a part', { allOf: [ref('A'), object({ c: text })] }, { A: { allOf: [closed('a'), closed('b')] } }],
    ['of allOf in a closed schema', { additionalProperties: false, allOf: [object({ a: text, b: text }, { required: ['a', 'b'] })] }, {}],
    ['of allOf beside own members', { ...closed('a'), allOf: [closed('b')] }, {}],
  ])('accepts the members of all parts that are closed by themselves: %s', async (_how, schema, schemas) => {
    const one = await of(schema, schemas);
    expect([await accepts(one, { a: 'x', b: 'y' }), await accepts(one, { a: 'x' })]).toEqual([true, false]);
  });

  it.each([
    ['a union', { oneOf: [ref('A'), ref('B')] }],
    ['a union with a discriminator', { oneOf: [ref('A'), ref('B')], discriminator: { propertyName: 'kind' } }],
    ['a union in a part of a branch', { anyOf: [{ allOf: [ref('A')] }, { oneOf: [ref('B')] }] }],
  ])('accepts the members of the branches of a schema that is closed by itself: %s', async (_how, branches) => {
    const one = await of({ type: 'object', additionalProperties: false, ...branches }, { A: closed('a'), B: closed('b') });
    expect([await accepts(one, { a: 'x' }), await accepts(one, { b: 'x' }), await accepts(one, 'x')]).toEqual([true, true, false]);
  });

  it('keeps a schema closed whose branches only list its own members', async () => {
    const one = await of(object({ a: text, b: text }, { additionalProperties: false, anyOf: [{ required: ['a'] }, { required: ['b'] }] }));
    expect([await accepts(one, { a: 'x' }), await accepts(one, { a: 'x', c: 'y' })]).toEqual([true, false]);
  });

  it('asks for no member that a closed schema does not have, and says so', async () => {
    const one = await of(
      object({ members: { type: 'array', items: text } }, { additionalProperties: false, required: ['people', 'members'] }),
    );
    expect(one.problems).toEqual([expect.stringContaining('required cannot be read: ["people"]')]);
    expect([await accepts(one, { members: ['x'] }), await accepts(one, {})]).toEqual([true, false]);
  });

  it('keeps a closed schema that is the only part', async () => {
    const one = await of({ allOf: [ref('A')] }, { A: closed('a') });
    expect([await accepts(one, { a: 'x' }), await accepts(one, { a: 'x', b: 'y' })]).toEqual([true, false]);
  });

  it('keeps properties of requests only', async () => {
    const one = await of(object({ password: { ...text, writeOnly: true } }, { required: ['password'], additionalProperties: false }));
    expect([await accepts(one, { password: 'x' }), await accepts(one, {})]).toEqual([true, false]);
  });

  it.each([
    ['3.0.3', true],
    ['3.1.0', false],
    ['3.2.0', false],
  ])('reads keywords beside a reference as version %s has them', async (version, isIgnored) => {
    const one = await of({ ...ref('A'), required: ['b'], description: 'Mine.' }, { A: object({ a: text }) }, version);
    expect(one.tools[0]?.input['properties']).toMatchObject({ body: { description: 'Mine.' } });
    expect([await accepts(one, { a: 'x' }), await accepts(one, { b: 1 })]).toEqual([isIgnored, true]);
  });

  it.each([
    ['by a member', { A: object({ next: ref('A') }) }],
    ['by a list of others', { A: object({ list: { type: 'array', items: ref('B') } }), B: object({ a: ref('A') }) }],
    ['by additionalProperties', { A: { type: 'object', additionalProperties: ref('A') } }],
    ['by allOf', { A: object({}, { allOf: [ref('B')] }), B: { allOf: [ref('A')] } }],
    ['by oneOf', { A: object({}, { oneOf: [ref('B')] }), B: object({}, { allOf: [ref('A')] }) }],
    ['by not', { A: object({}, { anyOf: [ref('B'), { not: ref('A') }] }), B: object({}) }],
    ['to nothing else', { A: object({ a: ref('Loop') }), Loop: ref('Loop') }],
  ])('reads a schema that leads back to itself %s', async (_how, schemas) => {
    const one = await of(ref('A'), schemas);
    expect([await accepts(one, {}), await accepts(one, 7)]).toEqual([true, false]);
  });

  const long = Array.from({ length: 3_000 }, (_, index) => `value ${index}`);
  const elsewhere = { $ref: 'other.json#/A' };
  it.each([
    ['of too many values', { not: { enum: long } }, {}],
    ['of a text that is too long', { not: { const: 'x'.repeat(3_000) } }, {}],
    ['of another document', { not: elsewhere }, {}],
    ['of another document behind a reference', { not: ref('A') }, { A: { type: 'string', allOf: [elsewhere] } }],
    ['of another document within itself', { not: { anyOf: [{ not: elsewhere }] } }, {}],
    ['of a pattern that cannot be matched', { not: { pattern: '(?=a)' } }, {}],
    ['of what is no schema', { not: { allOf: ['text'] } }, {}],
    ['of a format', { not: { format: 'phone' } }, {}],
    ['of no branches', { not: { anyOf: [] } }, {}],
    ['of a condition', { if: { enum: long }, then: { maxLength: 1 } }, {}],
    ['of a condition of another document', { if: elsewhere, then: { maxLength: 1 }, else: { maxLength: 2 } }, {}],
  ])('omits a negation with an uncheckable part: %s', async (_what, schema, schemas) => {
    const one = await of(object({ a: { type: 'string', ...schema } }), schemas);
    expect(one.problems).toContainEqual(expect.stringMatching(/^op: input\/properties\/body\/.*\/(?:not|if) is left out/));
    expect([await accepts(one, { a: 'one' }), await accepts(one, { a: 7 })]).toEqual([true, false]);
  });

  it('keeps a checkable negation beside uncheckable parts', async () => {
    const one = await of(object({ a: { not: { type: 'string' } }, b: elsewhere, c: { not: ref('C') } }), { C: { type: 'integer' } });
    expect([await accepts(one, { a: 1, b: 2, c: 'x' }), await accepts(one, { a: 'x' }), await accepts(one, { c: 7 })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('reads a negation of null without quotes', async () => {
    const one = await of(object({ a: { not: { type: null } } }), {}, '3.1.0');
    expect([one.problems, await accepts(one, { a: 'x' }), await accepts(one, { a: null })]).toEqual([[], true, false]);
  });

  it.each([
    [
      'alternatives with too many values',
      {
        oneOf: [
          { type: 'string', enum: ['one', ...long] },
          { type: 'string', minLength: 1 },
        ],
      },
      'one',
      7,
    ],
    ['alternatives of which one is elsewhere', { oneOf: [elsewhere, text] }, 'one', undefined],
    ['alternatives of which one is no schema', { oneOf: ['text', text] }, 'one', undefined],
    ['branches of which one is no schema', { anyOf: ['text', { type: 'integer' }] }, 'one', undefined],
    [
      'alternatives that differ by what only answers have',
      { oneOf: [object({ id: { ...text, readOnly: true }, n: text }, { required: ['id'] }), object({ n: text }, { required: ['n'] })] },
      { n: 'x' },
      7,
    ],
    ['a number of items of another document', { type: 'array', contains: elsewhere, maxContains: 1 }, [1, 2], 7],
    [
      'alternatives by formats',
      {
        oneOf: [
          { ...text, format: 'phone' },
          { ...text, format: 'nickname' },
        ],
      },
      'one',
      7,
    ],
    ['alternatives by formats of numbers', { oneOf: [{ type: 'integer' }, { type: 'number', format: 'double' }] }, 7, 'one'],
    ['names by a pattern', { type: 'object', patternProperties: { '(?=b)': {} }, additionalProperties: text }, { b: 1 }, 7],
    ['items in a list', { type: 'array', prefixItems: [elsewhere, text], items: false }, [1, 'x'], [1, 2]],
    ['items in a list of an older draft', { type: 'array', items: [{ type: 'integer' }, ref('T')] }, [1, 'x'], ['x', 1]],
    [
      'items before one that is no schema',
      { type: 'array', prefixItems: [text, 'text', { type: 'integer' }] },
      ['x', {}, 1],
      ['x', {}, 'x'],
    ],
    ['a member without a schema', object({ b: null }, { additionalProperties: false }), { b: 1 }, { c: 1 }],
  ])('checks a schema without the part that cannot be checked: %s', async (_what, schema, good, bad) => {
    const one = await of(object({ a: schema }), { T: text }, '3.1.0');
    expect(await accepts(one, { a: good })).toBe(true);
    if (bad !== undefined) expect(await accepts(one, { a: bad })).toBe(false);
  });

  it('accepts members with the names of inherited ones', async () => {
    const one = await of(object({ constructor: text, toString: text, hasOwnProperty: text }, { additionalProperties: false }));
    expect(await accepts(one, { constructor: 'ferrari', toString: 'x', hasOwnProperty: 'y' })).toBe(true);
    expect(await accepts(one, { constructor: { prototype: { polluted: 1 } } })).toBe(false);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('sends 64-bit integers of a body exactly, by references and branches, up to the limits of their type', async () => {
    const Id = { type: 'integer', format: 'int64', minimum: -(2 ** 63), maximum: 2 ** 63 };
    const one = await of(
      object({
        a: ref('Id'),
        b: { oneOf: [ref('Id'), { type: 'boolean' }] },
        c: { ...ref('Id'), nullable: true },
        d: { type: 'array', items: ref('Id') },
      }),
      { Id },
    );
    const body = '{"a":9223372036854775807,"b":725653563933458433,"c":-9223372036854775808,"d":[725653563933458433]}';
    expect((await one.sent('op', `{"body":${body}}`)).body).toBe(body);
    expect((await one.sent('op', `{"body":${body.replace(/-?\d{10,}/g, '"$&"')}}`)).body).toBe(body);
  });

  it('reads values beside `items` as values of the items', async () => {
    const one = await of(object({ from: { type: 'array', items: text, enum: ['git', 'svn'] } }));
    expect([await accepts(one, { from: ['git'] }), await accepts(one, { from: ['cvs'] })]).toEqual([true, false]);
  });
});
