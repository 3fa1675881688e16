import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bodyOf, LIST, OBJECT, OddApi, ref, type Reply, type RequestRow } from '../support/odd-api.js';

const query = (name: string, schema: object, more: object = {}) => ({ parameters: [{ name, in: 'query', schema, ...more }] });
const inPath = (schema: object, more: object = {}) => ({ parameters: [{ name: 'id', in: 'path', required: true, schema, ...more }] });

const REQUESTS: readonly RequestRow[] = [
  [
    'branches that overlap without a discriminator',
    '/p',
    bodyOf({ oneOf: [ref('Cat'), ref('Dog')] }),
    '{"body":{"petType":"Cat","name":"Tom"}}',
    { body: '{"petType":"Cat","name":"Tom"}' },
  ],
  [
    'branches of a schema that is closed by itself',
    '/p',
    bodyOf({ type: 'object', additionalProperties: false, oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'petType' } }),
    '{"body":{"petType":"Cat","name":"Tom"}}',
    { body: '{"petType":"Cat","name":"Tom"}' },
  ],
  [
    'a required member that the schema forbids',
    '/p',
    bodyOf({ type: 'object', additionalProperties: false, properties: { a: { type: 'string' } }, required: ['b'] }),
    '{"body":{"a":"x"}}',
    { body: '{"a":"x"}' },
  ],
  [
    'arguments that objects inherit',
    '/p',
    { parameters: ['toString', 'constructor', 'hasOwnProperty'].map((name) => ({ name, in: 'query', schema: { type: 'string' } })) },
    '{"toString":"a","constructor":"b"}',
    { url: '/p?toString=a&constructor=b' },
  ],
  [
    'a 64-bit number in a header',
    '/p',
    { parameters: [{ name: 'X-Id', in: 'header', schema: { type: 'integer', format: 'int64' } }] },
    '{"X-Id":725653563933458433}',
    { headers: { 'x-id': '725653563933458433' } },
  ],
  [
    'a 64-bit number deep in a query',
    '/p',
    query('f', { type: 'object', properties: { id: { type: 'integer' } } }, { style: 'deepObject' }),
    '{"f":{"id":725653563933458433}}',
    { url: '/p?f%5Bid%5D=725653563933458433' },
  ],
  ['a matrix in its path', '/m/{id}', inPath(LIST, { style: 'matrix', explode: true }), '{"id":["a","b"]}', { url: '/m/;id=a;id=b' }],
  ['a label in its path', '/m/{id}', inPath(LIST, { style: 'label' }), '{"id":["a","b"]}', { url: '/m/.a,b' }],
  ['an object in its path', '/m/{id}', inPath(OBJECT, { explode: true }), '{"id":{"a":"1","b":"2"}}', { url: '/m/a=1,b=2' }],
  [
    'a list with spaces in a query',
    '/p',
    query('l', LIST, { style: 'spaceDelimited', explode: false }),
    '{"l":["a","b c"]}',
    { url: '/p?l=a%20b%20c' },
  ],
  [
    'a list with pipes in a query',
    '/p',
    query('l', LIST, { style: 'pipeDelimited', explode: false }),
    '{"l":["a","b"]}',
    { url: '/p?l=a%7Cb' },
  ],
  [
    'lists deep in an object of a query',
    '/p',
    query('f', { type: 'object', properties: { a: LIST } }, { style: 'deepObject' }),
    '{"f":{"a":["x","y"]}}',
    { url: '/p?f%5Ba%5D=x&f%5Ba%5D=y' },
  ],
  [
    'reserved characters of a query',
    '/p',
    query('u', { type: 'string' }, { allowReserved: true }),
    '{"u":"a/b?c:d"}',
    { url: '/p?u=a/b?c:d' },
  ],
  ['an empty value in a query', '/p', query('e', { type: 'string' }, { allowEmptyValue: true }), '{"e":""}', { url: '/p?e=' }],
  [
    'JSON in a query',
    '/p',
    { parameters: [{ name: 'j', in: 'query', content: { 'application/json': { schema: OBJECT } } }] },
    '{"j":{"a":"x"}}',
    { url: `/p?j=${encodeURIComponent('{"a":"x"}')}` },
  ],
  [
    'a cookie',
    '/p',
    { parameters: [{ name: 'sid', in: 'cookie', schema: { type: 'string' } }] },
    '{"sid":"a b"}',
    { headers: { cookie: 'sid=a%20b' } },
  ],
  ['reserved characters in its path', '/m/{id}', inPath({ type: 'string' }), '{"id":"a/b?c#d"}', { url: '/m/a%2Fb%3Fc%23d' }],
  ['letters beyond ASCII in its path', '/m/名/{id}', inPath({ type: 'string' }), '{"id":"é"}', { url: '/m/%E5%90%8D/%C3%A9' }],
  [
    'a parameter of the path that its operation replaces',
    '/o/{id}',
    { parameters: [{ name: 'q', in: 'query', required: false, schema: { type: 'integer' } }] },
    '{"id":"x","q":3}',
    { url: '/o/x?q=3' },
  ],
  ['a query in its path', '/q?type=fixed', query('a', { type: 'string' }), '{"a":"x"}', { url: '/q?type=fixed&a=x' }],
  ['a default', '/p', query('limit', { type: 'integer', default: 20 }), '{}', { url: '/p' }],
  [
    'a required header of its own',
    '/p',
    { parameters: [{ name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' } }] },
    '{"X-Trace":"a b"}',
    { headers: { 'x-trace': 'a b' } },
  ],
  [
    'a greedy name in its path',
    '/m/{id+}',
    { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] },
    '{"id":"a/b"}',
    { url: expect.stringMatching(/^\/m\/a(?:\/|%2F)b$/) },
  ],
  [
    'a name twice',
    '/m/{id}',
    {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      ],
    },
    '{"id":"x"}',
    { url: '/m/x' },
  ],
  ['a name of its path that no parameter has', '/m/{id}', {}, '{"id":"x"}', { url: '/m/x' }],
  ['a parameter of a reference', '/p', { parameters: [{ $ref: '#/components/parameters/Page' }] }, '{"page":2}', { url: '/p?page=2' }],
  ['a query of Unicode', '/p', query('größe', { type: 'string' }), '{"gr_e":"ä b+c&d"}', { url: '/p?gr%C3%B6%C3%9Fe=%C3%A4%20b%2Bc%26d' }],
  ['a name with brackets in a query', '/p', query('ids[]', LIST), '{"ids":["a","b"]}', { url: '/p?ids%5B%5D=a&ids%5B%5D=b' }],
  ['a flag', '/p', query('f', { type: 'boolean' }), '{"f":false}', { url: '/p?f=false' }],
  ['null in a query', '/p', query('f', { type: 'string', nullable: true }), '{"f":null}', { url: '/p' }],
  ['any type of a query', '/p', query('f', {}), '{"f":725653563933458433}', { url: '/p?f=725653563933458433' }],
  [
    'a whole query of 3.2',
    'GET /g',
    { parameters: [{ name: 'all', in: 'querystring', content: { 'application/x-www-form-urlencoded': { schema: OBJECT } } }] },
    '{"all":{"a":"x y"}}',
    { url: expect.stringMatching(/^\/g\?a=x(?:\+|%20)y$/) },
  ],
  [
    'a date',
    '/p',
    query('d', { type: 'string', format: 'date-time' }),
    '{"d":"2026-11-30T10:00:00+01:00"}',
    { url: '/p?d=2026-11-30T10%3A00%3A00%2B01%3A00' },
  ],
];

