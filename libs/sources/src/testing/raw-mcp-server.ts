import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `stream`: HTTP with SSE of revision 2024-11-05, where all answers come on one stream. */
export const RAW_WAYS = ['json', 'sse', 'stream', 'stdio'] as const;
export type RawWay = (typeof RAW_WAYS)[number];

export interface RawMcpServer {
  /** Fields of a source definition needed to reach the server. */
  readonly definition: Readonly<Record<string, unknown>>;
  /** Host and port, or the socket of the program over `stdio`. */
  readonly host: string;
  /** Bodies of the requests to run its tool, as they came. */
  readonly requests: () => readonly string[];
  /** How often its tool ran. */
  readonly effects: () => number;
  close(): void;
}

const TOOL = { name: 't', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } };
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } };

type Message = {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly arguments?: Readonly<Record<string, unknown>> };
};

/**
 * A server of revision 2025-06-18 that writes `answer` to `tools/call` byte for byte; `ID` in it stands for the id of the
 * request. Libraries for servers send no invalid answers. Over `stdio` a small program asks this process for each answer.
 * `answers`: by method, the same for other methods.
 */
export async function rawMcpServer(
  way: RawWay,
  answer: string | ((args: Readonly<Record<string, unknown>>) => string),
  tool: object = TOOL,
  answers: Readonly<Record<string, string>> = {},
): Promise<RawMcpServer> {
  const requests: string[] = [];
  const answerTo = ({ id, method, params }: Message): string => {
    const text = (rest: object) => JSON.stringify({ jsonrpc: '2.0', id, ...rest });
    const raw = Object.hasOwn(answers, method) ? answers[method] : undefined;
    if (raw !== undefined) return raw.replaceAll('ID', JSON.stringify(id));
    if (method === 'initialize') return text({ result: INITIALIZED });
    if (method === 'tools/list') return text({ result: { tools: [tool] } });
    if (method !== 'tools/call') return text({ error: { code: -32_601, message: 'unknown' } });
    return (typeof answer === 'string' ? answer : answer(params?.arguments ?? {})).replaceAll('ID', String(id));
  };
  const streams: ServerResponse[] = [];
  const eventOf = (text: string) => text.replace(/^/gm, 'data: ').concat('\n\n');
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (way === 'stream' && request.method === 'GET') {
        response.setHeader('content-type', 'text/event-stream');
        return void response.write(`event: endpoint\ndata: /messages?session=${streams.push(response) - 1}\n\n`);
      }
      const stream = streams[Number(request.url?.split('=')[1])];
      if (request.method !== 'POST' || (way === 'stream' && stream === undefined)) return void response.writeHead(405).end();
      const body = Buffer.concat(chunks).toString();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client under test wrote it
      const message = JSON.parse(body) as Message;
      if (message.method === 'tools/call') requests.push(body);
      if (message.id === undefined) return void response.writeHead(202).end();
      const text = answerTo(message);
      if (stream !== undefined) {
        response.writeHead(202).end('Accepted');
        stream.write(eventOf(text));
      } else if (way === 'sse') response.setHeader('content-type', 'text/event-stream').end(eventOf(text));
      else response.setHeader('content-type', 'application/json').end(text);
    });
  });
  // A sandbox has no network of its host, but the files that a source names.
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-raw-'));
  const socket = join(folder, 'mcp.sock');
  await new Promise<void>((resolve) => (way === 'stdio' ? server.listen(socket, resolve) : server.listen(0, '127.0.0.1', resolve)));
  // Programs in a sandbox have another user.
  if (way === 'stdio') for (const path of [folder, socket]) chmodSync(path, 0o777);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at an address
  const host = way === 'stdio' ? socket : `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = { command: [process.execPath, '--input-type=module', '-e', PROGRAM, socket], paths: [folder] };
  return {
    definition: way === 'stdio' ? program : { url: `http://${host}/mcp` },
    host,
    requests: () => requests,
    effects: () => requests.length,
    close: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Passes each line on to the server, and its answer back as one line. */
const PROGRAM = `
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
const asked = (body) => new Promise((done, fail) =>
  request({ socketPath: process.argv[1], method: 'POST', path: '/mcp' }, (answer) => done(text(answer))).on('error', fail).end(body));
for await (const line of createInterface({ input: process.stdin })) {
  const body = await asked(line);
  if (body !== '') process.stdout.write(body + '\\n');
}`;
