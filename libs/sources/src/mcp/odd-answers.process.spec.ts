import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { mcpConnector } from '../testing/mcp-connector.js';
import { RAW_WAYS, rawMcpServer, type RawMcpServer, type RawWay } from '../testing/raw-mcp-server.js';

const text = (said: string | RegExp) => ({ type: 'text', text: typeof said === 'string' ? said : expect.stringMatching(said) });
const LEFT_OUT = /left out/;

const PNG = 'iVBORw0KGgoAAAANSUhEUg==';

/** Result of the tool as its server writes it, and what the model reads of it. */
const RESULTS: readonly (readonly [what: string, result: string, output: object])[] = [
  ['structured content alone', '{"structuredContent":{"rows":3}}', { content: [text('{"rows":3}')], structuredContent: { rows: 3 } }],
  [
    'a part of an unknown type',
    '{"content":[{"type":"text","text":"done"},{"type":"widget","html":"x"}]}',
    { content: [text('done'), text(/left out.*"widget"/)] },
  ],
  ['an error without content', '{"isError":true}', { content: [text(/error/)], isError: true }],
  ['an error with empty content', '{"content":[],"isError":true}', { content: [text(/error/)], isError: true }],
  ['content that is null', '{"content":null}', { content: [text(/without content/)] }],
  ['content that is an object', '{"content":{"type":"text","text":"done"}}', { content: [text('done')] }],
  ['content that is a text', '{"content":"done"}', { content: [text('done')] }],
  ['content of texts', '{"content":["one","two"]}', { content: [text('one'), text('two')] }],
  [
    'parts that are no objects',
    '{"content":[null,7,{"type":"text","text":"done"}]}',
    { content: [text('done'), text(LEFT_OUT), text(LEFT_OUT)] },
  ],
  ['a part without a type', '{"content":[{"text":"done"}]}', { content: [text('done')] }],
  ['a text part without text', '{"content":[{"type":"text"},{"type":"text","text":"done"}]}', { content: [text('done'), text(LEFT_OUT)] }],
  [
    'an image without its type',
    '{"content":[{"type":"image","data":"aGk="},{"type":"text","text":"x"}]}',
    { content: [text('x'), text(LEFT_OUT)] },
  ],
  ['a link without address', '{"content":[{"type":"resource_link","name":"a"}]}', { content: [text(LEFT_OUT)] }],
  ['a link without name', '{"content":[{"type":"resource_link","uri":"a:b"}]}', { content: [{ type: 'resource_link', uri: 'a:b' }] }],
  [
    'a resource without content',
    '{"content":[{"type":"resource","resource":{"uri":"a:b"}},{"type":"text","text":"x"}]}',
    { content: [text('x'), text(LEFT_OUT)] },
  ],
  ['odd annotations', '{"content":[{"type":"text","text":"done","annotations":{"priority":9},"_meta":7}]}', { content: [text('done')] }],
  ['odd metadata', '{"content":[{"type":"text","text":"done"}],"_meta":"x"}', { content: [text('done')] }],
  ['a list as structured content', '{"content":[],"structuredContent":[1,2]}', { structuredContent: { items: [1, 2] } }],
  ['a text as structured content', '{"content":[{"type":"text","text":"x"}],"structuredContent":"x"}', { content: [text('x')] }],
  ['a null as structured content', '{"content":[{"type":"text","text":"x"}],"structuredContent":null}', { content: [text('x')] }],
  ['an error flag that is a text', '{"content":"no","isError":"true"}', { content: [text('no')], isError: true }],
  ['an error flag as Python writes it', '{"content":"no","isError":"True"}', { content: [text('no')], isError: true }],
  ['a text that is a number', '{"content":[{"type":"text","text":7}]}', { content: [text('7')] }],
  ['a text that is an object', '{"content":[{"type":"text","text":{"rows":3}}]}', { content: [text('{"rows":3}')] }],
  ['a list in the list', '{"content":[[{"type":"text","text":"done"}]]}', { content: [text('done')] }],
  ['extra fields', '{"content":[{"type":"text","text":"done","odd":{}}],"odd":[1]}', { content: [text('done')] }],
  [
    'an image as a data URL',
    `{"content":[{"type":"image","data":"data:image/png;base64,${PNG}"}]}`,
    { content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] },
  ],
  [
    'an image whose type its bytes say',
    `{"content":[{"type":"image","data":"${PNG}","mimeType":null}]}`,
    { content: [{ type: 'image', mimeType: 'image/png' }] },
  ],
  [
    'an image in lines of base64 for addresses',
    '{"content":[{"type":"image","mimeType":"image/png","data":"_-8A\\nAQI"}]}',
    { content: [{ type: 'image', data: '/+8AAQI=' }] },
  ],
  [
    'an image that is no base64',
    '{"content":[{"type":"image","mimeType":"image/png","data":"<svg/>"},"x"]}',
    { content: [text('x'), text(/left out.*data/)] },
  ],
  [
    'audio whose type its bytes say',
    '{"content":[{"type":"audio","data":"UklGRiQAAABXQVZFZm10IA=="}]}',
    { content: [{ type: 'audio', mimeType: 'audio/wav' }] },
  ],
  [
    'audio without data',
    '{"content":[{"type":"audio","data":null,"mimeType":"audio/wav"},"x"]}',
    { content: [text('x'), text(/left out.*data/)] },
  ],
  [
    'a resource without its type',
    '{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x"}}]}',
    { content: [{ resource: { uri: 'a:b', text: 'x' } }] },
  ],
  [
    'a resource whose type is a number',
    '{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x","mimeType":7}}]}',
    { content: [{ resource: { uri: 'a:b', text: 'x' } }] },
  ],
  [
    'a resource that is no base64',
    '{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"<>"}},"x"]}',
    { content: [text('x'), text(/left out.*blob/)] },
  ],
  [
    'a link with odd facts',
    '{"content":[{"type":"resource_link","uri":"a:b","name":7,"size":"9","description":{},"mimeType":[]}]}',
    { content: [{ type: 'resource_link', uri: 'a:b' }] },
  ],
  ['a result of its own', '{"rows":3}', { content: [text('{"rows":3}')] }],
  ['the result of the first revision', '{"toolResult":{"rows":3}}', { content: [text('{"rows":3}')] }],
  ['an unknown kind of result', '{"resultType":"odd","content":"done"}', { content: [text('done')] }],
  ['a result that is a text', '"done"', { content: [text('done')] }],
  ['a result that is a list', '[{"type":"text","text":"done"}]', { content: [text('done')] }],
  ['a result that is null', 'null', { content: [text(/without content/)] }],
];

