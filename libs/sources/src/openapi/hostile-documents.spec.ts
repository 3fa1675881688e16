import { describe, expect, it } from '@jest/globals';
import { areDistinct, comparisonBudget } from '../schemas/distinct-branches.js';
import { DocumentRefs } from './document-refs.js';
import { filesOf, isFile } from './body-files.js';
import { readOperations } from './read-operations.js';
import { withoutReadOnly } from './schema-forms.js';
import { Subtypes } from './subtypes.js';

const RULES = {
  servers: { url: 'https://api.example.com', documentUrl: undefined, sameOrigin: false },
  reserved: { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() },
  wanted: () => true,
  maxTools: 100,
};
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const times = <T>(count: number, it: T): T[] => Array.from({ length: count }, () => it);
const get = (operationId: string, more: object = {}) => ({ get: { operationId, responses: {}, ...more } });
const read = async (paths: object, more: object = {}) => {
  const { operations, problems } = await readOperations({ openapi: '3.0.3', paths, ...more }, RULES);
  return [operations.map(({ name }) => name), problems];
};

/** Documents that would never be read to their end if their cost grew faster than their size. */
describe('documents that repeat and nest without measure', () => {
  it.each(['allOf', 'anyOf', 'oneOf'])('looks for files once in a schema that names itself very often by %s', (key) => {
    const A = { [key]: times(2_000, ref('A')), properties: { a: { format: 'binary' }, b: ref('A') } };
    const refs = new DocumentRefs({ components: { schemas: { A } } });
    expect([filesOf(ref('A'), refs), isFile(ref('A'), refs)]).toEqual([['a'], false]);
  });

  it('compares a bounded number of branches of a union that contains itself', () => {
    const branches = times(40, ref('U'));
    const refs = new DocumentRefs({ components: { schemas: { U: { oneOf: branches } } } });
    const resolve = refs.resolve.bind(refs);
    let resolved = 0;
    refs.resolve = (schema) => {
      resolved += 1;
      return resolve(schema);
    };
    expect(areDistinct(branches, refs, comparisonBudget())).toBe(false);
    expect(resolved).toBeLessThan(1_000_000);
  });

  it('resolves each of many circular references of a document once', () => {
    let reads = 0;
    const part = () => Object.defineProperty({}, '$ref', { enumerable: true, get: () => ((reads += 1), '#/components/b/x') });
    const components = { a: { $ref: '#/components/b/x' }, b: part() };
    const refs = new DocumentRefs({ components });
    for (const reference of ['#/components/a/x', ' #/components/a/x', '#/components/b/x', '#/definitions/x']) {
      expect(refs.resolve({ $ref: reference })).toEqual({});
      expect(refs.takeFaults().length).toBeGreaterThan(0);
    }
    expect(reads).toBeLessThan(30);
  });

  it('looks for read-only properties once in a schema that extends itself very often', () => {
    const A = { allOf: times(2_000, ref('A')), properties: { a: { readOnly: true } } };
    const refs = new DocumentRefs({ components: { schemas: { A } } });
    expect(withoutReadOnly({ required: ['a', 'b'] }, { allOf: [ref('A')] }, refs)).toMatchObject({ required: ['b'] });
  });

  it('counts subtypes up to the number that is shown', () => {
    const few = Object.fromEntries(times(3, 0).map((_, index) => [`S${index}`, { allOf: times(2, ref('B')) }]));
    const many = Object.fromEntries(times(200, 0).map((_, index) => [`S${index}`, { allOf: times(2_000, ref('B')) }]));
    const base = { discriminator: { propertyName: 'kind' } };
    const of = (schemas: object) => new Subtypes({ components: { schemas } }).of('#/components/schemas/B', base);
    expect([of(few), of(many)]).toEqual([['S0', 'S1', 'S2'].map((it) => ref(it).$ref), []]);
  });

  it('finds anchors in a document whose parts contain themselves', async () => {
    const schemas: Record<string, unknown> = { a: { $anchor: 'here', type: 'string' }, more: times(200_000, 0) };
    const components = { schemas };
    schemas['self'] = components;
    const parameters = [{ name: 'q', in: 'query', schema: { $ref: '#here' } }];
    expect(await read({ '/x': get('op', { parameters }) }, { components })).toEqual([['op'], []]);
  });

  it('drops only an unreadable path item, and reports it', async () => {
    const broken = Object.defineProperty({}, 'summary', {
      enumerable: true,
      get: () => {
        throw new RangeError('it is too deep');
      },
    });
    expect(await read({ '/broken': broken, '/x': get('op') })).toEqual([['op'], ['/broken: it is too deep']]);
  });

  it('drops an operation with too long a path, and reports it', async () => {
    const path = `/${'#'.repeat(300_000)}}`;
    const said = `${path.slice(0, 200)}: its path has 300002 characters; expected at most 4000`;
    expect(await read({ [path]: get('long'), '/x': get('op') })).toEqual([['op'], [said]]);
  });

  it('drops an operation with too many path parameters, and reports it', async () => {
    const places = (count: number) =>
      `/${times(count, 0)
        .map((_, index) => `{a${index}}`)
        .join('')}`;
    const parameters = times(199, 0).map((_, index) => ({ name: `q${index}`, in: 'query', schema: {} }));
    const [names, problems] = await read({ [places(2)]: get('many', { parameters }), [places(1)]: get('op', { parameters }) });
    expect([names, problems]).toEqual([['op'], expect.arrayContaining(['GET /{a0}{a1}: it has 201 parameters; expected at most 200'])]);
  });

  it('cuts long names of operations and parameters before it reads them', async () => {
    const long = `a${'_'.repeat(500_000)}b`;
    const parameters = [{ name: long, in: 'query', schema: {} }];
    const { operations } = await readOperations({ openapi: '3.0.3', paths: { '/x': get(long, { parameters }) } }, RULES);
    expect(operations.map(({ name, parameters: [it] }) => [name, it?.argument])).toEqual([['a', 'a']]);
  });
});
