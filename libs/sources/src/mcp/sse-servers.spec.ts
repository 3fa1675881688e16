import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type ProgressData, type StoredSource } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { SharedConnection } from '../host/shared-connection.js';
import { usualAnswer, type HttpMcpMessage } from '../testing/http-mcp-server.js';
import { mcpConnector } from '../testing/mcp-connector.js';

type Message = HttpMcpMessage & { readonly params?: { readonly _meta?: { readonly progressToken?: number } } };
/** Writes the answer to a call; `stream`: of the client that made it. */
type Calling = (message: Message, stream: ServerResponse) => void;

const event = (data: string) => `event: message\r\ndata: ${data}\r\n\r\n`;
const USUAL: Calling = (message, stream) => void stream.write(event(usualAnswer(message)));

describe('McpConnector with a server of HTTP with SSE', () => {
  let server: Server | undefined;
  let shared: SharedConnection | undefined;
  afterEach(async () => {
    await shared?.close();
    server?.closeAllConnections();
    server?.close();
  });

  const serve = async (calling: Calling, endpoint = (session: number) => `/messages?session=${session}`) => {
    const streams = new Map<number, ServerResponse>();
    let [begun, effects] = [0, 0];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/sse' && request.method === 'GET') {
          streams.set((begun += 1), response);
          response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
          return void response.write(`: hello\r\nevent: endpoint\r\ndata: ${endpoint(begun)}\r\n\r\n`);
        }
        const stream = streams.get(Number(/session=(\d+)/.exec(request.url ?? '')?.[1]));
        if (request.method !== 'POST' || request.url === '/sse' || stream === undefined)
          return void response.writeHead(404).end('<pre>Cannot POST /sse</pre>');
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client under test wrote it
        const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
        response.writeHead(202).end('Accepted');
        if (message.method === 'tools/call') {
          effects += 1;
          calling(message, stream);
        } else if (message.id !== undefined) USUAL(message, stream);
      });
    });
    const listening = server;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at an address
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connector = mcpConnector([host]);
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', url: `http://${host}/sse` });
    const stored: StoredSource = { tenantId: 't', origin: 'api', definition };
    shared = new SharedConnection(stored, connector, { onChange: () => {}, onLost: () => {} }, () => 0);
    return { forget: () => streams.clear(), begun: () => begun, effects: () => effects };
  };
  const list = () => shared?.use((connection) => connection.list(AbortSignal.timeout(30_000)));
  const call = (onProgress: (step: ProgressData) => void = () => {}) => {
    const ctx = { signal: AbortSignal.timeout(30_000), deadline: Date.now() + 30_000, onProgress } as unknown as ToolContext;
    return shared?.use((connection) => connection.call('t', {}, ctx));
  };
  const DONE = { content: [{ type: 'text', text: 'done' }] };

  it('offers its tools and runs a call once, with all progress before the answer', async () => {
    const { effects } = await serve((message, stream) => {
      const progressToken = message.params?._meta?.progressToken;
      const steps = [1, 2].map((progress) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } }));
      stream.write([...steps.map((it) => JSON.stringify(it)), usualAnswer(message)].map(event).join(''));
    });
    expect(await list()).toMatchObject({ tools: [{ rawName: 't' }] });
    const steps: unknown[] = [];
    expect(await call(({ done }) => steps.push(done))).toMatchObject(DONE);
    expect([steps, effects()]).toEqual([[1, 2], 1]);
  });

  it('reads an answer that is odd in one place', async () => {
    await serve((message, stream) => {
      const result = { content: [{ type: 'text', text: 'done' }, { type: 'widget' }], structuredContent: null };
      stream.write(event(JSON.stringify({ id: String(message.id), result })));
    });
    expect(await call()).toMatchObject({ content: [{ text: 'done' }, { text: expect.stringContaining('left out') }] });
  });

  it('fails a call without a retry if its answer is invalid JSON, and reads a lenient one', async () => {
    let isBroken = true;
    await serve((message, stream) => {
      stream.write(event(usualAnswer(message).replace('"done"', isBroken ? 'None' : '"do\\x6ee",')));
      isBroken = false;
    });
    await expect(call()).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
    expect(await call()).toMatchObject(DONE);
  });

  it('ends a call whose stream ends, and reconnects before the next one', async () => {
    let isBroken = true;
    const { begun, effects } = await serve((message, stream) => {
      if (isBroken) stream.end();
      else USUAL(message, stream);
      isBroken = false;
    });
    await list();
    await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(call()).resolves.toMatchObject(DONE);
    expect([begun(), effects()]).toEqual([2, 2]);
  });

  it('connects again to a server that forgot the session', async () => {
    const { forget, begun, effects } = await serve(USUAL);
    expect(await call()).toMatchObject(DONE);
    forget();
    await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(call()).resolves.toMatchObject(DONE);
    expect([begun(), effects()]).toEqual([2, 2]);
  });

  it('sends no message to an address of another host', async () => {
    const { effects } = await serve(USUAL, () => 'http://127.0.0.2:9/messages?session=1');
    await expect(list()).rejects.toThrow('is no MCP server (HTTP 404)');
    expect(effects()).toBe(0);
  });
});
