import { afterEach, describe, expect, it } from '@jest/globals';
import { openApi } from '../testing/openapi-api.js';

type Api = Awaited<ReturnType<typeof openApi>>;
const parameter = (name: string, place: string, more: object = {}) => ({ name, in: place, schema: { type: 'string' }, ...more });
const path = (name: string, more: object = {}) => parameter(name, 'path', { required: true, ...more });

/** Paths and parameters as public documents write them, by the request that the API sees. */
describe('paths and parameters of documents from the field', () => {
  let api: Api | undefined;
  afterEach(() => api?.close());
  const of = async (template: string, operation: object, more: object = {}) => {
    api = await openApi({
      openapi: '3.1.0',
      info: {},
      paths: { [template]: { get: { operationId: 'op', responses: {}, ...operation } } },
      ...more,
    });
    return api;
  };
  const urlOf = async (template: string, parameters: readonly object[], args: object) =>
    (await (await of(template, { parameters })).sent('op', args)).url;

  it.each([
    ['/x?action=list', [], {}, '/x?action=list'],
    ['/x?action=list&v=2', [parameter('q', 'query')], { q: 'a b' }, '/x?action=list&v=2&q=a%20b'],
    ['/x?action=list', [parameter('action', 'query')], { action: 'get' }, '/x?action=get'],
    ['/x?id={id}', [path('id')], { id: 'a&b' }, '/x?id=a%26b'],
    ['/x?id={id}', [parameter('id', 'query', { required: true })], { id: '7' }, '/x?id=7'],
    ['/#X-Target=Db.Get', [], {}, '/'],
    ['/x/{id}#part', [path('id')], { id: 'a#b' }, '/x/a%23b'],
    ['/x/{id}{?page,size}', [path('id'), parameter('page', 'query')], { id: '1', page: '2' }, '/x/1?page=2'],
  ])('sends the path %s with its own query and without its fragment', async (template, parameters, args, url) => {
    expect(await urlOf(template, parameters, args)).toBe(url);
  });

  it.each([
    ['/files/{path+}', 'path'],
    ['/files/{path+}', 'path+'],
    ['/files/{path*}', 'path'],
    ['/files/{*path}', 'path'],
    ['/files/{+path}', 'path'],
    ['/files/{path...}', 'path'],
    ['/files/{path:.*}', 'path'],
    ['/files/{path:path}', 'path'],
  ])('keeps the slashes of a greedy parameter: %s described as %s', async (template, name) => {
    const one = await of(template, { parameters: [path(name)] });
    expect(one.problems).toEqual([]);
    const [argument = ''] = Object.keys(one.tools[0]?.input['properties'] ?? {});
    expect((await one.sent('op', { [argument]: '/a b/c?d/e.txt' })).url).toBe('/files/a%20b/c%3Fd/e.txt');
    await expect(one.output('op', { [argument]: 'a/../../b' })).rejects.toThrow('other than . and ..');
  });

  it.each([
    ['/x/{id}/y/{id}', [path('id')], { id: 'a' }, '/x/a/y/a'],
    ['/x/{id:[0-9]{3}}', [path('id')], { id: '123' }, '/x/123'],
    ['/x/{petId}', [path('petid')], { petid: 'a' }, '/x/a'],
    ['/x/:id/y', [path('id')], { id: 'a' }, '/x/a/y'],
    ['/x/{id}', [path('id'), path('id', { description: 'again' })], { id: 'a' }, '/x/a'],
    ['/x/{a}.{b}', [path('a'), path('b')], { a: '1', b: '2' }, '/x/1.2'],
    ['/x/{user.id}', [path('user.id')], { 'user.id': '1' }, '/x/1'],
    ['/x:verb', [], {}, '/x:verb'],
    ["/x('{id}')", [path('id')], { id: 'a' }, "/x('a')"],
  ])('writes parameters into the path %s', async (template, parameters, args, url) =>
    expect(await urlOf(template, parameters, args)).toBe(url),
  );

  it('adds an undescribed path parameter, omits one without a place, and reports both', async () => {
    const one = await of('/x/{id}', { parameters: [path('other')] });
    expect(one.problems).toEqual([
      'GET /x/{id}: the document does not describe the path parameter id: it is taken as text',
      'GET /x/{id}: its path has no place for the path parameter other, which is left out',
    ]);
    expect((await one.sent('op', { id: 'a' })).url).toBe('/x/a');
    await one.close();
    api = await openApi({ openapi: '3.0.0', info: {}, paths: { x: { get: { operationId: 'op', responses: {} } } } });
    expect([(await api.sent('op', {})).url, api.problems]).toEqual(['/x', [expect.stringContaining('does not begin with a slash')]]);
  });

  const list = { type: 'array', items: { type: 'string' } };
  const object = { type: 'object' };
  const query = (more: object) => parameter('v', 'query', more);
  it.each([
    ['an empty list', query({ schema: list }), [], '/x'],
    ['an empty list in one text', query({ schema: list, explode: false }), [], '/x'],
    ['an empty list that may be empty', query({ schema: list, explode: false, allowEmptyValue: true }), [], '/x?v='],
    ['an empty object', query({ schema: object, style: 'deepObject' }), {}, '/x'],
    ['null', query({ schema: { type: ['string', 'null'] } }), null, '/x'],
    ['an empty text', query({}), '', '/x?v='],
    ['reserved characters', query({ allowReserved: true }), 'a/b:c?d&e', '/x?v=a/b:c?d%26e'],
    ['reserved characters in an expression', query({ allowReserved: true }), 'a=b+c;[d]#e', '/x?v=a=b%2Bc;[d]%23e'],
    ['what is encoded already', query({ allowReserved: true }), 'a%2Fb%26c%zz', '/x?v=a%2Fb%26c%25zz'],
    ['what is encoded already without leave', query({}), 'a%2Fb', '/x?v=a%252Fb'],
    ['a list with reserved characters', query({ schema: list, explode: false, allowReserved: true }), ['a/b', 'c'], '/x?v=a/b,c'],
    ['members without a value', query({ schema: object }), { a: null, b: 1 }, '/x?b=1'],
    [
      'members without a value in brackets',
      query({ schema: object, style: 'deepObject' }),
      { a: null, b: { c: null, d: 1 } },
      '/x?v%5Bb%5D%5Bd%5D=1',
    ],
    ['items without a value', query({ schema: { type: 'array' } }), [1, null, 2], '/x?v=1&v=2'],
    ['a list of nothing', query({ schema: { type: 'array' }, explode: false }), [null], '/x'],
    ['an object with pipes', query({ schema: object, style: 'pipeDelimited' }), { R: 100, G: 200 }, '/x?v=R%7C100%7CG%7C200'],
    ['an object with spaces', query({ schema: object, style: 'spaceDelimited' }), { R: 100, G: 200 }, '/x?v=R%20100%20G%20200'],
    [
      'a list of objects in brackets',
      query({ schema: { type: 'array' }, style: 'deepObject' }),
      [{ a: 1 }, { a: [2, null] }],
      '/x?v%5B0%5D%5Ba%5D=1&v%5B1%5D%5Ba%5D=2',
    ],
    ['pipes', query({ schema: list, style: 'pipeDelimited', explode: false }), ['a', 'b'], '/x?v=a%7Cb'],
    ['pipes, exploded', query({ schema: list, style: 'pipeDelimited', explode: true }), ['a', 'b'], '/x?v=a&v=b'],
    ['spaces', query({ schema: list, style: 'spaceDelimited', explode: false }), ['a', 'b'], '/x?v=a%20b'],
    ['a nested object', query({ schema: object, style: 'deepObject' }), { a: { b: ['c', 'd'] } }, '/x?v%5Ba%5D%5Bb%5D=c&v%5Ba%5D%5Bb%5D=d'],
    [
      'JSON by content',
      query({ schema: undefined, content: { 'application/json': { schema: object } } }),
      { a: [1] },
      '/x?v=%7B%22a%22%3A%5B1%5D%7D',
    ],
    [
      'vendor JSON by content',
      query({ schema: undefined, content: { 'application/vnd.x+json; v=1': { schema: {} } } }),
      'a',
      '/x?v=%22a%22',
    ],
    ['text by content', query({ schema: undefined, content: { 'text/plain': { schema: {} } } }), 'a', '/x?v=a'],
    ['a schema beside the parameter', query({ schema: undefined, type: 'boolean' }), true, '/x?v=true'],
  ])('sends a parameter of the query: %s', async (_what, described, v, url) => expect(await urlOf('/x', [described], { v })).toBe(url));

  it.each([
    ['matrix', list, false, ['a', 'b'], '/x/;v=a,b'],
    ['matrix', list, true, ['a', 'b'], '/x/;v=a;v=b'],
    ['label', list, true, ['a', 'b'], '/x/.a.b'],
    ['label', object, false, { a: 1 }, '/x/.a,1'],
    ['simple', object, true, { a: 1, b: 2 }, '/x/a=1,b=2'],
  ])('sends a path parameter in the style %s', async (style, schema, explode, v, url) => {
    expect(await urlOf('/x/{v}', [path('v', { style, schema, explode })], { v })).toBe(url);
  });

  it.each([
    ['simple', 'a/b:c@d', '/x/a/b:c@d'],
    ['simple', '/a/b', '/x/a/b'],
    ['simple', 'a?b#c d', '/x/a%3Fb%23c%20d'],
    ['simple', 'a%2Fb%', '/x/a%2Fb%25'],
    ['simple', ['a/b', 'c,d'], '/x/a/b,c,d'],
    ['label', 'a/b', '/x/.a/b'],
    ['matrix', 'a=b', '/x/;v=a=b'],
  ])('keeps reserved characters of a path parameter that allows them: %s of %j', async (style, v, url) => {
    expect(await urlOf('/x/{v}', [path('v', { style, schema: {}, allowReserved: true })], { v })).toBe(url);
  });

  it.each(['a/../b', 'a/%2e%2E/b', '%2e', '.%2E/b', '/', '//', ''])(
    'refuses a path parameter with reserved characters that would lead elsewhere: %s',
    async (v) => {
      const one = await of('/x/{v}', { parameters: [path('v', { allowReserved: true })] });
      await expect(one.output('op', { v })).rejects.toThrow(/other than \. and \.\.|path parameter 'v'|refused/);
      expect(one.seen).toEqual([]);
    },
  );

  const headerOf = async (described: object, v: unknown) => (await (await of('/x', { parameters: [described] })).sent('op', { v })).headers;
  const jsonContent = { schema: undefined, content: { 'application/json': { schema: {} } } };
  it('writes JSON of a header with the escapes of JSON', async () => {
    const { v } = await headerOf(parameter('v', 'header', jsonContent), { name: 'é 日本' });
    expect([v, JSON.parse(String(v))]).toEqual(['{"name":"\\u00e9 \\u65e5\\u672c"}', { name: 'é 日本' }]);
  });

  it.each([
    ['a form', { style: 'form' }, 'a b', 'v=a%20b'],
    ['reserved characters', { allowReserved: true }, 'a/b;c,d=e', 'v=a/b%3Bc%2Cd=e'],
    ['a list', { schema: {}, explode: false }, ['a', 'b'], 'v=a,b'],
    ['JSON', jsonContent, { a: 1 }, 'v=%7B%22a%22%3A1%7D'],
  ])('sends a cookie: %s', async (_what, more, v, text) => {
    expect((await headerOf(parameter('v', 'cookie', more), v))['cookie']).toBe(text);
  });

  it('refuses a path without the text of its parameter', async () => {
    const one = await of('/x/{v}', { parameters: [path('v', { schema: {} })] });
    for (const v of ['', [], {}, null]) await expect(one.output('op', { v })).rejects.toThrow("Missing required path parameter 'v'");
    for (const v of ['..', '..;/x', 'a/..;v=1']) await expect(one.output('op', { v })).rejects.toThrow('other than . and ..');
    const reserved = await of('/x/{v}', { parameters: [path('v', { schema: {}, allowReserved: true })] });
    for (const v of ['..;/x', '..%2Fx', '%2e%2E%5cx', 'a/..;v=1'])
      await expect(reserved.output('op', { v })).rejects.toThrow('other than . and ..');
    expect(reserved.seen).toEqual([]);
    expect(one.seen).toEqual([]);
  });

  it.each([
    ['/files/{path+}', path('path'), '/'],
    ['/files/{path+}', path('path'), '//'],
    ['/x/{v}', path('v', { schema: list }), ['']],
    ['/x/{v}', path('v', { schema: { type: 'array' } }), [null]],
    ['/x/{v}', path('v', { schema: list, style: 'label' }), ['']],
    ['/x/{v}', path('v', { schema: list, style: 'label', explode: true }), ['']],
    ['/x/{v}', path('v', { schema: list, style: 'matrix' }), ['']],
    ['/x/{v}', path('v', { schema: { type: 'array' }, style: 'matrix', explode: true }), [null]],
  ])('refuses the path %s whose parameter becomes empty: %j, %j', async (template, described, value) => {
    const one = await of(template, { parameters: [described] });
    await expect(one.output('op', { [described.name]: value })).rejects.toThrow(`Missing required path parameter '${described.name}'`);
    expect(one.seen).toEqual([]);
  });

  it.each([
    [{}, '/x?fixed=1'],
    [{ page: '2' }, '/x?page=2&fixed=1'],
    [{ q: 'a' }, '/x?q=a&fixed=1'],
    [{ q: '', page: null }, '/x?q=&fixed=1'],
    [{ ids: [] }, '/x?fixed=1'],
    [{ ids: ['a', 'b'], more: 'c' }, '/x?ids=a,b&fixed=1&more=c'],
  ])('leaves optional parameters of the query out of the path when they are absent: %j', async (args, url) => {
    const parameters = [
      parameter('q', 'query'),
      parameter('page', 'query', { schema: { type: ['string', 'null'] } }),
      parameter('ids', 'query', { schema: list }),
      parameter('more', 'query'),
    ];
    expect(await urlOf('/x?q={q}&page={page}&ids={ids}&fixed=1', parameters, args)).toBe(url);
  });

  it('refuses a call without a required parameter of the query that the path names', async () => {
    const one = await of('/x?ids={ids}', { parameters: [parameter('ids', 'query', { required: true, schema: list })] });
    await expect(one.output('op', { ids: [] })).rejects.toThrow("Missing required path parameter 'ids'");
  });

  it.each(['constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'length', 'name'])(
    'sends an argument named %s, and nothing if it is absent',
    async (name) => {
      const one = await of('/x', { parameters: [parameter(name, 'query'), parameter('season', 'query', { schema: { type: 'integer' } })] });
      expect((await one.sent('op', { [name]: 'ferrari', season: 2024 })).url).toBe(`/x?${name}=ferrari&season=2024`);
      expect((await one.sent('op', {})).url).toBe('/x');
    },
  );

  it('sends one header that path and operation name in different case', async () => {
    api = await openApi({
      openapi: '3.0.0',
      info: {},
      paths: { '/x': { parameters: [parameter('X-Id', 'header')], get: { operationId: 'op', parameters: [parameter('x-id', 'header')] } } },
    });
    expect(Object.keys(api.tools[0]?.input['properties'] ?? {})).toEqual(['x-id']);
    expect((await api.sent('op', { 'x-id': 'a' })).headers['x-id']).toBe('a');
  });

  it('sends a described User-Agent once, in place of that of the product', async () => {
    const one = await of('/x', { parameters: [parameter('User-Agent', 'header')] });
    expect((await one.sent('op', { 'User-Agent': 'mine/1.0' })).headers['user-agent']).toBe('mine/1.0');
    expect((await one.sent('op', {})).headers['user-agent']).toBe('toolyard');
  });

  it.each([
    ['a number', '{"id":725653563933458433,"ids":[725653563933458433],"o":{"id":-725653563933458433}}'],
    ['a text', '{"id":"725653563933458433","ids":["725653563933458433"],"o":{"id":"-725653563933458433"}}'],
    ['JSON in a text', JSON.stringify('{"id":725653563933458433,"ids":[725653563933458433],"o":{"id":-725653563933458433}}')],
  ])('sends 64-bit integers exactly in every place: as %s', async (_how, args) => {
    const int64 = { type: 'integer', format: 'int64' };
    const one = await of('/x/{id}', {
      parameters: [
        path('id', { schema: { allOf: [int64] } }),
        parameter('ids', 'query', { schema: { type: 'array', items: int64 }, explode: false }),
        parameter('o', 'query', { schema: { type: 'object', properties: { id: int64 } }, style: 'deepObject' }),
      ],
    });
    expect((await one.sent('op', args)).url).toBe('/x/725653563933458433?ids=725653563933458433&o%5Bid%5D=-725653563933458433');
  });
});
