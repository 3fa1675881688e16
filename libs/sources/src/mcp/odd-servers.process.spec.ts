import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { eventually } from '../../../../test/support/eventually.js';
import { mcpConnector } from '../testing/mcp-connector.js';
import { RAW_WAYS, rawMcpServer, type RawMcpServer, type RawWay } from '../testing/raw-mcp-server.js';

const DONE = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}';
const INPUT = '{"type":"object"}';
const list = (tools: string, more = '') => `{"jsonrpc":"2.0","id":ID,"result":{"tools":${tools}${more}}}`;
const initialized = (result: string) => `{"jsonrpc":"2.0","id":ID,"result":${result}}`;
const one = (more: string) => list(`[{"name":"t",${more}}]`);

/** How a server answers `initialize`. */
const HANDSHAKES: readonly (readonly [what: string, answer: string])[] = [
  ['without its name', initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}')],
  ['with null for its name', initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":null}')],
  ['without its version', initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x"}}')],
  ['without capabilities', initialized('{"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"}}')],
  ['with null for capabilities', initialized('{"protocolVersion":"2025-06-18","capabilities":null}')],
  ['with empty capabilities', initialized('{"protocolVersion":"2025-06-18","capabilities":{}}')],
  ['with lists for capabilities, as PHP writes', initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":[],"prompts":[]}}')],
  ['with flags for capabilities', initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"logging":true}}')],
  ['with an unknown revision', initialized('{"protocolVersion":"2099-01-01","capabilities":{"tools":{}}}')],
  ['with a number for its revision', initialized('{"protocolVersion":1,"capabilities":{"tools":{}}}')],
  ['without a revision', initialized('{"capabilities":{"tools":{}}}')],
  ['with nulls', initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":null,"_meta":null}')],
  ['with error null', '{"jsonrpc":"2.0","id":ID,"error":null,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}'],
  ['in a batch', `[${initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}')}]`],
  ['after a byte order mark', `\uFEFF${initialized('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}')}`],
];

/** How a server answers `tools/list`, and what its source says of the tool `t`. */
const LISTS: readonly (readonly [what: string, answer: string, tool: object])[] = [
  ['with nulls', one(`"title":null,"description":null,"annotations":null,"outputSchema":null,"_meta":null,"inputSchema":${INPUT}`), {}],
  ['with an empty cursor', list(`[{"name":"t","inputSchema":${INPUT}}]`, ',"nextCursor":""'), {}],
  ['with the cursor null', list(`[{"name":"t","inputSchema":${INPUT}}]`, ',"nextCursor":null'), {}],
  ['with metadata that is a text', list(`[{"name":"t","inputSchema":${INPUT}}]`, ',"_meta":"x"'), {}],
  ['with a description that is a number', one(`"description":7,"inputSchema":${INPUT}`), { problems: ['its description cannot be read'] }],
  ['with annotations that are a list', one(`"annotations":[],"inputSchema":${INPUT}`), {}],
  [
    'with an odd annotation beside a good one',
    one(`"annotations":{"readOnlyHint":true,"title":5},"inputSchema":${INPUT}`),
    { tier: 'read_only', problems: ['its annotations.title cannot be read'] },
  ],
  [
    'with an output schema that is a text',
    one(`"outputSchema":"x","inputSchema":${INPUT}`),
    { problems: ['its outputSchema cannot be read'] },
  ],
  ['with properties that are a list, as PHP writes', one('"inputSchema":{"type":"object","properties":[],"required":null}'), {}],
  ['with error null', `{"id":ID,"error":null,"result":{"tools":[{"name":"t","inputSchema":${INPUT}}]}}`, {}],
  ['in a batch', `[${list(`[{"name":"t","inputSchema":${INPUT}}]`)}]`, {}],
  ['with odd icons', one(`"icons":[{"src":7}],"inputSchema":${INPUT}`), { problems: ['its icons cannot be read'] }],
  ['with an icon that is a text', one(`"icons":"a.png","inputSchema":${INPUT}`), { problems: ['its icons cannot be read'] }],
  ['with odd metadata of the tool', one(`"_meta":["x"],"inputSchema":${INPUT}`), {}],
  [
    'with annotations that are a text',
    one(`"annotations":"safe","inputSchema":${INPUT}`),
    { problems: ['its annotations cannot be read'] },
  ],
  [
    'with hints of a wrong type, which count for nothing',
    one(`"annotations":{"readOnlyHint":"yes","destructiveHint":0},"inputSchema":${INPUT}`),
    { tier: 'privileged', problems: ['its annotations.readOnlyHint cannot be read', 'its annotations.destructiveHint cannot be read'] },
  ],
  ['with a title that is an object', one(`"title":{"en":"T"},"inputSchema":${INPUT}`), { problems: ['its title cannot be read'] }],
  [
    'with an odd execution',
    one(`"execution":{"taskSupport":"maybe"},"inputSchema":${INPUT}`),
    { problems: ['its execution cannot be read'] },
  ],
  [
    'with a schema without type',
    one('"inputSchema":{"properties":{"a":{"type":"string"}}}'),
    { input: { type: 'object', properties: { a: { type: 'string' } } }, problems: ['its inputSchema has no type: read as an object'] },
  ],
  ['with a schema whose type is null', one('"inputSchema":{"type":null,"properties":{}}'), { input: { type: 'object' } }],
  [
    'with an output schema without type',
    one(`"outputSchema":{"properties":{}},"inputSchema":${INPUT}`),
    { output: { type: 'object', properties: {} } },
  ],
  ['with an output schema whose type is null', one(`"outputSchema":{"type":null},"inputSchema":${INPUT}`), { output: { type: 'object' } }],
  [
    'with an output schema as PHP writes it',
    one(`"outputSchema":{"type":"object","properties":[],"required":null},"inputSchema":${INPUT}`),
    { output: { type: 'object', properties: [], required: null } },
  ],
  [
    'with an output schema of a list, which its revision does not have',
    one(`"outputSchema":{"type":"array"},"inputSchema":${INPUT}`),
    { problems: ['its outputSchema is not of an object: left out'] },
  ],
  ['with a cursor that is an object', list(`[{"name":"t","inputSchema":${INPUT}}]`, ',"nextCursor":{"page":2}'), {}],
];

describe('McpConnector with odd servers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-odd-'));
  let server: RawMcpServer | undefined;
  afterEach(() => server?.close());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const open = async (way: RawWay, answers: Record<string, string>) => {
    server = await rawMcpServer(way, DONE, undefined, answers);
    const connector = mcpConnector([server.host], { folder });
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', ...server.definition });
    return connector.open({ tenantId: 't', origin: 'config', definition }, AbortSignal.timeout(30_000));
  };
  const listed = async (way: RawWay, answers: Record<string, string>) => {
    const connection = await open(way, answers);
    try {
      return await connection.list(AbortSignal.timeout(30_000));
    } finally {
      await connection.close();
    }
  };
  const context = () => {
    const signal = AbortSignal.timeout(20_000);
    return { signal, deadline: Date.now() + 20_000, onProgress: () => {} } as unknown as ToolContext;
  };

  describe.each(RAW_WAYS)('over %s', (way) => {
    it.each(HANDSHAKES)('connects to a server that answers the handshake %s', async (_what, initialize) => {
      expect(await listed(way, { initialize })).toMatchObject({ tools: [{ rawName: 't' }] });
    });

    it.each(LISTS)('offers the tool of a list %s', async (_what, answer, tool) => {
      expect(await listed(way, { 'tools/list': answer })).toMatchObject({ tools: [{ rawName: 't', ...tool }] });
    });

    it('offers the valid tools of a list beside broken ones, under their own names', async () => {
      const tools = [
        `{"name":"good","inputSchema":${INPUT}}`,
        '{"name":"empty","inputSchema":{}}',
        '{"name":"union","inputSchema":{"anyOf":[{"type":"object"}]}}',
        '{"name":"null","inputSchema":null}',
        '{"name":"absent"}',
        '{"name":"true","inputSchema":true}',
        `{"inputSchema":${INPUT}}`,
        'null',
        '"text"',
      ];
      const { tools: read } = await listed(way, { 'tools/list': list(`[${tools.join()}]`) });
      expect(read.map(({ rawName }) => rawName)).toEqual(['good', 'empty', 'union', 'null', 'absent', 'true', '', '', '']);
      expect(read.map(({ input }) => input['type'])).toEqual(['object', ...Array(8).fill(undefined).with(5, 'object')]);
    });

    it('offers no tools of a server with a null list, as Go writes it', async () => {
      expect(await listed(way, { 'tools/list': list('null') })).toMatchObject({ tools: [] });
    });

    it('reads a list once if its cursor repeats', async () => {
      const { tools, problems } = await listed(way, {
        'tools/list': list(`[{"name":"t","inputSchema":${INPUT}}]`, ',"nextCursor":"more"'),
      });
      expect(tools.length).toBeLessThanOrEqual(2);
      expect(problems).toEqual([expect.stringContaining('repeats itself')]);
    });

    it('keeps the tools of an endless list, and reports it', async () => {
      const { tools, problems } = await listed(way, {
        'tools/list': list(`[{"name":"t","inputSchema":${INPUT}}]`, ',"nextCursor":"page ID"'),
      });
      expect([tools.length, problems]).toEqual([500, [expect.stringContaining('more than 500 pages')]]);
    });

    it('reports a server that cannot list tools', async () => {
      const unknown = '{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found"}}';
      expect(await listed(way, { 'tools/list': unknown })).toEqual({ tools: [], problems: [expect.stringContaining('tools/list')] });
    });
  });

  it.each([
    ['whose parameters are a list', '"params":[]'],
    ['whose parameters are null', '"params":null'],
    ['with the id null', '"id":null'],
    ['with an id', '"id":"n1","params":{}'],
    ['without version', '"params":{"_meta":[]}'],
  ])('follows a change of the list %s, of a server that did not announce changes', async (_what, rest) => {
    const version = rest.includes('_meta') ? '' : '"jsonrpc":"2.0",';
    const changed = `{${version}"method":"notifications/tools/list_changed",${rest}}`;
    const connection = await open('stdio', { 'tools/call': `{"method":"notifications/odd","params":7}\n${changed}\n${DONE}` });
    let changes = 0;
    connection.onChange(() => (changes += 1));
    expect(await connection.call('t', {}, context())).toMatchObject({ content: [{ text: 'done' }] });
    await eventually(() => changes > 0, 'the change');
    await connection.close();
  });
});
