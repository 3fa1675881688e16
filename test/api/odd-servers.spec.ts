import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Source, SourcePage } from '#contracts';
import { httpMcpServer, usualAnswer, type Answering, type HttpMcpServer } from '../../libs/sources/src/testing/http-mcp-server.js';
import { rawMcpServer, type RawMcpServer } from '../../libs/sources/src/testing/raw-mcp-server.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { eventually } from '../support/eventually.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';

const DONE = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ok"}],"structuredContent":{"owner":"ann"}}}';
const tool = (name: string, inputSchema: object, more: object = {}) => ({ name, inputSchema, ...more });
const LOOK_AHEAD = { type: 'string', pattern: '^(?!x).*$' };
const TOOLS = [
  tool('good', { type: 'object' }),
  tool('bad', {}),
  tool('union', { anyOf: [{ type: 'object' }] }),
  tool('good', { type: 'object' }, { description: 'Another one.' }),
  tool('n'.repeat(129), { type: 'object' }),
  tool('count', { type: 'object' }, { outputSchema: { type: 'object', properties: { owner: { type: 'integer' } } } }),
  tool('mail', { type: 'object', properties: { to: LOOK_AHEAD, subject: { type: 'string' } } }),
  tool('owner', { type: 'object' }, { outputSchema: { type: 'object', properties: { owner: LOOK_AHEAD } } }),
  tool('clear', { type: 'object', properties: { note: { type: 'string', nullable: true } } }),
  tool('either', {
    type: 'object',
    additionalProperties: false,
    anyOf: ['a', 'b'].map((name) => ({ properties: { [name]: { type: 'string' } }, required: [name] })),
  }),
  tool('race', {
    type: 'object',
    properties: { constructor: { type: 'string' }, season: { type: 'integer' } },
    required: ['constructor'],
  }),
  tool('shot', {
    type: 'object',
    properties: { scale: { type: 'string', default: 'css' }, size: { $ref: '#/$defs/size' } },
    required: ['scale'],
    $defs: { size: { type: 'object', properties: { unit: { default: 'px' }, width: { type: 'number' } }, required: ['unit', 'width'] } },
  }),
  tool('find', {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      'filter[name]': { type: 'string' },
      'sort by': { type: 'array' },
      range: { type: 'array', items: [{ type: 'integer' }, { type: 'integer' }] },
    },
    oneOf: [{ required: ['filter[name]'] }, { properties: { id: { type: 'string' } }, required: ['id'] }],
  }),
];
const list = (tools: readonly object[]) => `{"jsonrpc":"2.0","id":ID,"result":{"tools":${JSON.stringify(tools)}}}`;
const json =
  (status: number, body: object): Answering =>
  (_message, _request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
/** Answers of older servers to the first request of the newest revision, by the name of the source. */
const OLDER: Readonly<Record<string, Answering>> = {
  'older-500': json(500, { error: 'odd' }),
  'older-403': json(403, { error: 'no' }),
  'older-200': json(200, { jsonrpc: '2.0', error: { code: -32_600, message: 'Missing ID field' }, id: null }),
  'older-silent': () => true,
};
const PROGRESS = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n';

/** Breaks the stream of each answer: with the id of an event the second request to resume it gets the answer. */
const breakingServer = async () => {
  let [effects, resumed, answer] = [0, 0, ''];
  const server = await httpMcpServer((message, request, response) => {
    const from = request.headers['last-event-id'];
    if (message?.method !== 'tools/call' && from === undefined) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (message !== undefined) {
      const { arguments: args } = (message as unknown as { params: { arguments?: { ids?: boolean } } }).params;
      [effects, resumed, answer] = [effects + 1, 0, usualAnswer(message)];
      response.end(args?.ids === true ? `retry: 1\nid: e1\n${PROGRESS}` : PROGRESS);
    } else response.end((resumed += 1) > 1 && from === 'e1' ? `data: ${answer}\n\n` : '');
    return true;
  });
  return { ...server, effects: () => effects, resumed: () => resumed };
};

describe('odd MCP servers', () => {
  let odd: RawMcpServer;
  let sessions: HttpMcpServer;
  let bare: RawMcpServer;
  let models: ModelServer;
  let locked: HttpMcpServer;
  let breaking: Awaited<ReturnType<typeof breakingServer>>;
  const older = new Map<string, HttpMcpServer>();
  let tenant: Tenant;
  /** Sessions that `sessions` knows, how many it began, and how many calls came once it had forgotten some. */
  const known = new Set<string>();
  let [begun, again] = [0, 0];
  const growing = [tool('grow', { type: 'object' })];

  const newSession = () => {
    known.add(`s${(begun += 1)}`);
    return `s${begun}`;
  };

  beforeAll(async () => {
    odd = await rawMcpServer('json', DONE, undefined, { 'tools/list': list(TOOLS) });
    bare = await rawMcpServer(
      'json',
      '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ok"}]}}',
      tool('t', { type: 'object' }, { outputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }),
    );
    sessions = await httpMcpServer((message, request, response) => {
      if (message?.method === 'initialize') response.setHeader('mcp-session-id', newSession());
      else if (message !== undefined && message.method !== 'server/discover' && !known.has(String(request.headers['mcp-session-id']))) {
        const error = { jsonrpc: '2.0', error: { code: -32_001, message: 'Session not found' }, id: null };
        response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(error));
        return true;
      }
      if (message?.method === 'tools/list' && growing.length > 0) {
        const answer = list([...growing, tool('t', { type: 'object' })]).replaceAll('ID', String(message.id));
        response.setHeader('content-type', 'application/json').end(answer);
        return true;
      }
      if (message?.method !== 'tools/call' || known.has('s1')) return false;
      again += 1;
      growing.push(tool('t2', { type: 'object' }));
      const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}';
      const events = `data: ${changed}\n\ndata: ${DONE.replaceAll('ID', String(message.id))}\n\n`;
      response.setHeader('content-type', 'text/event-stream').end(events);
      return true;
    });
    for (const [name, answering] of Object.entries(OLDER))
      older.set(name, await httpMcpServer((message, ...rest) => message?.method === 'server/discover' && answering(message, ...rest)));
    locked = await httpMcpServer(json(401, { error: 'who are you' }));
    breaking = await breakingServer();
    models = await startModelServer();
    const subAgent = (name: string, provider: 'anthropic' | 'openai-compatible') => ({
      kind: 'agent' as const,
      name,
      tools: ['odd__find'],
      system: 'You find.',
      model: { provider, name, url: models.url, apiKey: { secretEnv: 'WORKER_SECRET' } },
    });
    tenant = await useTenant('odd-servers', {
      sources: [
        subAgent('finder', 'anthropic'),
        subAgent('searcher', 'openai-compatible'),
        { name: 'odd', kind: 'mcp', ...odd.definition },
        { name: 'sessions', kind: 'mcp', url: sessions.url },
        { name: 'bare', kind: 'mcp', ...bare.definition, trust: true },
        { name: 'breaking', kind: 'mcp', url: breaking.url },
        ...[...older].map(([name, { url }]) => ({ name, kind: 'mcp' as const, url })),
      ],
    });
  });
  afterAll(async () => {
    await tenant?.close();
    odd?.close();
    sessions?.close();
    bare?.close();
    for (const server of [locked, breaking, ...older.values()]) server?.close();
    await models?.close();
  });

  const run = async (name: string, args: object) => (await tenant.agent.run(name, { ...args }, { sessionId: 's' })).outcome;
  const source = async (name: string) => {
    const { body } = await tenant.agent.get<SourcePage>('/v1/sources');
    return body.sources.find((it) => it.name === name);
  };

  it('offers the readable tools, and reports the others', async () => {
    const { body } = await tenant.agent.get<Source>('/v1/sources/odd');
    const said = body.problems.join('\n');
    for (const part of ['"bad"', '"union"', 'mail: input/properties/to/pattern', 'owner: output/properties/owner/pattern'])
      expect(said).toContain(part);
    for (const part of ['good: the source offers two tools with this name', 'nnn": expected a name of 1 to 128'])
      expect(said).toContain(part);
  });

  it.each([
    ['odd__good', {}],
    ['odd__mail', { subject: 'x' }],
    ['odd__mail', { to: 'ann@example.com' }],
    ['odd__owner', {}],
    ['odd__race', { constructor: 'ferrari', season: 2024 }],
    ['odd__clear', { note: null }],
    ['odd__either', { b: 'x' }],
    ['odd__shot', {}],
    ['odd__shot', { size: { width: 2 } }],
  ])('runs %s, whose schema is odd, once', async (name, args) => {
    const before = odd.effects();
    expect([await run(name, args), odd.effects()]).toEqual(['completed', before + 1]);
    expect(JSON.parse(odd.requests().at(-1) ?? '')).toMatchObject({ params: { arguments: args } });
  });

  it('offers a tool to models in a form that their APIs accept, and passes the server its own names', async () => {
    const given = async (format: string) => {
      const { body } = await tenant.agent.get<{ tools: Record<string, unknown>[] }>(`/v1/tools?format=${format}&q=odd__find`);
      return body.tools[0];
    };
    const list = { type: 'array', items: {} };
    const range = { ...list, prefixItems: [{ type: 'integer' }, { type: 'integer' }] };
    const schema = (filter: string, sort: string, named: (name: string) => object) => ({
      type: 'object',
      properties: {
        [filter]: { type: 'string', ...named('filter[name]') },
        [sort]: { ...list, ...named('sort by') },
        range,
        id: { type: 'string' },
      },
    });
    const sets = (filter: string) => expect.stringContaining(`Give the arguments of at least one of these sets: \`${filter}\`; \`id\`.`);
    const plain = schema('filter_name', 'sort_by', (name) => ({ description: `The tool calls it "${name}".` }));
    expect(await given('anthropic')).toEqual({ name: 'find', description: sets('filter_name'), input_schema: plain });
    expect(await given('mcp')).toMatchObject({ inputSchema: { anyOf: [{ required: ['filter[name]'] }, { required: ['id'] }] } });
    expect(await given('openai')).toEqual({
      type: 'function',
      function: { name: 'find', description: sets('filter[name]'), parameters: schema('filter[name]', 'sort by', () => ({})) },
    });
    expect(await run('odd__find', { filter_name: 'x', sort_by: ['y'], range: [1, 2] })).toBe('completed');
    const sent = { 'filter[name]': 'x', 'sort by': ['y'], range: [1, 2] };
    expect(JSON.parse(odd.requests().at(-1) ?? '')).toMatchObject({ params: { arguments: sent } });
    expect(await run('odd__find', { filter_name: 'x', id: 'z' })).toBe('completed');
    const { outcome, error } = await tenant.agent.run('odd__find', { range: [1, 2] });
    expect([outcome, error?.code]).toEqual(['failed', 'invalid_arguments']);
  });

  it.each([
    ['finder', 'filter_name', 'sort_by'],
    ['searcher', 'filter[name]', 'sort by'],
  ])('runs a tool that a model of the sub-agent %s calls with the name %s that it was given', async (name, filter, sort) => {
    models.on(name, ({ body }, n) => {
      const [offered] = body.tools ?? [];
      const { name: tool } = offered?.function ?? offered ?? {};
      return n > 0 ? { text: 'Found.' } : { toolCalls: [{ id: 'a', name: tool, arguments: { [filter]: 'x', [sort]: ['y'] } }] };
    });
    const before = odd.effects();
    const { outcome, result } = await tenant.agent.run(name, { task: 'Find x' });
    expect([outcome, result?.content]).toEqual(['completed', [expect.objectContaining({ text: expect.stringContaining('Found.') })]]);
    const [offered] = models.calls(name)[0]?.body.tools ?? [];
    const { properties } = offered.input_schema ?? offered.function.parameters;
    expect(Object.keys(properties)).toEqual([filter, sort, 'range', 'id']);
    const sent = { 'filter[name]': 'x', 'sort by': ['y'] };
    expect([odd.effects(), JSON.parse(odd.requests().at(-1) ?? '')]).toMatchObject([before + 1, { params: { arguments: sent } }]);
  });

  it('fails a call whose structured content violates the schema of its tool, as SDK clients do, without a repeat', async () => {
    const before = odd.effects();
    const { outcome, error } = await tenant.agent.run('odd__count', {}, { sessionId: 's' });
    expect([outcome, error]).toEqual(['failed', expect.objectContaining({ code: 'output_invalid', retryable: false })]);
    expect(error?.message).toContain('/owner');
    expect(odd.effects()).toBe(before + 1);
  });

  it.each(REVISIONS)(
    'returns an answer without the promised structured content to an MCP client as an error: revision %s',
    async (revision) => {
      expect(await run('bare__t', {})).toBe('completed');
      const client = await connectMcp(revision, { key: tenant.keyOf('main'), urls: [tenant.url] });
      await client.tools();
      const { isError, content } = await client.call('bare__t', {});
      expect(isError).toBe(true);
      expect(content.map(({ text }) => text)).toEqual([
        expect.stringContaining('ok'),
        expect.stringMatching(/has run.*Do not make the call again/),
      ]);
      await client.close();
    },
  );

  it('returns the same error to an MCP client that asks for the task of such a call', async () => {
    const { id: taskId } = await tenant.agent.run('bare__t', {});
    const revision = '2026-07-28';
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const { body } = await tenant.agent.request<{ result: object }>(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId, _meta } },
      {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        'mcp-method': 'tasks/get',
        'mcp-name': taskId,
      },
    );
    expect(body.result).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(body.result)).toContain('Do not make the call again');
  });

  it('reopens a session that the server forgot, runs the call once, and notices changes', async () => {
    expect([await run('sessions__t', {}), sessions.effects()]).toEqual(['completed', 1]);
    const before = begun;
    known.clear();
    expect([await run('sessions__t', {}), again]).toEqual(['completed', 1]);
    // Sessions are separate for each of the two workers.
    expect([1, 2]).toContain(before);
    expect([1, 2]).toContain(begun - before);
    await eventually(async () => (await tenant.agent.run('sessions__t2', {}, { sessionId: 's' })).outcome === 'completed', 't2');
    expect((await source('sessions'))?.status).toBe('ok');
  });

  it.each(Object.keys(OLDER))(
    'speaks an older revision with a server that answers the newest one in a way of its own: %s',
    async (name) => {
      expect([await run(`${name}__t`, {}), older.get(name)?.effects()]).toEqual(['completed', 1]);
      expect(older.get(name)?.methods).toEqual(expect.arrayContaining(['server/discover', 'initialize', 'tools/list']));
      expect(await source(name)).toMatchObject({ status: 'ok' });
    },
  );

  it('says that a server wants credentials, and speaks no older revision with it', async () => {
    const { status } = await tenant.agent.request('POST', '/v1/sources', { name: 'locked', kind: 'mcp', url: locked.url });
    expect(status).toBe(201);
    await eventually(async () => (await source('locked'))?.error?.includes('401'), 'the error');
    expect(new Set(locked.methods)).toEqual(new Set(['server/discover']));
  });

  it('resumes the broken stream of an answer from its last event, also after one without events, and runs the call once', async () => {
    const { outcome, result } = await tenant.agent.run('breaking__t', { ids: true }, { sessionId: 's' });
    expect([outcome, result?.content, breaking.resumed(), breaking.effects()]).toEqual([
      'completed',
      [{ type: 'text', text: expect.stringMatching(/\ndone$/) }],
      2,
      1,
    ]);
  });

  it('fails a call for good whose stream breaks without the id of an event, and runs it once', async () => {
    const before = breaking.effects();
    const { outcome, error } = await tenant.agent.run('breaking__t', {}, { sessionId: 's' });
    expect([outcome, error?.retryable, breaking.effects()]).toEqual(['failed', false, before + 1]);
    expect(error?.message).toContain('event stream');
  });
});
