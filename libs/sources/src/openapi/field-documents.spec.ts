import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi } from '../testing/openapi-api.js';
import { parseDocument } from './load-document.js';
import { readOperations } from './read-operations.js';

type Api = Awaited<ReturnType<typeof openApi>>;
const get = (operationId: string, more: object = {}) => ({ get: { operationId, responses: {}, ...more } });
const X = { '/x': get('op') };

/** Whole documents as they are published: versions, references, names. */
describe('documents from the field', () => {
  let api: Api | undefined;
  afterEach(() => api?.close());
  const of = async (document: object, location?: string) => (api = await openApi({ info: {}, ...document }, {}, location));

  it.each([
    { openapi: 3.1 },
    { openapi: 3 },
    { openapi: '3' },
    { openapi: ' 3.0.4 ' },
    { openapi: '3.2.0' },
    { openapi: 'v3.1.0' },
    { swagger: 2 },
    { swagger: '2.0' },
  ])('reads a document of the version %j', async (version) => {
    const one = await of({ ...version, paths: X });
    expect([one.problems, (await one.sent('op', {})).url]).toEqual([[], '/x']);
  });

  it('reads YAML with versions as numbers, merge keys and doubled keys', async () => {
    const yaml =
      'openapi: 3.1\npaths:\n  /x:\n    get: &op {operationId: a, operationId: op, responses: {200: {}}}\n    put:\n      <<: *op\n      operationId: put\n';
    expect((await of(parseDocument(yaml) as object)).tools.map(({ name }) => name)).toEqual(['op', 'put']);
  });

  it('reads methods of OpenAPI 3.2, and reports uncallable ones', async () => {
    const operation = (operationId: string) => ({ operationId, responses: {} });
    const additionalOperations = {
      PROPFIND: operation('find'),
      CONNECT: operation('connect'),
      'A B': operation('odd'),
      POST: operation('post'),
    };
    const one = await of({ openapi: '3.2.0', paths: { '/x': { query: operation('query'), additionalOperations } } });
    expect(one.tools.map(({ name, tier, effect }) => [name, tier, effect])).toEqual([
      ['find', 'privileged', 'once'],
      ['post', 'side_effecting', 'once'],
      ['query', 'read_only', 'pure'],
    ]);
    expect([(await one.sent('find', {})).method, (await one.sent('query', {})).method]).toEqual(['PROPFIND', 'QUERY']);
    expect(one.problems).toEqual([expect.stringContaining('CONNECT /x: it is no operation'), expect.stringContaining('A B /x')]);
  });

  it('sends the whole query and cookies of OpenAPI 3.2', async () => {
    const querystring = (mediaType: string) => ({ name: 'q', in: 'querystring', content: { [mediaType]: { schema: { type: 'object' } } } });
    const paths = {
      '/form': get('form', { parameters: [querystring('application/x-www-form-urlencoded')] }),
      '/json': get('json', { parameters: [querystring('application/json')] }),
      '/cookie': get('cookie', { parameters: [{ name: 'c', in: 'cookie', style: 'cookie', schema: { type: 'string' } }] }),
    };
    const one = await of({ openapi: '3.2.0', paths });
    expect((await one.sent('form', { q: { a: 1, b: ['x', 'y'] } })).url).toBe('/form?a=1&b=x&b=y');
    expect((await one.sent('json', { q: { a: 1 } })).url).toBe('/json?%7B%22a%22%3A1%7D');
    expect((await one.sent('cookie', { c: 'a/b=c;d' })).headers['cookie']).toBe('c=a/b=c%3Bd');
  });

  it('reads references of every kind within a document', async () => {
    const document = {
      openapi: '3.2.0',
      $self: 'https://example.com/api.json',
      paths: {
        '/a/{id}': { $ref: '#/components/pathItems/A', summary: 'A' },
        '/b/{id}': {
          ...get('b', {
            parameters: [{ $ref: '#/paths/~1a~1%7Bid%7D/parameters/0' }, { $ref: 'https://example.com/api.json#/components/parameters/Q' }],
          }),
        },
        '/c': {
          post: { operationId: 'c', requestBody: { $ref: '#/components/requestBodies/C' }, responses: { 200: { $ref: '#/nowhere' } } },
        },
      },
      components: {
        pathItems: { A: { parameters: [{ $ref: '#/components/parameters/Id' }], ...get('a') } },
        parameters: {
          Id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          Q: { name: 'q', in: 'query', schema: { $ref: 'api.json#/components/schemas/A%20B' } },
        },
        requestBodies: { C: { content: { 'application/json': { $ref: '#/components/mediaTypes/M' } } } },
        mediaTypes: {
          M: {
            schema: {
              type: 'object',
              properties: {
                named: { $ref: '#named' },
                byId: { $ref: 'https://example.com/pet' },
                bare: { $ref: 'Bare' },
                through: { $ref: '#/components/schemas/Alias/properties/n' },
              },
            },
          },
        },
        schemas: {
          'A B': { type: 'integer' },
          N: { $anchor: 'named', type: 'boolean' },
          P: { $id: 'https://example.com/pet', type: 'number' },
          Bare: { type: 'null' },
          Alias: { $ref: '#/components/schemas/Real' },
          Real: { properties: { n: { type: 'string' } } },
        },
      },
    };
    const one = await of(document);
    expect(one.problems).toEqual([]);
    expect((await one.sent('a', { id: '1' })).url).toBe('/a/1');
    expect((await one.sent('b', { id: '1', q: 2 })).url).toBe('/b/1?q=2');
    expect(one.tools.find(({ name }) => name === 'c')?.input).toMatchObject({
      properties: {
        body: { properties: { named: { type: 'boolean' }, byId: { type: 'number' }, bare: { type: 'null' }, through: { type: 'string' } } },
      },
    });
  });

  it('drops only the parts that refer to other documents, with the reason', async () => {
    const body = (schema: object) => ({ requestBody: { content: { 'application/json': { schema } } } });
    const circle = { $ref: '#/components/parameters/circle' };
    const one = await of({
      openapi: '3.0.0',
      paths: {
        '/item': { $ref: 'paths/item.yaml' },
        '/parameter': get('parameter', { parameters: [{ $ref: 'common.yaml#/Id' }] }),
        '/circle': get('circle', { parameters: [circle] }),
        '/body': get('body', { requestBody: { $ref: 'https://evil.example/body.json' } }),
        '/schema': get('schema', body({ type: 'object', properties: { a: { $ref: '../a.json' }, b: { type: 'integer' } } })),
        '/none': { get: null, put: 'x' },
        '/good': get('good'),
      },
      components: { parameters: { circle } },
    });
    expect(one.tools.map(({ name }) => name)).toEqual(['good', 'schema']);
    expect(one.problems).toEqual([
      '/item: it refers to paths/item.yaml, which is in another document, and those are not read; that part is left open',
      'PUT /none: it is no operation that can be called',
      'GET /parameter: it refers to common.yaml#/Id, which is in another document, and those are not read',
      'GET /circle: it refers to #/components/parameters/circle, which leads back to itself',
      'GET /body: it refers to https://evil.example/body.json, which is in another document, and those are not read',
      'GET /schema: it refers to ../a.json, which is in another document, and those are not read; that part is left open',
    ]);
    expect((await one.sent('schema', { body: { a: [1], b: 2 } })).body).toBe('{"a":[1],"b":2}');
  });

  it('reads a document that refers to itself by its own address or file', async () => {
    const paths = { '/x': get('op', { parameters: [{ $ref: './api.yaml#/components/parameters/P' }] }) };
    const components = { parameters: { P: { name: 'p', in: 'query', schema: { type: 'string' } } } };
    for (const location of ['https://example.com/docs/api.yaml', 'file:///srv/docs/api.yaml']) {
      const one = await of({ openapi: '3.0.0', paths, components }, location);
      expect([one.problems, (await one.sent('op', { p: 'a' })).url]).toEqual([[], '/x?p=a']);
      await one.close();
    }
  });

  it('names operations without an operationId, with equal ones and in other scripts', async () => {
    const paths = {
      '/a': { get: {}, put: { operationId: '' } },
      '/b': get('same'),
      '/c': get('same'),
      '/d': get('получить'),
      '/e': get('取得'),
      '/f': get('123'),
      '/': { get: { operationId: 7 } },
    };
    const one = await of({ openapi: '3.0.0', paths });
    expect(one.tools.map(({ name }) => name).toSorted()).toEqual([
      'get',
      'get__a',
      'get__d',
      'get__e',
      'get__f',
      'put__a',
      expect.stringMatching(/^same_[0-9a-f]{8}$/),
      expect.stringMatching(/^same_[0-9a-f]{8}$/),
    ]);
  });

  const baseUrl = async (document: object, documentUrl?: string) => {
    const reserved = { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() };
    const rules = { servers: { url: undefined, documentUrl, sameOrigin: false }, reserved, wanted: () => true, maxTools: 10 };
    const { operations, problems } = await readOperations({ paths: X, ...document }, rules);
    return operations[0]?.baseUrl ?? problems[0];
  };
  const HERE = 'https://example.com/docs/v1/api.json';
  const variables = { a: { default: 'eu' }, b: { enum: ['v2', 'v3'] }, port: { default: 8443 } };
  it.each([
    [{ servers: [{ url: 'https://{a}.example.com:{port}/{b}/', variables }] }, undefined, 'https://eu.example.com:8443/v2'],
    [{ servers: [{ url: 'https://{none}.example.com' }, { url: 'https://b.example.com' }] }, undefined, 'https://b.example.com'],
    [{ servers: [{ url: '/v1' }, { url: 'https://b.example.com' }] }, undefined, 'https://b.example.com'],
    [{ servers: [{ url: ' https://b.example.com/ ' }] }, undefined, 'https://b.example.com'],
    [{ servers: [{ url: '//b.example.com/v1' }] }, undefined, 'https://b.example.com/v1'],
    [{ servers: [{ url: '../v2' }] }, HERE, 'https://example.com/docs/v2'],
    [{ servers: [{ url: '/{b}', variables }] }, HERE, 'https://example.com/v2'],
    [{ servers: [] }, HERE, 'https://example.com'],
    [{ servers: [{ url: '/v1' }] }, undefined, expect.stringContaining('names no server with a complete address')],
  ])('uses the server of %j', async (document, documentUrl, url) =>
    expect(await baseUrl({ openapi: '3.0.0', ...document }, documentUrl)).toEqual(url),
  );

  it.each([
    [{ host: 'a.example.com', basePath: '/v1/', schemes: ['http', 'https'] }, undefined, 'https://a.example.com/v1'],
    [{ host: 'a.example.com:8080', schemes: ['http'] }, undefined, 'http://a.example.com:8080'],
    [{ host: 'a.example.com' }, undefined, 'https://a.example.com'],
    [{ basePath: '/v1' }, HERE, 'https://example.com/v1'],
    [{}, undefined, expect.stringContaining('names no server with a complete address')],
  ])('uses the server of a Swagger 2.0 document with %j', async (document, documentUrl, url) => {
    expect(await baseUrl({ swagger: '2.0', ...document }, documentUrl)).toEqual(url);
  });
});
