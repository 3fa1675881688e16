import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bodyOf, LIST, OBJECT, OddApi, ref, type RequestRow } from '../support/odd-api.js';

const WAV = 'UklGRiQAAABXQVZFZm10IA==';
const query = (name: string, schema: object, more: object = {}) => ({ parameters: [{ name, in: 'query', schema, ...more }] });
const json = (text: string) => ({ body: text });

const REQUESTS: readonly RequestRow[] = [
  [
    'a discriminator whose branches overlap',
    '/p',
    bodyOf({ oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'petType' } }),
    '{"body":{"petType":"Cat","name":"Tom"}}',
    json('{"petType":"Cat","name":"Tom"}'),
  ],
  [
    'a discriminator with a mapping',
    '/p',
    bodyOf({
      oneOf: [ref('Cat'), ref('Dog')],
      discriminator: { propertyName: 'petType', mapping: { kitty: '#/components/schemas/Cat', dog: 'Dog' } },
    }),
    '{"body":{"petType":"kitty"}}',
    json('{"petType":"kitty"}'),
  ],
  [
    'a schema with siblings of its reference',
    '/p',
    bodyOf({ type: 'object', properties: { a: { $ref: '#/components/schemas/Name', description: 'x', maxLength: 3 } } }),
    '{"body":{"a":"abc"}}',
    json('{"a":"abc"}'),
  ],
  [
    'parts of a schema beside its properties',
    '/p',
    bodyOf({ allOf: [ref('Cat')], type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }),
    '{"body":{"petType":"x","age":3}}',
    json('{"petType":"x","age":3}'),
  ],
  [
    'null where nullable says so',
    '/p',
    bodyOf({
      type: 'object',
      properties: {
        a: { type: 'string', nullable: true, enum: ['x'] },
        b: { ...ref('Name'), nullable: true },
        c: { allOf: [ref('Name')], nullable: true },
      },
    }),
    '{"body":{"a":null,"c":null}}',
    json('{"a":null,"c":null}'),
  ],
  [
    'null among values',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: ['string', 'null'], enum: ['x', null] } } }),
    '{"body":{"a":null}}',
    json('{"a":null}'),
  ],
  [
    'an argument that is named constructor',
    '/p',
    bodyOf({ type: 'object', properties: { constructor: { type: 'string' }, season: { type: 'integer' } }, required: ['constructor'] }),
    '{"body":{"constructor":"ferrari","season":2024}}',
    json('{"constructor":"ferrari","season":2024}'),
  ],
  [
    'a 64-bit number in a form',
    '/p',
    bodyOf({ type: 'object', properties: { id: { type: 'integer', format: 'int64' } } }, 'application/x-www-form-urlencoded'),
    '{"body":{"id":725653563933458433}}',
    json('id=725653563933458433'),
  ],
  [
    'a decimal beyond doubles',
    '/p',
    bodyOf({ type: 'object', properties: { price: { type: 'number' } } }),
    '{"body":{"price":0.1234567890123456789}}',
    json('{"price":0.1234567890123456789}'),
  ],
  [
    'a body of plain text',
    '/p',
    bodyOf({ type: 'string' }, 'text/plain'),
    '{"body":"héllo"}',
    json(Buffer.from('héllo').toString('latin1')),
  ],
  [
    'a body of bytes',
    '/p',
    bodyOf({ type: 'string', format: 'binary' }, 'application/octet-stream'),
    `{"body":"${WAV}"}`,
    json(Buffer.from(WAV, 'base64').toString('latin1')),
  ],
  [
    'a body of bytes in 3.1',
    '/p',
    { requestBody: { content: { 'application/octet-stream': {} } } },
    `{"body":"${WAV}"}`,
    json(Buffer.from(WAV, 'base64').toString('latin1')),
  ],
  [
    'a body of a vendor type',
    '/p',
    bodyOf(OBJECT, 'application/vnd.x.v1+json'),
    '{"body":{"a":"x"}}',
    { body: '{"a":"x"}', headers: { 'content-type': 'application/vnd.x.v1+json' } },
  ],
  [
    'a body of any type',
    '/p',
    bodyOf(OBJECT, '*/*'),
    '{"body":{"a":"x"}}',
    { body: '{"a":"x"}', headers: { 'content-type': 'application/json' } },
  ],
  ['a body of any JSON', '/p', bodyOf(OBJECT, 'application/*+json'), '{"body":{"a":"x"}}', json('{"a":"x"}')],
  ['a body of lines of JSON', '/p', bodyOf(LIST, 'application/x-ndjson'), '{"body":["a","b"]}', json('"a"\n"b"\n')],
  [
    'a body of CSV',
    '/p',
    bodyOf({ type: 'string' }, 'text/csv'),
    '{"body":"a,b\\n1,2"}',
    { body: 'a,b\n1,2', headers: { 'content-type': 'text/csv' } },
  ],
  ['a body that is a list', '/p', bodyOf({ type: 'array', items: { type: 'integer' } }), '{"body":[1,2]}', json('[1,2]')],
  ['a body that is a text of JSON', '/p', bodyOf({ type: 'string' }), '{"body":"x"}', json('"x"')],
  [
    'a body that is a boolean schema',
    '/p',
    { requestBody: { content: { 'application/json': { schema: true } } } },
    '{"body":{"a":[1]}}',
    json('{"a":[1]}'),
  ],
  [
    'a pattern with look-ahead',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: 'string', pattern: '^(?=x)' } } }),
    '{"body":{"a":"y"}}',
    json('{"a":"y"}'),
  ],
  [
    'a pattern with a class of Unicode',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: 'string', pattern: '^\\p{L}+$' } } }),
    '{"body":{"a":"é"}}',
    json(Buffer.from('{"a":"é"}').toString('latin1')),
  ],
  [
    'a possessive pattern',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: 'string', pattern: '^a++$' } } }),
    '{"body":{"a":"y"}}',
    json('{"a":"y"}'),
  ],
  [
    'a pattern with flags',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: 'string', pattern: '(?i)^a$' } } }),
    '{"body":{"a":"A"}}',
    json('{"a":"A"}'),
  ],
  [
    'limits of draft 04',
    '/p',
    bodyOf({ type: 'object', properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } } }),
    '{"body":{"n":1}}',
    json('{"n":1}'),
  ],
  [
    'properties that are required one by one',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: 'string', required: true } } }),
    '{"body":{"a":"x"}}',
    json('{"a":"x"}'),
  ],
  ['a recursive schema', '/p', bodyOf(ref('Tree')), '{"body":{"children":[{"children":[]}]}}', json('{"children":[{"children":[]}]}')],
  [
    'a dynamic reference',
    '/p',
    bodyOf({
      $id: 'https://x.example/t',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { c: { type: 'array', items: { $dynamicRef: '#node' } } },
    }),
    '{"body":{"c":[{"c":[]}]}}',
    json('{"c":[{"c":[]}]}'),
  ],
  [
    'a recursive reference of 2019',
    '/p',
    bodyOf({ $recursiveAnchor: true, type: 'object', properties: { c: { $recursiveRef: '#' } } }),
    '{"body":{"c":{"c":{}}}}',
    json('{"c":{"c":{}}}'),
  ],
  [
    'dependencies',
    '/p',
    bodyOf({ type: 'object', properties: { a: {}, b: {} }, dependencies: { a: ['b'] } }),
    '{"body":{"a":1,"b":2}}',
    json('{"a":1,"b":2}'),
  ],
  [
    'an unknown format',
    '/p',
    bodyOf({ type: 'object', properties: { a: { type: 'string', format: 'phone-de' }, n: { type: 'integer', format: 'uint64' } } }),
    '{"body":{"a":"x","n":18446744073709551615}}',
    json('{"a":"x","n":18446744073709551615}'),
  ],
  [
    'Base64 in a text',
    '/p',
    bodyOf({ type: 'object', properties: { f: { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' } } }),
    `{"body":{"f":"${WAV}"}}`,
    json(`{"f":"${WAV}"}`),
  ],
  ['a body of GET', 'GET /g', bodyOf(OBJECT), '{"body":{"a":"x"}}', { method: 'GET', body: '{"a":"x"}' }],
  ['a body of DELETE', 'DELETE /g', bodyOf(OBJECT), '{"body":{"a":"x"}}', { method: 'DELETE', body: '{"a":"x"}' }],
  [
    'a file with a name',
    '/p',
    bodyOf(
      { type: 'object', properties: { file: { type: 'string', format: 'binary' }, model: { type: 'string' } } },
      'multipart/form-data',
    ),
    `{"body":{"file":{"data":"${WAV}","filename":"a.wav"},"model":"x"}}`,
    { body: expect.stringMatching(/name="file"; filename="a\.wav"[^]*RIFF[^]*name="model"\r\n\r\nx/) },
  ],
  [
    'a file without a name',
    '/p',
    bodyOf({ type: 'object', properties: { file: { type: 'string', format: 'binary' } } }, 'multipart/form-data'),
    `{"body":{"file":"${WAV}"}}`,
    { body: expect.stringMatching(/filename="[^"]+\.wav"/) },
  ],
  [
    'several files',
    '/p',
    bodyOf(
      { type: 'object', properties: { files: { type: 'array', items: { type: 'string', format: 'binary' } } } },
      'multipart/form-data',
    ),
    `{"body":{"files":["${WAV}","${WAV}"]}}`,
    { body: expect.stringMatching(/name="files"[^]*RIFF[^]*name="files"[^]*RIFF/) },
  ],
  [
    'a part with a type of its own',
    '/p',
    bodyOf({ type: 'object', properties: { meta: OBJECT, image: { type: 'string', format: 'binary' } } }, 'multipart/form-data', {
      encoding: { image: { contentType: 'image/png, image/jpeg' }, meta: { contentType: 'application/vnd.m+json' } },
    }),
    `{"body":{"meta":{"a":"x"},"image":"${WAV}"}}`,
    { body: expect.stringMatching(/name="meta"\r\nContent-Type: application\/vnd\.m\+json\r\n\r\n\{"a":"x"\}/i) },
  ],
  [
    'a file in 3.1',
    '/p',
    bodyOf({ type: 'object', properties: { file: { contentMediaType: 'application/pdf' } } }, 'multipart/form-data'),
    `{"body":{"file":"${WAV}"}}`,
    { body: expect.stringContaining('RIFF') },
  ],
  [
    'a body of a reference',
    '/p',
    { requestBody: { $ref: '#/components/requestBodies/Pet' } },
    '{"body":{"petType":"x"}}',
    json('{"petType":"x"}'),
  ],
  [
    'callbacks and links',
    '/p',
    {
      ...bodyOf(OBJECT),
      callbacks: { done: { '{$request.body#/url}': { post: { responses: {} } } } },
      responses: { 200: { description: 'x', links: { next: { operationId: 'none' } } } },
    },
    '{"body":{"a":"x"}}',
    json('{"a":"x"}'),
  ],
  ['the security of its own', '/p', { security: [{ none: [] }], ...bodyOf(OBJECT) }, '{"body":{"a":"x"}}', json('{"a":"x"}')],
  [
    'an example of a reference',
    '/p',
    bodyOf(OBJECT, 'application/json', { examples: { a: { $ref: '#/components/examples/none' } } }),
    '{"body":{"a":"x"}}',
    json('{"a":"x"}'),
  ],
  [
    'names of Unicode',
    '/p',
    bodyOf({
      type: 'object',
      properties: { größe: { type: 'string' }, 'a b': { type: 'string' }, 'x[y]': { type: 'string' }, '': { type: 'string' } },
    }),
    '{"body":{"a b":"1","x[y]":"2","":"3"}}',
    json('{"a b":"1","x[y]":"2","":"3"}'),
  ],
  [
    'the same name in query and body',
    '/p',
    { ...query('a', { type: 'string' }), ...bodyOf(OBJECT) },
    '{"a":"q","body":{"a":"x"}}',
    { url: '/p?a=q', body: '{"a":"x"}' },
  ],
  [
    'a parameter that is named body',
    '/p',
    { ...query('body', { type: 'string' }), ...bodyOf(OBJECT) },
    '{"body":"q","_request_body":{"a":"x"}}',
    { url: '/p?body=q', body: '{"a":"x"}' },
  ],
  [
    'an object that any name may be in',
    '/p',
    bodyOf({ type: 'object', additionalProperties: { type: 'integer' } }),
    '{"body":{"constructor":725653563933458433,"toString":1}}',
    json('{"constructor":725653563933458433,"toString":1}'),
  ],
  [
    'an XML body',
    '/p',
    bodyOf(OBJECT, 'application/xml'),
    '{"body":"<a/>"}',
    { body: '<a/>', headers: { 'content-type': 'application/xml' } },
  ],
  [
    'several types of a body',
    '/p',
    { requestBody: { content: { 'application/xml': { schema: OBJECT }, 'application/json': { schema: OBJECT } } } },
    '{"body":{"a":"x"}}',
    { body: '{"a":"x"}', headers: { 'content-type': 'application/json' } },
  ],
  [
    'lists and objects of a form',
    '/p',
    bodyOf({ type: 'object', properties: { l: LIST, o: OBJECT } }, 'application/x-www-form-urlencoded', {
      encoding: { o: { style: 'deepObject', explode: true } },
    }),
    '{"body":{"l":["a","b"],"o":{"a":"x"}}}',
    json('l=a&l=b&o%5Ba%5D=x'),
  ],
  ['the method QUERY of 3.2', 'QUERY /g', bodyOf(OBJECT), '{"body":{"a":"x"}}', { method: 'QUERY', body: '{"a":"x"}' }],
  [
    'a response that has defaults only',
    '/p',
    { ...bodyOf(OBJECT), responses: { default: { $ref: '#/components/responses/none' } } },
    '{"body":{"a":"x"}}',
    json('{"a":"x"}'),
  ],
  [
    'a property that is only read',
    '/p',
    bodyOf({ type: 'object', properties: { id: { type: 'integer', readOnly: true }, a: { type: 'string' } }, required: ['id', 'a'] }),
    '{"body":{"a":"x"}}',
    json('{"a":"x"}'),
  ],
  [
    'null as a schema',
    '/p',
    bodyOf({ type: 'object', properties: { a: null, b: { type: 'null' }, c: { enum: [null] } } }),
    '{"body":{"b":null,"c":null}}',
    json('{"b":null,"c":null}'),
  ],
  [
    'a multiple of a cent',
    '/p',
    bodyOf({ type: 'object', properties: { n: { type: 'number', multipleOf: 0.01 } } }),
    '{"body":{"n":19.99}}',
    json('{"n":19.99}'),
  ],
  [
    'limits beyond doubles',
    '/p',
    bodyOf({ type: 'object', properties: { n: { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 } } }),
    '{"body":{"n":9223372036854775807}}',
    json('{"n":9223372036854775807}'),
  ],
];

describe('odd bodies of OpenAPI documents', () => {
  let api: OddApi;
  beforeAll(async () => {
    api = await OddApi.start('odd-bodies', REQUESTS);
  });
  afterAll(() => api?.close());

  it.each(REQUESTS)('sends to an API the request that its document means: %s', async (...row) => {
    const [what, , , args, expected] = row;
    for (const form of [args, JSON.stringify(args)]) {
      const { call, source } = await api.call(
        REQUESTS.findIndex(([it]) => it === what),
        form,
      );
      const [got] = api.seen;
      expect({ sent: got !== undefined || [source.problems, call], ...got }).toMatchObject({ sent: true, ...expected });
    }
  });
});
