import { describe, expect, it } from '@jest/globals';
import { buildRequest, shownUrl } from './build-request.js';
import type { Credentials } from './credentials.js';
import { parseDocument } from './load-document.js';
import { readOperations, type ReadRules } from './read-operations.js';

const NONE: Credentials = { headers: {}, query: {}, cookies: {}, secrets: [] };
const RULES: ReadRules = {
  servers: { url: undefined, documentUrl: 'https://api.example.com/docs/openapi.json', sameOrigin: false },
  reserved: { headers: new Set(), query: new Set(), cookies: new Set() },
  wanted: () => true,
  maxTools: 100,
};
const documentOf = (paths: object, more: object = {}) => ({ openapi: '3.0.3', info: {}, paths, ...more });
const read = (document: unknown, rules: Partial<ReadRules> = {}) => readOperations(document, { ...RULES, ...rules });
const one = async (operation: object, more: object = {}, path = '/x') => {
  const { operations, problems } = await read(documentOf({ [path]: { post: operation } }, more));
  expect(problems).toEqual([]);
  const [found] = operations;
  if (found === undefined) throw new Error('expected an operation');
  return found;
};
const body = (mediaType: string, schema: object, more: object = {}) => ({
  requestBody: { required: true, content: { [mediaType]: { schema, ...more } } },
});
const built = async (operation: Awaited<ReturnType<typeof one>>, args: Record<string, unknown>, credentials = NONE) => {
  const request = buildRequest(operation, args, credentials);
  return { ...request, url: request.url.href, body: request.body === undefined ? undefined : Buffer.from(request.body).toString() };
};

