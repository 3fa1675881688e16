import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi } from '../testing/openapi-api.js';

const list = (collectionFormat?: string) => ({ type: 'array', items: { type: 'string' }, ...(collectionFormat && { collectionFormat }) });

/** Swagger 2.0, by the request that the API sees. */
describe('a Swagger 2.0 document', () => {
  let api: Awaited<ReturnType<typeof openApi>> | undefined;
  afterEach(() => api?.close());
  const of = async (operation: object, more: object = {}, path = '/x') => {
    api = await openApi({
      swagger: '2.0',
      info: {},
      paths: { [path]: { post: { operationId: 'op', responses: {}, ...operation } } },
      ...more,
    });
    expect(api.problems).toEqual([]);
    return api;
  };

  it.each([
    [undefined, '/x?v=a,b%20c'],
    ['csv', '/x?v=a,b%20c'],
    ['ssv', '/x?v=a%20b%20c'],
    ['tsv', '/x?v=a%09b%20c'],
    ['pipes', '/x?v=a%7Cb%20c'],
    ['multi', '/x?v=a&v=b%20c'],
  ])('sends a list of the query in the collection format %s', async (format, url) => {
    const one = await of({ parameters: [{ name: 'v', in: 'query', ...list(format) }] });
    expect((await one.sent('op', { v: ['a', 'b c'] })).url).toBe(url);
  });

  it('sends lists of a path and a header in their formats', async () => {
    const parameters = [
      { name: 'p', in: 'path', required: true, ...list('pipes') },
      { name: 'x-h', in: 'header', ...list('ssv') },
    ];
    const request = await (await of({ parameters }, {}, '/x/{p}')).sent('op', { p: ['a', 'b'], 'x-h': ['c', 'd'] });
    expect([request.url, request.headers['x-h']]).toEqual(['/x/a%7Cb', 'c d']);
  });

  it('sends a body by its definition, with the type that the document consumes', async () => {
    const Pet = {
      type: 'object',
      required: ['name', 'id'],
      properties: { name: { type: 'string', 'x-nullable': true }, id: { type: 'integer', format: 'int64', readOnly: true } },
    };
    const parameters = [{ $ref: '#/parameters/Body' }];
    const more = {
      definitions: { Pet },
      parameters: { Body: { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } } },
      consumes: ['application/vnd.pet+json'],
    };
    const one = await of({ parameters }, more);
    expect(one.tools[0]?.input).toMatchObject({
      required: ['body'],
      properties: { body: { required: ['name'], properties: { name: { type: ['string', 'null'] } } } },
    });
    expect(await one.sent('op', { body: { name: null } })).toMatchObject({
      body: '{"name":null}',
      headers: { 'content-type': 'application/vnd.pet+json' },
    });
  });

  it.each([
    [['application/x-www-form-urlencoded'], 'application/x-www-form-urlencoded'],
    [[], 'application/x-www-form-urlencoded'],
    [['application/json'], 'application/x-www-form-urlencoded'],
  ])('sends form data as a form: it consumes %j', async (consumes, type) => {
    const parameters = [
      { name: 'a', in: 'formData', type: 'string', required: true },
      { name: 'l', in: 'formData', ...list() },
      { name: 'm', in: 'formData', ...list('multi') },
    ];
    const one = await of({ parameters, consumes });
    expect(one.tools[0]?.input).toMatchObject({ required: ['body'], properties: { body: { required: ['a'] } } });
    expect(await one.sent('op', { body: { a: 'x', l: ['1', '2'], m: ['1', '2'] } })).toMatchObject({
      headers: { 'content-type': type },
      body: 'a=x&l=1,2&m=1&m=2',
    });
  });

  it.each([[['multipart/form-data']], [[]], [['application/x-www-form-urlencoded']]])(
    'sends a file of form data in a multipart body: it consumes %j',
    async (consumes) => {
      const parameters = [
        { name: 'file', in: 'formData', type: 'file' },
        { name: 'l', in: 'formData', ...list() },
      ];
      const { body, headers } = await (
        await of({ parameters, consumes })
      ).sent('op', { body: { file: { data: 'aGk=', filename: 'a.txt' }, l: ['1', '2'] } });
      expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
      expect(body).toMatch(/name="file"; filename="a.txt"\r\nContent-Type: application\/octet-stream\r\n\r\nhi\r\n/);
      expect(body).toMatch(/name="l"\r\n\r\n1,2\r\n/);
    },
  );

  it('accepts the types that the document produces', async () => {
    const one = await of({ produces: ['application/xml', 'application/vnd.pet.v2+json'] });
    expect((await one.sent('op', {})).headers['accept']).toBe(
      'application/vnd.pet.v2+json, application/xml, application/json;q=0.9, */*;q=0.5',
    );
  });

  it('shows the extensions of a definition with a discriminator', async () => {
    const definitions = {
      Pet: {
        type: 'object',
        discriminator: 'kind',
        required: ['kind'],
        properties: { kind: { type: 'string' } },
        additionalProperties: false,
      },
      Cat: { allOf: [{ $ref: '#/definitions/Pet' }, { type: 'object', properties: { claws: { type: 'integer' } } }] },
    };
    const one = await of({ parameters: [{ name: 'b', in: 'body', schema: { $ref: '#/definitions/Pet' } }] }, { definitions });
    expect((await one.sent('op', { body: { kind: 'Cat', claws: 4 } })).body).toBe('{"kind":"Cat","claws":4}');
    await expect(one.output('op', { body: { claws: 4 } })).rejects.toThrow('refused');
  });
});
