import { afterEach, describe, expect, it } from '@jest/globals';
import { parseDocument } from './load-document.js';
import { openApi } from '../testing/openapi-api.js';

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const operation = { operationId: 'op', responses: {} };
const at = (path: string, item: object, more: object = {}) => ({ openapi: '3.0.3', info: {}, paths: { [path]: item }, ...more });
const body = (schema: object) => ({ post: { ...operation, requestBody: { content: { 'application/json': { schema } } } } });
const PET = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false };

describe('documents that write a word otherwise', () => {
  let api: Awaited<ReturnType<typeof openApi>> | undefined;
  afterEach(() => api?.close());

  it.each<[string, object, object, string]>([
    [
      'a place in capitals',
      at('/x', { get: { ...operation, parameters: [{ name: 'a', in: 'Query', schema: {} }] } }),
      { a: 'v' },
      'GET /x?a=v',
    ],
    ['a place with a space', at('/x/{id}', { get: { ...operation, parameters: [{ ...ID, in: 'path ' }] } }), { id: 'v' }, 'GET /x/v'],
    ['a method in capitals', at('/x', { GET: operation }), {}, 'GET /x'],
    ['a parameter as Flask writes it', at('/x/<id>', { get: { ...operation, parameters: [ID] } }), { id: 'v' }, 'GET /x/v'],
    ['one with its type', at('/x/<int:id>/y', { get: { ...operation, parameters: [ID] } }), { id: 'v' }, 'GET /x/v/y'],
    ['brackets that are no parameter', at('/x/<y>/{id}', { get: { ...operation, parameters: [ID] } }), { id: 'v' }, 'GET /x/%3Cy%3E/v'],
  ])('sends what is meant by %s', async (_what, document, args, sent) => {
    api = await openApi(document);
    expect(api.problems).toEqual([]);
    const { method, url } = await api.sent('op', args);
    expect(`${method} ${url}`).toBe(sent);
  });

  it('sends a text that YAML takes for a number or a flag as its document writes it', async () => {
    const schema = (values: string) => `{type: string, enum: [${values}]}`;
    const parameters = `[{name: v, in: query, schema: ${schema('1.0, 2.10')}}, {name: w, in: query, schema: ${schema('true, 010')}}]`;
    const document = `openapi: 3.0.3\ninfo: {}\npaths:\n  /x:\n    get: {operationId: op, responses: {}, parameters: ${parameters}}\n`;
    api = await openApi(parseDocument(document) as object);
    expect((await api.sent('op', { v: '2.10', w: 'true' })).url).toBe('/x?v=2.10&w=true');
    expect((await api.sent('op', { v: '1.0', w: '010' })).url).toBe('/x?v=1.0&w=010');
    await expect(api.output('op', { v: '2.1' })).rejects.toThrow('refused');
  });

  it('prefers the lower-case method if a path has both cases', async () => {
    api = await openApi(at('/x', { GET: { ...operation, operationId: 'large' }, get: operation }));
    expect(api.tools.map(({ name }) => name)).toEqual(['op']);
  });

  it.each<[string, object, object]>([
    ['a schema at its place in Swagger 2.0', { $ref: '#/definitions/Pet' }, { components: { schemas: { Pet: PET } } }],
    ['a schema at its place in OpenAPI 3', { $ref: '#/components/schemas/Pet' }, { definitions: { Pet: PET } }],
    ['a schema with a space behind its name', { $ref: '#/components/schemas/Pet ' }, { components: { schemas: { Pet: PET } } }],
  ])('follows a reference to %s', async (_what, schema, more) => {
    api = await openApi(at('/x', body(schema), more));
    expect(api.problems).toEqual([]);
    expect((await api.sent('op', { body: { a: 1 } })).body).toBe('{"a":1}');
    await expect(api.output('op', { body: { b: 1 } })).rejects.toThrow('refused');
  });
});