describe('a document becomes operations', () => {
  it('names operations by operationId or method and path; equal ones get a digest that does not depend on their order', async () => {
    const paths = {
      '/a/{b}': { parameters: [{ name: 'b', in: 'path', schema: {} }], get: {} },
      '/c': { get: { operationId: 'repos/list-all' } },
    };
    expect((await read(documentOf(paths))).operations.map(({ name }) => name)).toEqual(['get__a_b', 'repos_list-all']);
    const twice = { '/a': { get: { operationId: 'same' } }, '/b': { get: { operationId: 'same' } } };
    const names = (await read(documentOf(twice))).operations.map(({ name, path }) => `${path} ${name}`);
    const turned = (await read(documentOf(Object.fromEntries(Object.entries(twice).toReversed())))).operations.map(
      ({ name, path }) => `${path} ${name}`,
    );
    expect(turned.toSorted()).toEqual(names);
    expect(new Set(names.map((it) => it.split(' ')[1])).size).toBe(2);
  });

  it.each(['2.0', '4.0.0', undefined])('reads only documents of OpenAPI 3 or Swagger 2.0: %s is refused', async (openapi) => {
    await expect(read({ openapi, paths: {} })).rejects.toThrow('expected an OpenAPI document of version 3, or of Swagger 2.0');
  });

  it('uses the server of the operation, the path or the document, with the defaults of its variables', async () => {
    const servers = [{ url: 'https://{region}.example.com/{v}', variables: { region: { default: 'eu' }, v: { default: 'v1' } } }];
    expect((await one({}, { servers })).baseUrl).toBe('https://eu.example.com/v1');
    expect((await one({ servers: [{ url: '../v9/' }] }, { servers })).baseUrl).toBe('https://api.example.com/v9');
    expect((await one({})).baseUrl).toBe('https://api.example.com');
    const nowhere = await read(documentOf({ '/x': { get: {} } }), {
      servers: { url: undefined, documentUrl: undefined, sameOrigin: false },
    });
    expect(nowhere.problems[0]).toContain('say `url` in the definition');
    const elsewhere = await read(documentOf({ '/x': { get: {} } }, { servers }), { servers: { ...RULES.servers, sameOrigin: true } });
    expect(elsewhere).toMatchObject({ operations: [], problems: [expect.stringContaining('secrets are not sent there')] });
  });

  it('reads operations up to the limit of tools, and reports the rest', async () => {
    const { operations, problems } = await read(documentOf({ '/a': { get: {}, put: {} } }), { maxTools: 1 });
    expect([operations.length, problems]).toEqual([1, [expect.stringContaining('2 operations, of which 1 are taken')]]);
  });

  it('writes references out, and circular ones as definitions', async () => {
    const Tree = {
      type: 'object',
      properties: {
        children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
        leaf: { $ref: '#/components/schemas/Leaf' },
      },
    };
    const schemas = { Tree, Leaf: { type: 'string', maxLength: 3 } };
    const { input } = await one(body('application/json', { $ref: '#/components/schemas/Tree' }), { components: { schemas } });
    expect(input).toMatchObject({
      properties: { body: { properties: { children: { items: { $ref: '#/$defs/Tree' } }, leaf: { type: 'string', maxLength: 3 } } } },
      $defs: { Tree: { properties: { children: { items: { $ref: '#/$defs/Tree' } } } } },
    });
  });

  it('reads a document in bounded time and size, despite doubling references', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => {
        const next = { $ref: `#/components/schemas/s${(level + 1) % 60}` };
        return [`s${level}`, { type: 'object', properties: { a: next, b: next, c: next } }];
      }),
    );
    const { input } = await one(body('application/json', { $ref: '#/components/schemas/s0' }), { components: { schemas } });
    expect(JSON.stringify(input).length).toBeLessThan(100_000);
    const loop = { $ref: '#/components/schemas/loop' };
    expect((await one(body('application/json', loop), { components: { schemas: { loop } } })).input['properties']).toHaveProperty('body');
    const deep = Array.from({ length: 100 }).reduce<object>((items) => ({ type: 'array', items }), {});
    const { problems } = await read(documentOf({ '/x': { post: body('application/json', deep) } }));
    expect(problems).toEqual([expect.stringContaining('POST /x: its schema is too large')]);
  });

  it('reads a document without other documents, prototypes or wrong keywords', async () => {
    const schema = {
      type: 'object',
      properties: {
        outside: { $ref: 'file:///etc/passwd' },
        inherited: { $ref: '#/constructor' },
        wrong: { type: 'file', minimum: 'x', pattern: '(?=a)', required: true, enum: [] },
      },
    };
    const { operations, problems } = await read(documentOf({ '/x': { post: body('application/json', schema) } }));
    expect(operations[0]?.input).toMatchObject({ properties: { body: { properties: { outside: {}, inherited: {}, wrong: {} } } } });
    expect(problems).toEqual([
      expect.stringContaining('refers to file:///etc/passwd, which is in another document'),
      expect.stringContaining('refers to #/constructor, which the document does not have'),
    ]);
  });

  it('reads nullable and exclusive limits of 3.0 as JSON Schema 2020-12 has them, and leaves out read-only properties', async () => {
    const schema = {
      type: 'object',
      required: ['id', 'n'],
      properties: {
        id: { type: 'string', readOnly: true },
        n: { type: 'integer', nullable: true, minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        e: { type: 'string', nullable: true, enum: ['a'] },
        o: { nullable: true, oneOf: [{ type: 'string' }] },
      },
    };
    const { input } = await one(body('application/json', schema));
    expect(input['properties']).toEqual({
      body: {
        type: 'object',
        required: ['n'],
        'x-unchecked': [],
        properties: {
          n: { type: ['integer', 'null'], exclusiveMinimum: 1, maximum: 9 },
          e: { type: ['string', 'null'], enum: ['a', null] },
          o: { anyOf: [{ oneOf: [{ type: 'string' }] }, { type: 'null' }] },
        },
      },
    });
  });

  it('parses a document from JSON or YAML, by the first character', () => {
    expect(parseDocument(' {"openapi": "3.1.0"}')).toEqual({ openapi: '3.1.0' });
    expect(parseDocument('openapi: 3.1.0\n')).toEqual({ openapi: '3.1.0' });
    expect(() => parseDocument('{')).toThrow('the document cannot be read');
  });
});

