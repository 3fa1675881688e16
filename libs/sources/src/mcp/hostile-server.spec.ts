import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import { DisabledSandbox } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { httpMcpServer, type Answering, type HttpMcpMessage, type HttpMcpServer } from '../testing/http-mcp-server.js';
import { mcpConnector } from '../testing/mcp-connector.js';

const SECRET = 'a secret of the operator';
const CONTEXT = { signal: new AbortController().signal, deadline: Date.now() + 60_000, onProgress: () => {} } as unknown as ToolContext;

type Message = { readonly id?: number; readonly method: string };
type Answer = { readonly result: object } | { readonly error: object };

/** A server that answers as the test says, and not as a library for servers would. */
describe('McpConnector with a hostile server', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const serve = async (answers: Record<string, (token: string) => Answer>) => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method !== 'POST') return void response.writeHead(405).end();
        const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as Message;
        if (id === undefined) return void response.writeHead(202).end();
        const answer = answers[method]?.(String(request.headers['x-token'])) ?? { error: { code: -32_601, message: 'unknown' } };
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const definition = SourceDefinition.parse({
      name: 'x',
      kind: 'mcp',
      url: `http://${host}/mcp`,
      headers: { 'x-token': { secretEnv: 'TOKEN' } },
    });
    const stored: StoredSource = { tenantId: 't', origin: 'api', definition };
    const connector = mcpConnector([host], { sandboxOf: () => new DisabledSandbox(), env: { TOKEN: SECRET } });
    return () => connector.open(stored, AbortSignal.timeout(30_000));
  };
  const initialize = () => ({
    result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
  });
  const input = { type: 'object' };

  it('checks no results with patterns that take for ever', async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const open = await serve({
      initialize,
      'tools/list': () => ({ result: { tools: [{ name: 'slow', inputSchema: input, outputSchema }] } }),
      'tools/call': () => ({ result: { content: [], structuredContent: { a: `${'a'.repeat(60)}!` } } }),
    });
    const connection = await open();
    await connection.list(AbortSignal.timeout(30_000));
    expect(await connection.call('slow', {}, CONTEXT)).toMatchObject({ structuredContent: { a: expect.any(String) } });
    await connection.close();
  });

  it('hides secrets that the server sends back in descriptions and errors', async () => {
    const open = await serve({
      initialize,
      'tools/list': (token) => ({ result: { tools: [{ name: 'one', description: `with ${token}`, inputSchema: input }] } }),
    });
    const connection = await open();
    expect(await connection.list(AbortSignal.timeout(30_000))).toMatchObject({ tools: [{ description: 'with [REDACTED]' }] });
    await connection.close();
    server.closeAllConnections();
    server.close();

    const refuse = (token: string) => ({ error: { code: -32_000, message: `no such token: ${token}` } });
    const refused = await serve({ initialize: refuse });
    await expect(refused()).rejects.toThrow(/no such token: \[REDACTED\]/);
    server.closeAllConnections();
    server.close();

    const unlisted = await serve({ initialize, 'tools/list': refuse });
    const other = await unlisted();
    await expect(other.list(AbortSignal.timeout(30_000))).rejects.toThrow(/no such token: \[REDACTED\]/);
    await other.close();
  });
});

describe('McpConnector with a server whose answers are too large', () => {
  let server: HttpMcpServer | undefined;
  afterEach(() => server?.close());

  const call = async (answering: Answering) => {
    server = await httpMcpServer(answering);
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', url: server.url });
    const connection = await mcpConnector([server.host]).open({ tenantId: 't', origin: 'api', definition }, AbortSignal.timeout(30_000));
    return connection.call('t', {}, CONTEXT).finally(() => connection.close());
  };

  it.each([
    ['bytes', `"${'x'.repeat(9_000_000)}"`],
    ['members and items', `[${'0,'.repeat(100_001)}0]`],
  ])('fails a call without a retry if its answer has too many %s, in a resumable stream', async (what, large) => {
    const asked: HttpMcpMessage[] = [];
    const answered = call((message, _request, response) => {
      if (message?.method === 'tools/call') asked.push(message);
      const [first] = asked;
      if (first === undefined || (message !== undefined && message !== first)) return false;
      const text = `{"jsonrpc":"2.0","id":${first.id},"result":{"content":${large}}}`;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: 1\nid: e1\ndata: ${text}\n\n`);
      return true;
    });
    await expect(answered).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining(what),
      options: { retryable: false },
    });
    expect(asked).toHaveLength(1);
  });

  it('shows the beginning of a long refusal', async () => {
    const refused = call((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(500).end(`odd ${'['.repeat(9_000_000)}`);
      return true;
    });
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('odd [[') });
  });
});
