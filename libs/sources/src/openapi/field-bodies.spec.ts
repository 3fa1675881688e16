import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi, type SeenRequest } from '../testing/openapi-api.js';

type Api = Awaited<ReturnType<typeof openApi>>;

/** Bodies of requests and answers as public documents have them. */
describe('bodies of documents from the field', () => {
  let api: Api | undefined;
  afterEach(() => api?.close());
  const of = async (mediaType: string, media: object, method = 'post', answer = {}) => {
    const operation = { operationId: 'op', requestBody: { required: true, content: { [mediaType]: media } }, responses: {} };
    api = await openApi({ openapi: '3.1.0', info: {}, paths: { '/x': { [method]: operation } } }, answer);
    expect(api.problems).toEqual([]);
    return api;
  };
  const sent = async (mediaType: string, media: object, body: unknown, method = 'post') =>
    (await of(mediaType, media, method)).sent('op', { body });

  it.each(['get', 'head', 'delete', 'options', 'query', 'trace', 'put', 'patch'])('sends a body with the method %s', async (method) => {
    const request = await sent('application/json', { schema: { type: 'object' } }, { a: 1 }, method);
    expect(request).toMatchObject({ method: method.toUpperCase(), body: '{"a":1}', headers: { 'content-type': 'application/json' } });
  });

  it('reads the answer to a GET with a body as any other, empty ones too', async () => {
    const answer = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    const one = await of('application/json', {}, 'get', answer);
    expect(await one.output('op', { body: {} })).toMatchObject({ structuredContent: { a: 1 } });
    await one.close();
    const none = await of('application/json', {}, 'get', { status: 204 });
    expect(await none.output('op', { body: {} })).toMatchObject({ details: { status: 204 } });
  });

  it.each([
    'application/json; charset=utf-8',
    'application/vnd.x+json; charset=utf-8',
    'application/vnd.api+json',
    'application/merge-patch+json',
    'application/problem+json',
    'text/json',
    'application/x-json',
    'Application/JSON',
  ])('sends JSON as %s', async (mediaType) => {
    const request = await sent(mediaType, { schema: { type: 'object' } }, { a: 'é' });
    expect([request.headers['content-type'], Buffer.from(request.body, 'latin1').toString()]).toEqual([mediaType, '{"a":"é"}']);
  });

  it.each([
    ['text/plain; charset=iso-8859-1', 'é', 'text/plain; charset=utf-8', 'é'],
    ['text/csv;header=present;charset="ISO-8859-1"', 'é', 'text/csv;header=present; charset=utf-8', 'é'],
    ['text/plain; charset=UTF-8', 'é', 'text/plain; charset=UTF-8', 'é'],
    ['application/json; charset=utf-16', 'é', 'application/json; charset=utf-8', '"é"'],
    ['application/x-www-form-urlencoded; charset=iso-8859-1', { a: 'é' }, 'application/x-www-form-urlencoded; charset=utf-8', 'a=%C3%A9'],
  ])('states the charset of a sent body: %s', async (mediaType, body, type, text) => {
    const request = await sent(mediaType, { schema: {} }, body);
    expect([request.headers['content-type'], Buffer.from(request.body, 'latin1').toString()]).toEqual([type, text]);
  });

  const PNG = 'iVBORw0KGgo=';
  const PNG_TEXT = Buffer.from(PNG, 'base64').toString('latin1');
  it.each([
    ['*/*', { type: 'object' }, { a: 1 }, 'application/json', '{"a":1}'],
    ['application/*', {}, [1], 'application/json', '[1]'],
    ['*/*', { type: 'string', format: 'binary' }, 'aGk=', 'application/octet-stream', 'hi'],
    ['*/*', { type: 'string' }, 'hi', 'text/plain', 'hi'],
    ['text/*', { type: 'string' }, 'hi', 'text/plain', 'hi'],
    ['image/*', { type: 'string', format: 'binary' }, PNG, 'image/png', Buffer.from(PNG, 'base64').toString('latin1')],
    ['application/xml', { allOf: [{ type: 'object', required: ['a'] }] }, '<a/>', 'application/xml', '<a/>'],
    ['application/yaml', { type: 'object' }, 'a: 1', 'application/yaml', 'a: 1'],
    ['application/graphql', {}, '{ me }', 'application/graphql', '{ me }'],
    ['application/x-ndjson', { type: 'object' }, [{ a: 1 }, { b: 2 }], 'application/x-ndjson', '{"a":1}\n{"b":2}\n'],
    ['application/jsonl', { type: 'array', items: { type: 'object' } }, [{ a: 1 }], 'application/jsonl', '{"a":1}\n'],
  ])('sends a body as %s with the schema %j', async (mediaType, schema, body, type, text) => {
    const request = await sent(mediaType, { schema }, body);
    expect([request.headers['content-type'], request.body]).toEqual([type, text]);
  });

  it('sends lines by the itemSchema of OpenAPI 3.2, and checks them', async () => {
    const media = { itemSchema: { type: 'object', required: ['a'] } };
    expect((await sent('application/json-seq', media, [{ a: 1 }])).body).toBe('\u001e{"a":1}\n');
    await expect(api?.output('op', { body: [{}] })).rejects.toThrow('refused');
  });

  /** Head and text of each part, by name. */
  const partsOf = ({ headers, body }: SeenRequest) => {
    const boundary = /boundary=(.*)$/.exec(String(headers['content-type']))?.[1] ?? '';
    const parts = body
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => part.trim().split('\r\n\r\n'));
    return parts.map(([head = '', text = '']) => [
      /name="([^"]*)"/.exec(head)?.[1],
      /Content-Type: (.*)/.exec(head)?.[1],
      head.includes('filename='),
      text,
    ]);
  };
  const binary = { type: 'string', format: 'binary' };
  const multipart = (properties: object, encoding: object = {}) => ({ schema: { type: 'object', properties }, encoding });

  it('sends no header lines in the type of a file part, also without a schema for it', async () => {
    let schema: object = { type: 'object', properties: { file: { contentMediaType: 'text/plain' } } };
    for (let level = 0; level < 10; level += 1) schema = { type: 'object', allOf: [schema] };
    const file = { data: 'aGk=', filename: 'a', content_type: 'text/plain\r\nX-Evil: 1' };
    const { body } = await sent('multipart/form-data', { schema }, { file });
    expect([body.includes('filename="a"'), body.includes('X-Evil')]).toEqual([true, false]);
  });

  it('sends a form that is only a file in the document as its field of this name', async () => {
    const { body } = await sent('multipart/form-data', { schema: { type: 'string', format: 'binary' } }, { file: PNG });
    expect(body).toContain('Content-Disposition: form-data; name="file"; filename="file.png"\r\nContent-Type: image/png\r\n');
  });

  it('sends JSON parts of a multipart body without a file name, with the type that the document names', async () => {
    const media = multipart(
      {
        meta: { type: 'object' },
        note: { type: 'string' },
        tags: { type: 'array', items: { type: 'object' } },
        ids: { type: 'array' },
        raw: {},
        n: {},
      },
      { tags: { contentType: 'application/json' }, raw: { contentType: 'text/csv; charset=utf-8' } },
    );
    const body = { meta: { a: 1 }, note: 'hi', tags: [{ a: 1 }, { b: 2 }], ids: ['1', '2'], raw: 'a,b', n: null };
    expect(partsOf(await sent('multipart/form-data', media, body))).toEqual([
      ['meta', 'application/json', false, '{"a":1}'],
      ['note', undefined, false, 'hi'],
      ['tags', 'application/json', false, '[{"a":1},{"b":2}]'],
      ['ids', undefined, false, '1'],
      ['ids', undefined, false, '2'],
      ['raw', 'text/csv; charset=utf-8', false, 'a,b'],
    ]);
  });

  it.each([{ style: 'deepObject' }, { explode: true }, { style: 'form', explode: false }])(
    'keeps the field names of an object in a multipart body with the encoding %j',
    async (meta) => {
      const media = multipart({ meta: {}, none: {}, ids: {} }, { meta, none: meta, ids: { explode: true } });
      const request = await sent('multipart/form-data', media, { meta: { a: 1, b: ['x'] }, none: null, ids: ['1', '2'] });
      expect(partsOf(request)).toEqual([
        ['meta', 'application/json', false, '{"a":1,"b":["x"]}'],
        ['ids', undefined, false, '1'],
        ['ids', undefined, false, '2'],
      ]);
    },
  );

  it('states the charset of a part of a multipart body', async () => {
    const media = multipart({ note: {} }, { note: { contentType: 'text/plain; charset=iso-8859-1' } });
    expect(partsOf(await sent('multipart/form-data', media, { note: 'e' }))).toEqual([['note', 'text/plain; charset=utf-8', false, 'e']]);
  });

  it.each([
    ['by anyOf', { anyOf: [binary, { type: 'null' }] }],
    ['by a list in anyOf', { anyOf: [{ type: 'array', items: binary }, { type: 'null' }] }],
    ['by contentMediaType', { type: 'string', contentMediaType: 'application/octet-stream' }],
    ['by allOf', { allOf: [binary], description: 'A file.' }],
    ['by type file', { type: 'file' }],
    ['by nullable', { ...binary, nullable: true }],
  ])('sends a file of a multipart body that is one %s', async (_how, file) => {
    const isList = JSON.stringify(file).includes('array');
    for (const it of ['aGk=', { data: 'aGk=', filename: 'file.txt' }]) {
      const parts = partsOf(await sent('multipart/form-data', multipart({ file }), { file: isList ? [it] : it }));
      expect(parts).toEqual([['file', 'application/octet-stream', true, 'hi']]);
      await api?.close();
    }
  });

  it('sends a file of a multipart body whose properties are in allOf', async () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } } },
        { type: 'object', properties: { file: binary } },
      ],
    };
    const parts = partsOf(await sent('multipart/form-data', { schema }, { a: 'x', file: { data: 'aGk=', filename: 'f.txt' } }));
    expect(parts).toEqual([
      ['a', undefined, false, 'x'],
      ['file', 'application/octet-stream', true, 'hi'],
    ]);
  });

  it('sends other multipart types by their names', async () => {
    const request = await sent('multipart/mixed', multipart({ a: { type: 'object' } }), { a: { b: 1 } });
    expect(request.headers['content-type']).toMatch(/^multipart\/mixed; boundary=/);
    expect(partsOf(request)).toEqual([['a', 'application/json', false, '{"b":1}']]);
  });

  /** Head and text of each part of a list. */
  const placed = ({ headers, body }: SeenRequest) => {
    const boundary = /boundary=(.*)$/.exec(String(headers['content-type']))?.[1] ?? '';
    const parts = body.split(`--${boundary}`).slice(1, -1);
    return parts.map((part) => part.split('\r\n\r\n')).map(([head = '', text = '']) => [head.trim(), text.slice(0, -2)]);
  };
  const fixed = (text: string) => ({ schema: { type: 'string', const: text } });

  it.each([
    [
      'by prefixEncoding and itemEncoding',
      'multipart/mixed',
      {
        schema: { type: 'array', prefixItems: [{ type: 'object' }], items: binary },
        prefixEncoding: [{ contentType: 'application/vnd.x+json', headers: { 'Content-Location': fixed('/a') } }],
        itemEncoding: { contentType: 'image/png' },
      },
      [{ a: 1 }, 'aGk=', { data: 'aGk=', filename: 'b.png' }],
      [
        ['Content-Location: /a\r\nContent-Type: application/vnd.x+json', '{"a":1}'],
        ['Content-Type: image/png', 'hi'],
        ['Content-Disposition: attachment; filename="b.png"\r\nContent-Type: image/png', 'hi'],
      ],
    ],
    [
      'by itemSchema',
      'multipart/mixed',
      { itemSchema: { type: 'object' }, itemEncoding: { contentType: 'application/json' } },
      [{ a: 1 }, { b: [2] }],
      [
        ['Content-Type: application/json', '{"a":1}'],
        ['Content-Type: application/json', '{"b":[2]}'],
      ],
    ],
    [
      'by the schema of a list alone',
      'multipart/related',
      { schema: { type: 'array', items: {} } },
      ['x', [1], { a: 1 }, null],
      [
        ['', 'x'],
        ['Content-Type: application/json', '[1]'],
        ['Content-Type: application/json', '{"a":1}'],
      ],
    ],
    [
      'with names in headers',
      'multipart/form-data',
      {
        schema: { type: 'array', prefixItems: [{ type: 'string' }, binary] },
        prefixEncoding: [
          { headers: { 'Content-Disposition': fixed('form-data; name="first"') } },
          { headers: { 'content-disposition': fixed('form-data; name="second"') } },
        ],
      },
      ['x', 'iVBORw0KGgo='],
      [
        ['Content-Disposition: form-data; name="first"', 'x'],
        ['Content-Disposition: form-data; name="second"; filename="file.png"\r\nContent-Type: image/png', PNG_TEXT],
      ],
    ],
  ])('sends the parts of a multipart body that is a list, in their places: %s', async (_how, type, media, body, parts) => {
    const request = await sent(type, media, body);
    expect(request.headers['content-type']).toMatch(new RegExp(`^${type}; boundary=`));
    expect(placed(request)).toEqual(parts);
    await expect(api?.output('op', { body: { a: 1 } })).rejects.toThrow('refused');
  });

  it('sends headers of a part of a multipart body that have one value', async () => {
    const headers = { 'X-Kind': fixed('note'), 'X-Any': { schema: { type: 'string' } }, 'Content-Type': fixed('no/no') };
    const request = await sent('multipart/form-data', multipart({ a: { type: 'string' } }, { a: { headers } }), { a: 'x' });
    expect(placed(request)).toEqual([['Content-Disposition: form-data; name="a"\r\nX-Kind: note', 'x']]);
  });

  it.each([
    [{}, { a: [1, 2], o: { x: 1 }, n: null }, 'a=1&a=2&o=%7B%22x%22%3A1%7D'],
    [{ a: { contentType: 'application/json' } }, { a: [1, 2] }, 'a=%5B1%2C2%5D'],
    [{ a: { style: 'form', explode: false } }, { a: [1, 2] }, 'a=1,2'],
    [{ a: { style: 'deepObject', explode: true } }, { a: { b: [{ c: 1 }] } }, 'a%5Bb%5D%5B0%5D%5Bc%5D=1'],
    [{ a: { style: 'deepObject', explode: true } }, { a: ['x', 'y'] }, 'a%5B0%5D=x&a%5B1%5D=y'],
    [{ a: { allowReserved: true } }, { a: 'x/y&z' }, 'a=x/y%26z'],
    [{ a: { style: 'pipeDelimited', explode: false } }, { a: ['x', 'y'] }, 'a=x%7Cy'],
    [{}, { constructor: 'ferrari', 'a b': true, t: '' }, 'constructor=ferrari&a%20b=true&t='],
  ])('sends a form with the encoding %j: %j', async (encoding, body, text) => {
    expect((await sent('application/x-www-form-urlencoded', { schema: { type: 'object' }, encoding }, body)).body).toBe(text);
  });

  const answered = async (type: string, body: string | Buffer, status = 200) =>
    (await of('application/json', {}, 'post', { status, headers: { 'content-type': type }, body })).output('op', { body: {} });
  it.each([
    ['application/vnd.x+json; charset=utf-8', '{"a":1}'],
    ['application/problem+json', '{"a":1}'],
    ['text/json', '{"a":1}'],
    ['application/x-json', '{"a":1}'],
    ['application/json', '\ufeff{"a":1}'],
    ['application/json; charset=utf-16le', Buffer.from('{"a":1}', 'utf16le')],
  ])('reads an answer of the type %s as JSON', async (type, body) => {
    expect(await answered(type, body)).toMatchObject({ structuredContent: { a: 1 } });
  });

  it.each([
    ['text/plain; charset=iso-8859-1', Buffer.from('café', 'latin1'), 'café'],
    ['text/html; charset="windows-1251"', Buffer.from([0xcf, 0xf0]), 'Пр'],
    ['text/plain; charset=x-none', Buffer.from('é'), 'é'],
    ['application/x-ndjson', '{"a":1}\n{"b":2}\n', '{"a":1}\n{"b":2}'],
    ['application/graphql', '{ me }', '{ me }'],
  ])('reads an answer of the type %s as text', async (type, body, text) => {
    expect(await answered(type, body)).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining(text) }] });
  });

  const answer = (...types: string[]) => ({ 200: { content: Object.fromEntries(types.map((type) => [type, {}])) } });
  const header = (schema: object) => ({ parameters: [{ name: 'Accept', in: 'header', schema }] });
  it.each([
    [{ responses: {} }, 'application/json, text/*;q=0.8, */*;q=0.5'],
    [{ responses: answer('application/xml', 'application/json') }, 'application/json, text/*;q=0.8, */*;q=0.5'],
    [
      { responses: answer('image/png', 'application/vnd.api+json') },
      'application/vnd.api+json, image/png, application/json;q=0.9, */*;q=0.5',
    ],
    [{ responses: answer('*/*', 'no type\r\n') }, 'application/json, text/*;q=0.8, */*;q=0.5'],
    [header({ type: 'string', enum: ['text/event-stream', 'application/json'] }), 'application/json'],
    [header({ type: 'string', default: 'application/vnd.x.v2+json' }), 'application/vnd.x.v2+json'],
  ])('sends the Accept header that the document implies: %j', async (operation, accept) => {
    api = await openApi({ openapi: '3.0.0', info: {}, paths: { '/x': { get: { operationId: 'op', ...operation } } } });
    expect((await api.sent('op', {})).headers['accept']).toBe(accept);
  });
});