describe('a call becomes a request', () => {
  const PLACES = [
    { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'id', in: 'query', schema: { type: 'string' } },
    { name: 'id', in: 'header', schema: { type: 'string' } },
    { name: 'id', in: 'cookie', schema: { type: 'string' } },
    { name: 'filter[x]', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
  ];

  it('builds a request with a parameter of one name in every place [TS-25]', async () => {
    const operation = await one({ parameters: PLACES }, {}, '/x/{id}');
    expect(Object.keys(operation.input['properties'] ?? {})).toEqual(['id', 'id_query', 'id_header', 'id_cookie', 'filter_x']);
    const request = await built(operation, { id: 'a/b?', id_query: 'q', id_header: 'h', id_cookie: 'c', filter_x: { y: 1 } });
    expect(request).toMatchObject({
      url: 'https://api.example.com/x/a%2Fb%3F?id=q&filter%5Bx%5D=%7B%22y%22%3A1%7D',
      headers: { id: 'h', cookie: 'id=c' },
    });
  });

  it('builds no request with a missing path parameter, dots as one, or line breaks in a header', async () => {
    const operation = await one({ parameters: PLACES }, {}, '/x/{id}');
    await expect(built(operation, {})).rejects.toThrow("Missing required path parameter 'id' for /x/{id}");
    await expect(built(operation, { id: '' })).rejects.toThrow('Missing required path parameter');
    for (const id of ['..', '../admin', '..\\admin', '.'])
      await expect(built(operation, { id })).rejects.toThrow('expected path parameters other than . and ..');
    await expect(built(operation, { id: 'a', id_header: 'b\r\nhost: evil' })).rejects.toThrow('without line breaks');
  });

  it('builds a request with the operator’s credentials, which no argument can replace', async () => {
    const parameters = ['authorization', 'X-Key', 'Host', 'Other'].map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
    const rules = { reserved: { ...RULES.reserved, headers: new Set(['x-key']) } };
    const { operations } = await read(documentOf({ '/x': { get: { parameters } } }), rules);
    expect(Object.keys(operations[0]?.input['properties'] ?? {})).toEqual(['Other']);
    const credentials = { ...NONE, headers: { 'x-key': 'k' }, query: { key: 'q&' }, cookies: { sid: 's' } };
    const request = await built(await one({}), {}, credentials);
    expect(request).toMatchObject({ url: 'https://api.example.com/x?key=q%26', headers: { 'x-key': 'k', cookie: 'sid=s' } });
    expect(shownUrl(buildRequest(await one({}), {}, credentials), credentials)).toBe('https://api.example.com/x');
  });

  it('builds a request with a body as form, multipart, binary or text', async () => {
    const form = await one(
      body('application/x-www-form-urlencoded', { type: 'object' }, { encoding: { m: { style: 'deepObject', explode: true } } }),
    );
    expect(await built(form, { body: { a: [1, 2], o: { x: 1 }, m: { y: 'z' } } })).toMatchObject({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1&a=2&o=%7B%22x%22%3A1%7D&m%5By%5D=z',
    });
    const multipart = await one(
      body('multipart/form-data', { type: 'object', properties: { file: { type: 'string', format: 'binary' } } }),
    );
    const request = buildRequest(multipart, { body: { file: 'aGk=', note: 'n', meta: { a: 1 } } }, NONE);
    const parts = await new Response(request.body ?? null, { headers: { ...request.headers } }).formData();
    const file = parts.get('file');
    expect([file instanceof Blob && (await file.text()), parts.get('note'), parts.has('meta')]).toEqual(['hi', 'n', true]);
    const binary = await one(body('application/octet-stream', { type: 'string', format: 'binary' }));
    expect(binary.input).toMatchObject({ properties: { body: { type: 'string', description: 'Base64.' } } });
    expect((await built(binary, { body: 'aGk=' })).body).toBe('hi');
    for (const body of ['no base64!', 'X', 'aGkAB=']) await expect(built(binary, { body })).rejects.toThrow('expected Base64 text as body');
    const plain = await one(body('text/plain', {}));
    expect(await built(plain, { body: 'hi' })).toMatchObject({ headers: { 'content-type': 'text/plain' }, body: 'hi' });
  });
});
