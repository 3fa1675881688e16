import { afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { httpMcpServer, type HttpMcpServer } from '../testing/http-mcp-server.js';
import { mcpConnector } from '../testing/mcp-connector.js';

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
const TOOL = { name: 't', inputSchema: { type: 'object' } };
const LISTED = { resultType: 'complete', tools: [TOOL], ttlMs: 0, cacheScope: 'private' };
const CALLED = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

/** Servers of revision 2026-07-28 alone, which know no `initialize`. */
describe('McpConnector with a server of the newest revision that is odd in one place', () => {
  let server: HttpMcpServer | undefined;
  afterEach(() => server?.close());

  /** Tools of the server, and the answer of the first one. */
  const used = async (answers: Readonly<Record<string, object>>) => {
    const results: Record<string, object> = { 'server/discover': DISCOVERED, 'tools/list': LISTED, 'tools/call': CALLED, ...answers };
    server = await httpMcpServer((message, _request, response) => {
      const { id, method = '' } = message ?? {};
      const result = results[method];
      const body = result === undefined ? { error: { code: -32_601, message: 'unknown' } } : { result };
      response.writeHead(result === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
      return true;
    });
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', url: server.url });
    const stored = { tenantId: 't', origin: 'api', definition } as const;
    const connection = await mcpConnector([server.host]).open(stored, AbortSignal.timeout(20_000));
    const ctx = { signal: AbortSignal.timeout(20_000), deadline: Date.now() + 20_000, onProgress: () => {} } as unknown as ToolContext;
    try {
      const { tools, problems } = await connection.list(AbortSignal.timeout(20_000));
      return { names: tools.map(({ rawName }) => rawName), problems, output: await connection.call('t', {}, ctx) };
    } finally {
      await connection.close();
    }
  };
  const USED = { names: ['t'], problems: undefined, output: { content: [{ type: 'text', text: 'done' }] } };

  it.each<[string, Readonly<Record<string, object>>]>([
    ['nothing odd', {}],
    ['a list without ttlMs and cacheScope', { 'tools/list': { tools: [TOOL] } }],
    ['a ttlMs that is null', { 'tools/list': { ...LISTED, ttlMs: null } }],
    ['a ttlMs that is a text', { 'tools/list': { ...LISTED, ttlMs: '60000' } }],
    ['a ttlMs with a fraction', { 'tools/list': { ...LISTED, ttlMs: 0.5 } }],
    ['a ttlMs below zero', { 'tools/list': { ...LISTED, ttlMs: -1 } }],
    ['a cacheScope of its own', { 'tools/list': { ...LISTED, cacheScope: 'tenant' } }],
    ['a list whose resultType is null', { 'tools/list': { ...LISTED, resultType: null } }],
    ['a list whose resultType is of its own', { 'tools/list': { ...LISTED, resultType: 'list' } }],
    ['no capabilities', { 'server/discover': { ...DISCOVERED, capabilities: undefined } }],
    ['capabilities that are a list', { 'server/discover': { ...DISCOVERED, capabilities: [] } }],
    ['no capability of tools', { 'server/discover': { ...DISCOVERED, capabilities: {} } }],
    ['an odd capability', { 'server/discover': { ...DISCOVERED, capabilities: { tools: {}, prompts: 7, extensions: [] } } }],
    ['odd instructions', { 'server/discover': { ...DISCOVERED, instructions: ['a'] } }],
    ['instructions that are null', { 'server/discover': { ...DISCOVERED, instructions: null } }],
    ['odd metadata', { 'server/discover': { ...DISCOVERED, _meta: 'x' }, 'tools/list': { ...LISTED, _meta: [] } }],
    ['a version that is a text', { 'server/discover': { ...DISCOVERED, supportedVersions: '2026-07-28' } }],
    ['a version that is a number', { 'server/discover': { ...DISCOVERED, supportedVersions: [7, '2026-07-28'] } }],
    ['a result without resultType', { 'tools/call': { content: CALLED.content } }],
  ])('offers and runs its tool: %s', async (_what, answers) => {
    expect(await used(answers)).toEqual(USED);
  });
});