/** Answer of the server as it writes it, with `ID` for the id of the request. */
const FAILURES: readonly (readonly [what: string, answer: string])[] = [
  ['an error', '{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"it broke"}}'],
  ['an error that is a text', '{"jsonrpc":"2.0","id":ID,"error":"it broke"}'],
  ['an error in a list', '{"jsonrpc":"2.0","id":ID,"error":["it broke"]}'],
  ['an error whose message is an object', '{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":{"text":"it broke"}}}'],
  ['an error beside a result', '{"jsonrpc":"2.0","id":ID,"result":{"content":"x"},"error":{"code":1,"message":"it broke"}}'],
  ['an error with fields of its own', '{"jsonrpc":"2.0","id":ID,"odd":1,"error":{"code":1.5,"message":"it broke","data":null,"odd":{}}}'],
  ['an error without code', '{"jsonrpc":"2.0","id":ID,"error":{"message":"it broke"}}'],
  ['an error whose code is a text', '{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"it broke"}}'],
];

describe('McpConnector with odd answers after an effect', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-odd-'));
  let server: RawMcpServer | undefined;
  afterEach(() => server?.close());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const call = async (way: RawWay, answer: string) => {
    server = await rawMcpServer(way, answer);
    const connector = mcpConnector([server.host], { folder });
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', ...server.definition });
    const connection = await connector.open({ tenantId: 't', origin: 'config', definition }, AbortSignal.timeout(30_000));
    const signal = AbortSignal.timeout(20_000);
    const ctx = { signal, deadline: Date.now() + 20_000, onProgress: () => {} } as unknown as ToolContext;
    try {
      return await connection.call('t', {}, ctx);
    } finally {
      expect(server.effects()).toBe(1);
      await connection.close();
    }
  };

  describe.each(RAW_WAYS)('over %s', (way) => {
    it.each(RESULTS)('gives the model the readable parts of %s from an MCP server', async (_what, result, output) => {
      expect(await call(way, `{"jsonrpc":"2.0","id":ID,"result":${result}}`)).toMatchObject(output);
    });

    it.each(FAILURES)('fails a call without a retry if an MCP server answers with %s', async (_what, answer) => {
      await expect(call(way, answer)).rejects.toMatchObject({
        code: 'tool_failed',
        message: expect.stringContaining('it broke'),
        options: { retryable: false },
      });
    });

    it('accepts an MCP answer without version and with a text id', async () => {
      expect(await call(way, '{"id":"ID","result":{"content":"done"}}')).toMatchObject({ content: [text('done')] });
    });

    it.each([
      ['items', `"result":{"content":[${'0,'.repeat(100_001)}0]}`],
      ['lists', `"result":{"structuredContent":{"a":[${'[],'.repeat(50_001)}0]}}`],
      ['members, before its id', `"result":{${Array.from({ length: 100_001 }, (_, index) => `"m${index}":1`).join()}},"id":ID`],
    ])('fails a call without a retry if an MCP server answers with too many %s', async (_what, rest) => {
      const answer = rest.endsWith('ID') ? `{"jsonrpc":"2.0",${rest}}` : `{"jsonrpc":"2.0","id":ID,${rest}}`;
      const tooMany = { code: 'tool_failed', options: { retryable: false }, message: expect.stringContaining('100000 members and items') };
      await expect(call(way, answer)).rejects.toMatchObject(tooMany);
    });

    it('fails a call without a retry if its answer has too many members and no id at either end', async () => {
      const answer = `{"_meta":[${'0,'.repeat(100_001)}0],"id":ID,"result":{"content":"x"}}`;
      await expect(call(way, answer)).rejects.toMatchObject({ options: { retryable: false } });
    });

    it('fails a call without a retry if an MCP answer exceeds the limits of a message', async () => {
      const long = `{"jsonrpc":"2.0","id":ID,"result":{"content":"${'a'.repeat(9_000_000)}"}}`;
      await expect(call(way, long)).rejects.toMatchObject({ options: { retryable: false }, message: expect.stringContaining('8388608') });
    });
  });

  it.each([
    ['that is no JSON', 'json', 'done'],
    ['that breaks off', 'json', '{"jsonrpc":"2.0","id":ID,"resu'],
    ['that is empty', 'json', ''],
    ['whose event is no JSON', 'sse', 'done'],
    ['whose stream ends without it', 'sse', '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'],
  ] as const)('fails a call without a retry for an MCP answer %s', async (_what, way, answer) => {
    await expect(call(way, answer)).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
  });
});
