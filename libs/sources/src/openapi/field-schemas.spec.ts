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
  ])('accepts null that the schema says %s', async (_how, a, good, bad) => {
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

  const closed = (name: string) => object({ [name]: text }, { required: [name], additionalProperties: false });
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

  it('keeps a schema closed that is the only part', async () => {
    const one = await of({ allOf: [ref('A')] }, { A: closed('a') });
    expect([await accepts(one, { a: 'x' }), await accepts(one, { a: 'x', b: 'y' })]).toEqual([true, false]);
  });

  it('keeps properties that only requests have', async () => {
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

  it('accepts members with the names of those that every object has', async () => {
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
});
