import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { SourceDefinition, type ProgressData, type StoredSource } from '#contracts';
import { DEFAULT_LIMITS, runProcess } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { mcpConnector } from '../testing/mcp-connector.js';

/** The messages with which a server answers; those of a call come all at once. */
const ANSWERS = `
const answers = ({ id, method, params }) => {
  const result = (value) => ({ jsonrpc: '2.0', id, result: value });
  if (method === 'initialize')
    return [result({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } })];
  if (method === 'tools/list') return [result({ tools: [{ name: 'steps', inputSchema: { type: 'object' } }] })];
  if (method !== 'tools/call') return [{ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }];
  const { progressToken } = params._meta;
  const step = (progress) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
  return [step(1), step(2), step(3), result({ content: [{ type: 'text', text: 'done' }] })];
};`;
const PROGRAM = `${ANSWERS}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined) process.stdout.write(answers(message).map((answer) => JSON.stringify(answer) + '\\n').join(''));
});`;

// oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion -- the same code as the program's
const answers = new Function(`${ANSWERS} return answers;`)() as (message: { id?: number }) => object[];
const folder = mkdtempSync(join(tmpdir(), 'toolyard-progress-'));
let server: Server | undefined;
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(folder, { recursive: true });
});

async function startServer(): Promise<string> {
  server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number };
    if (message.id === undefined) return void response.writeHead(202).end();
    const events = answers(message).map((answer) => `data: ${JSON.stringify(answer)}\n\n`);
    response.setHeader('content-type', 'text/event-stream').end(events.join(''));
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

it.each(['stdio', 'an event stream'])(
  'passes on progress that arrives together with the result, and charges the CPU time of a program: over %s',
  async (way) => {
    const host = way === 'stdio' ? '' : await startServer();
    const reached = way === 'stdio' ? { command: [process.execPath, '-e', PROGRAM] } : { url: `http://${host}/mcp` };
    const stored: StoredSource = {
      tenantId: 't',
      origin: 'api',
      definition: SourceDefinition.parse({ name: 'p', kind: 'mcp', ...reached }),
    };
    const connector = mcpConnector([host], { folder });
    const connection = await connector.open(stored, AbortSignal.timeout(60_000));
    await connection.list(AbortSignal.timeout(60_000));
    const steps: (number | undefined)[] = [];
    const onProgress = ({ done }: ProgressData) => void steps.push(done);
    const times: unknown[] = [];
    const onCpuTime = (ms: number | undefined) => void times.push(ms);
    const ctx = { signal: new AbortController().signal, deadline: Date.now() + 60_000, onProgress, onCpuTime } as unknown as ToolContext;
    expect(await connection.call('steps', {}, ctx)).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    expect(steps).toEqual([1, 2, 3]);
    const bare = { file: '/bin/true', args: [], cwd: '/', env: {}, limits: DEFAULT_LIMITS };
    const { cpuMs } = await runProcess(bare, { signal: AbortSignal.timeout(20_000), graceMs: 0 });
    const known = cpuMs === undefined ? undefined : expect.any(Number);
    expect(times).toEqual(way === 'stdio' ? [known] : []);
    await connection.close();
  },
);
