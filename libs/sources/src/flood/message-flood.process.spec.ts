import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { mcpConnector } from '../testing/mcp-connector.js';
import { StdioTransport } from '../mcp/stdio-transport.js';
import { executeAttempt } from '#attempts';
import { WorkerParts } from '../../../../test/support/worker-parts.js';
import { MessageBudget } from '#timing';

const NOTE = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } });
/** A message that costs as much as 188 small ones: a busy machine reads more of them in a second than the budget has. */
const LARGE = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: Array(6_000).fill(1) } });
const FLOOD = 4_000;
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'f', version: '1' } };
const RESULTS: Readonly<Record<string, object>> = {
  initialize: INITIALIZED,
  'tools/list': { tools: [{ name: 'flood', inputSchema: { type: 'object' } }] },
};
const DONE = { content: [{ type: 'text', text: 'done' }] };

/** Answers over standard input and output; a call is answered after the flood. */
const PROGRAM = `
const results = ${JSON.stringify(RESULTS)};
require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method } = JSON.parse(line);
  const say = (rest) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...rest }) + '\\n');
  if (id === undefined) return;
  if (method !== 'tools/call') return say(method in results ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } });
  const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: Array(6000).fill(1) } }) + '\\n';
  const notes = note.repeat(10);
  for (let sent = 0; sent < ${FLOOD}; sent += 10)
    if (!process.stdout.write(notes)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  say({ result: ${JSON.stringify(DONE)} });
});`;

/** The same over HTTP, as an event stream. */
async function floodingServer(): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const text = (rest: object) => JSON.stringify({ jsonrpc: '2.0', id, ...rest });
    if (method !== 'tools/call') {
      const result = RESULTS[method];
      const answer = result === undefined ? { error: { code: -32_601, message: 'unknown' } } : { result };
      return void response.setHeader('content-type', 'application/json').end(text(answer));
    }
    response.setHeader('content-type', 'text/event-stream');
    const notes = `data: ${LARGE}\n\n`.repeat(10);
    Readable.from([...Array<string>(FLOOD / 10).fill(notes), `data: ${text({ result: DONE })}\n\n`]).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Two pieces of 4 KiB, of messages of at least 15 bytes, may meet between two turns of the count. */
const MOST_A_TURN = 550;

/** Counts messages between two turns of the event loop; `stop` answers the most. */
function countTurns(): { handled(): void; stop(): number } {
  let sinceTurn = 0;
  let longest = 0;
  let isCounting = true;
  const count = () => {
    sinceTurn = 0;
    if (isCounting) setImmediate(count);
  };
  count();
  return {
    handled: () => void (longest = Math.max(longest, ++sinceTurn)),
    stop: () => {
      isCounting = false;
      return longest;
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'toolyard-flood-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['messages', NOTE, 10_000],
  ['batches', `[${Array(50).fill('{"method":"a"}').join(',')}]`, 200],
  ['batches of requests', `[${Array(50).fill('{"id":1,"method":"a"}').join(',')}]`, 60],
])('handles %s of a flood in pieces, with turns for others between them', async (_what, line, lines) => {
  const notes = lines * (line.startsWith('[') ? 50 : 1);
  const program = `process.stdout.write(${JSON.stringify(`${line}\n`)}.repeat(${lines})); process.stdin.resume()`;
  const command = { file: process.execPath, args: ['-e', program], cwd: folder, env: {} };
  const transport = new StdioTransport(command, new MessageBudget(() => 0));
  const turns = countTurns();
  let messages = 0;
  const all = new Promise<void>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    transport.onmessage = () => {
      turns.handled();
      messages += 1;
      if (messages === notes) resolve();
    };
  });
  await transport.start();
  await all;
  await transport.close();
  expect(turns.stop()).toBeLessThanOrEqual(MOST_A_TURN);
});

it('ends a call of another tenant beside an MCP server that floods without end', async () => {
  const program = `
    const notes = '{"method":"a"}\\n'.repeat(4096);
    const flood = () => { while (process.stdout.write(notes)); process.stdout.once('drain', flood); };
    flood();`;
  let now = 0;
  // A clock by which no sender is too fast.
  const budget = new MessageBudget(() => (now += 1));
  const transport = new StdioTransport({ file: process.execPath, args: ['-e', program], cwd: folder, env: {} }, budget);
  const turns = countTurns();
  const flooding = new Promise<void>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    transport.onmessage = () => {
      turns.handled();
      resolve();
    };
  });
  const parts = await WorkerParts.start();
  parts.tool('echo', { run: () => 'done' });
  const callId = await parts.submit('echo');
  await transport.start();
  await flooding;
  await executeAttempt({ callId, attempt: 1 }, 'read', parts.worker());
  expect(await parts.store.read(callId)).toMatchObject({ outcome: 'completed' });
  expect(budget.exceeded).toBeUndefined();
  await transport.close();
  await parts.close();
  expect(turns.stop()).toBeLessThanOrEqual(MOST_A_TURN);
});

describe('a server that floods', () => {
  let server: Server | undefined;
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it.each(['stdio', 'an event stream'])('stops a server that floods, and does not start it again at once: over %s', async (way) => {
    let host = '';
    if (way !== 'stdio') {
      server = await floodingServer();
      host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    }
    const reached = way === 'stdio' ? { command: [process.execPath, '-e', PROGRAM] } : { url: `http://${host}/mcp` };
    const stored: StoredSource = {
      tenantId: 't',
      origin: 'api',
      definition: SourceDefinition.parse({ name: 'f', kind: 'mcp', ...reached }),
    };
    const connector = mcpConnector([host], { folder });
    const connection = await connector.open(stored, AbortSignal.timeout(60_000));
    const closed = new Promise<string>((resolve) => connection.onClosed(resolve));
    await connection.list(AbortSignal.timeout(60_000));
    const ctx = { signal: new AbortController().signal, deadline: Date.now() + 120_000, onProgress: () => {} } as unknown as ToolContext;
    const called = connection.call('flood', {}, ctx).then(
      (output) => `answered ${JSON.stringify(output)}`,
      (error: unknown) => `failed ${String(error)}`,
    );
    expect(await called).toMatch(/^failed /);
    expect(await closed).toMatch(/more than \d+ messages a second/);
    await expect(connector.open(stored, AbortSignal.timeout(60_000))).rejects.toThrow('too many messages');
    await connection.close();
  });
});