/** Answers, and what of them the model and programs get. */
const REPLIES: readonly (readonly [what: string, reply: Reply, outcome: string, text: string, structured?: unknown])[] = [
  ['204', { status: 204 }, 'completed', '204'],
  ['205', { status: 205 }, 'completed', '205'],
  [
    'a 64-bit number',
    { type: 'application/json', body: '{"id":725653563933458433}' },
    'completed',
    '725653563933458433',
    { id: '725653563933458433' },
  ],
  ['a list', { type: 'application/json; charset=utf-8', body: '[1,2]' }, 'completed', '[1,2]', { items: [1, 2] }],
  ['JSON of a vendor', { type: 'application/vnd.x+json', body: '{"a":1}' }, 'completed', '"a":1', { a: 1 }],
  ['a problem', { status: 422, type: 'application/problem+json', body: '{"title":"no"}' }, 'failed', 'no'],
  ['CSV', { type: 'text/csv', body: 'a,b' }, 'completed', 'a,b'],
  ['lines of JSON', { type: 'application/x-ndjson', body: '{"a":1}\n{"a":2}\n' }, 'completed', '{"a":2}'],
  ['no type', { body: 'plain' }, 'completed', 'plain'],
  ['JSON that is none', { type: 'application/json', body: '<b>' }, 'completed', '<b>'],
  ['a byte order mark', { type: 'application/json', body: '\ufeff{"a":1}' }, 'completed', '"a":1', { a: 1 }],
  ['null', { type: 'application/json', body: 'null' }, 'completed', 'null'],
  ['another structure than the document has', { type: 'application/json', body: '{"n":"text"}' }, 'completed', 'text'],
  [
    'letters of another encoding',
    { type: 'text/plain; charset=windows-1251', body: Buffer.from('cff0e8e2e5f2', 'hex') },
    'completed',
    'Привет',
  ],
  ['a redirect to itself', { status: 304 }, 'failed', '304'],
];

describe('odd requests and answers of OpenAPI documents', () => {
  let api: OddApi;
  beforeAll(async () => {
    api = await OddApi.start(
      'odd-requests',
      REQUESTS,
      REPLIES.map(([, reply]) => reply),
    );
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

  it.each(REPLIES)('returns the answer of an API to models and programs: %s', async (...row) => {
    const [what, , outcome, text, structured] = row;
    const call = await api.answer(REPLIES.findIndex(([it]) => it === what));
    const said = `${(call.result?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n')}\n${call.error?.message ?? ''}`;
    expect([call.isError === true ? 'failed' : call.outcome, said]).toEqual([outcome, expect.stringContaining(text)]);
    if (structured !== undefined) expect(call.result?.structuredContent).toEqual(structured);
  });
});
