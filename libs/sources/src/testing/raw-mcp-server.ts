import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const RAW_WAYS = ['json', 'sse', 'stdio'] as const;
export type RawWay = (typeof RAW_WAYS)[number];

export interface RawMcpServer {
  /** Fields of a source definition needed to reach the server. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly host: string;
  /** Bodies of the requests to run its tool, as they came. */
  readonly requests: () => readonly string[];
  /** How often its tool ran. */
  readonly effects: () => number;
  close(): void;
}

const TOOL = { name: 't', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } };
const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } };

type Message = { readonly id?: number | string; readonly method: string };

/**
 * A server of revision 2025-06-18 that writes its answer to `tools/call` byte for byte as the test says: libraries for
 * servers refuse to. `ID` in it is the id of the request. Over `stdio` a program asks this process for each answer.
 * `answers`: to other methods, in the same way.
 */
export async function rawMcpServer(
  way: RawWay,
  answer: string,
  tool: object = TOOL,
  answers: Readonly<Record<string, string>> = {},
): Promise<RawMcpServer> {
  const requests: string[] = [];
  const answerTo = ({ id, method }: Message): string => {
    const text = (rest: object) => JSON.stringify({ jsonrpc: '2.0', id, ...rest });
    const raw = Object.hasOwn(answers, method) ? answers[method] : undefined;
    if (raw !== undefined) return raw.replaceAll('ID', JSON.stringify(id));
    if (method === 'initialize') return text({ result: INITIALIZED });
    if (method === 'tools/list') return text({ result: { tools: [tool] } });
    if (method !== 'tools/call') return text({ error: { code: -32_601, message: 'unknown' } });
    return answer.replaceAll('ID', String(id));
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const body = Buffer.concat(chunks).toString();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client under test wrote it
      const message = JSON.parse(body) as Message;
      if (message.method === 'tools/call') requests.push(body);
      if (message.id === undefined) return void response.writeHead(202).end();
      const text = answerTo(message);
      if (way !== 'sse') response.setHeader('content-type', 'application/json').end(text);
      else response.setHeader('content-type', 'text/event-stream').end(text.replace(/^/gm, 'data: ').concat('\n\n'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at an address
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}/mcp`;
  return {
    definition: way === 'stdio' ? { command: [process.execPath, '--input-type=module', '-e', PROGRAM, url] } : { url },
    host,
    requests: () => requests,
    effects: () => requests.length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Passes each line on to the server, and its answer back as one line. */
const PROGRAM = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const body = await (await fetch(process.argv[1], { method: 'POST', body: line })).text();
  if (body !== '') process.stdout.write(body + '\\n');
}`;
