import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi } from '../testing/openapi-api.js';
import { parseDocument } from './load-document.js';
import { readOperations } from './read-operations.js';

type Api = Awaited<ReturnType<typeof openApi>>;
const text = { type: 'string' };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });

/** Documents with what no version allows and generators write all the same. */
describe('documents with odd parts', () => {
  let api: Api | undefined;
  afterEach(() => api?.close());
  const of = async (operation: object, more: object = {}, path = '/x') =>
    (api = await openApi({
      openapi: '3.0.0',
      info: {},
      paths: { [path]: { post: { operationId: 'op', responses: {}, ...operation } } },
      ...more,
    }));

  it.each([
    ['a body among the parameters', { parameters: [{ in: 'body', name: 'b', schema: { type: 'object' } }] }, 'application/json', '{"a":1}'],
    [
      'fields of a form among the parameters',
      {
        parameters: [
          { in: 'formData', name: 'a', type: 'integer', required: true },
          { in: 'query', name: 'q', schema: text },
        ],
      },
      'application/x-www-form-urlencoded',
      'a=1',
    ],
  ])('sends %s of a document of version 3', async (_what, operation, type, body) => {
    const one = await of(operation);
    expect(one.problems).toEqual([]);
    const request = await one.sent('op', { body: { a: 1 } });
    expect([request.headers['content-type'], request.body]).toEqual([type, body]);
  });

  it('reads parameters by name, and flags that are texts', async () => {
    const one = await of(
      { parameters: { q: { in: 'query', required: 'true', schema: text }, r: { $ref: '#/components/parameters/R' } } },
      {
        components: { parameters: { R: { name: 'r', in: 'query', schema: text } } },
      },
    );
    expect((await one.sent('op', { q: 'a', r: 'b' })).url).toBe('/x?q=a&r=b');
    await expect(one.output('op', { r: 'b' })).rejects.toThrow('refused');
  });

  it.each([
    ['/x/{id?}', 'id', '/x/7'],
    ['/x/{id:int}', 'id', '/x/7'],
    ['/x/{ id }', 'id', '/x/7'],
    ['/x/{id}/', 'id', '/x/7/'],
    ['/x/{$id}', '$id', '/x/7'],
    ['/a b/{id}', 'id', '/a%20b/7'],
    ['//x/{id}', 'id', '//x/7'],
    ['/x/{id', undefined, '/x/%7Bid'],
    ['/x{.id}', 'id', '/x.7'],
    ['/x{.id}', '.id', '/x.7'],
    ['/x{/id}', 'id', '/x/7'],
    ['/x{;id}', 'id', '/x;id=7'],
    ['/x/{id:}', 'id:', '/x/7'],
    ['/x/{id?}', 'id?', '/x/7'],
    ['/x/{}', undefined, '/x/%7B%7D'],
  ])('sends a request to the path %s', async (path, name, url) => {
    const parameters = name === undefined ? [] : [{ in: 'path', name, required: true, schema: { type: 'integer' } }];
    const one = await of({ parameters }, {}, path);
    expect(one.problems).toEqual([]);
    const [argument] = Object.keys(one.tools[0]?.input['properties'] ?? {});
    expect((await one.sent('op', argument === undefined ? {} : { [argument]: 7 })).url).toBe(url);
  });

  it.each([
    [{ type: 'string', enum: [1, 2.5, true] }, '2.5', 2.5],
    [{ type: 'integer', enum: ['1', '2'] }, 2, '2'],
    [{ type: 'boolean', enum: ['true'] }, true, 'true'],
    [{ type: ['string', 'null'], enum: [1, null] }, null, 1],
    [{ type: 'string', enum: ['a', 1], nullable: true }, '1', 1],
  ])('reads listed values as the type of their schema: %j', async (schema, good, bad) => {
    const one = await of({ requestBody: json({ type: 'object', properties: { a: schema } }) });
    expect((await one.sent('op', { body: { a: good } })).body).toBe(JSON.stringify({ a: good }));
    await expect(one.output('op', { body: { a: bad } })).rejects.toThrow('refused');
  });

  const file = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } };
  it.each([
    ['the same schema', file, 'multipart/form-data'],
    ['an address in its place', { type: 'object', properties: { url: text } }, 'application/json'],
  ])('sends files in the multipart body if JSON has %s', async (_how, schema, type) => {
    const requestBody = { content: { 'application/json': { schema }, 'multipart/form-data': { schema: file } } };
    const one = await of({ requestBody });
    expect((await one.sent('op', { body: {} })).headers['content-type']).toContain(type);
  });

  it.each([
    ['a comma at the end', '{"openapi": "3.0.0", "paths": {"/x": {"get": {"operationId": "op",},},},}'],
    ['single quotes', "{'openapi': '3.0.0', 'paths': {'/x': {'get': {'operationId': 'op'}}}}"],
    ['a byte order mark', '\ufeff{"openapi": "3.0.0", "paths": {"/x": {"get": {"operationId": "op"}}}}'],
    ['lines before it', '\n\n  {"openapi": "3.0.0", "paths": {"/x": {"get": {"operationId": "op"}}}}'],
    ['a byte order mark before YAML', '\ufeffopenapi: 3.0.0\npaths: {/x: {get: {operationId: op}}}'],
    ['a mark of the beginning', '---\nopenapi: 3.0.0\npaths: {/x: {get: {operationId: op}}}\n...\n'],
    ['tabs', '{\t"openapi":\t"3.0.0",\n\t"paths": {"/x": {"get": {"operationId": "op"}}}}'],
  ])('reads a document with %s', async (_what, source) => {
    api = await openApi(parseDocument(source) as object);
    expect(api.tools.map(({ name }) => name)).toEqual(['op']);
  });

  it.each([
    ['of the format byte', { type: 'string', format: 'byte' }, 'aGk='],
    ['of the encoding base64', { type: 'string', contentEncoding: 'base64' }, 'aGk='],
    ['of the format binary', { type: 'string', format: 'binary' }, 'hi'],
    ['without a format', {}, 'hi'],
  ])('sends an image %s as the document has it', async (_what, schema, body) => {
    const one = await of({ requestBody: { content: { 'image/jpeg': { schema } } } }, { openapi: '3.1.0' });
    const request = await one.sent('op', { body: 'aGk=' });
    expect([request.headers['content-type'], request.body]).toEqual(['image/jpeg', body]);
  });

  const HERE = 'https://docs.example.com/v1/api.json';
  it.each([
    [[{ url: '' }], 'https://docs.example.com'],
    [[{}], 'https://docs.example.com'],
    [[{ url: 'api.example.com/v2' }], 'https://api.example.com/v2'],
    [[{ url: 'api.example.com:8443' }], 'https://api.example.com:8443'],
    [[{ url: '.' }], 'https://docs.example.com/v1'],
    [[{ url: 'v2' }], 'https://docs.example.com/v1/v2'],
    [null, 'https://docs.example.com'],
    [[null], 'https://docs.example.com'],
  ])('uses the server of %j', async (servers, url) => {
    const rules = {
      servers: { url: undefined, documentUrl: HERE, sameOrigin: false },
      reserved: { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() },
      wanted: () => true,
      maxTools: 10,
    };
    const { operations, problems } = await readOperations({ openapi: '3.0.0', servers, paths: { '/x': { get: {} } } }, rules);
    expect([problems, operations[0]?.baseUrl]).toEqual([[], url]);
  });

  it('reads members that are named as keywords', async () => {
    const names = [
      '$ref',
      'type',
      'properties',
      'required',
      'enum',
      'items',
      'allOf',
      'not',
      '$id',
      'id',
      'default',
      'nullable',
      'readOnly',
    ];
    const properties = Object.fromEntries(names.map((name) => [name, text]));
    const one = await of({ requestBody: json({ type: 'object', properties, required: ['$ref'], additionalProperties: false }) });
    const body = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(one.problems).toEqual([]);
    expect((await one.sent('op', { body })).body).toBe(JSON.stringify(body));
    await expect(one.output('op', { body: { ...body, type: 7 } })).rejects.toThrow('refused');
  });

  it.each([
    ['nothing at all', {}, {}],
    [
      'null in every place',
      { parameters: null, requestBody: null, tags: null, summary: null, servers: null, security: null, callbacks: null },
      {},
    ],
    ['a body without a type', { requestBody: { required: true, content: {} } }, {}],
    ['a body without a schema', { requestBody: { content: { 'application/json': null } } }, { body: { a: 1 } }],
    ['an answer for all', { responses: { default: null, '2XX': {}, 'x-a': 1 } }, {}],
    ['a parameter without a schema', { parameters: [{ in: 'query', name: 'q' }] }, { q: 'a' }],
    ['a parameter with an empty schema', { parameters: [{ in: 'query', name: 'q', schema: {} }] }, { q: 'a' }],
    ['a parameter with null as schema', { parameters: [{ in: 'query', name: 'q', schema: null }] }, { q: 'a' }],
    ['an unknown style', { parameters: [{ in: 'query', name: 'q', style: 'none', schema: text }] }, { q: 'a' }],
    ['a style in other letters', { parameters: [{ in: 'query', name: 'q', style: 'Form', schema: text }] }, { q: 'a' }],
  ])('reads an operation with %s', async (_what, operation, args) => {
    const one = await of(operation);
    expect([one.problems, (await one.sent('op', args)).method]).toEqual([[], 'POST']);
  });
});
