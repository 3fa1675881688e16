import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errors, request as send } from 'undici';
import { eventually } from './eventually.js';
import { freePort } from './free-port.mjs';

/** Request received by a mock, with its violations of the document. */
export interface CheckedRequest {
  readonly method: string;
  readonly url: string;
  readonly violations: readonly unknown[];
  readonly status: number;
}

export interface ValidatingMock {
  readonly url: string;
  readonly requests: CheckedRequest[];
  close(): void;
}

/** Prism answers for the API of a document and says which requests do not fit it. Before it, a server that remembers. */
export async function startValidatingMock(file: string): Promise<ValidatingMock> {
  const port = await freePort();
  const prism = spawn('node_modules/.bin/prism', ['mock', file, '--port', String(port), '--verboseLevel', 'error'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const output of [prism.stdout, prism.stderr]) output.on('data', (chunk: Buffer) => (log = (log + String(chunk)).slice(-16_384)));
  const requests: CheckedRequest[] = [];
  const server = createServer((request, response) => {
    const answer = async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = 'GET', url = '/', headers } = request;
      const { host: _host, connection: _connection, 'content-length': _length, 'transfer-encoding': _encoding, ...sent } = headers;
      // Prism closes some connections after its answer without saying so: each request gets one of its own.
      const options = { method, headers: sent, body: Buffer.concat(chunks), reset: true };
      const answered = await send(`http://127.0.0.1:${port}${url}`, options);
      const text = await answered.body.text().catch((error: unknown) => {
        // Prism gives answers without content the length of one.
        if (error instanceof errors.ResponseContentLengthMismatchError) return '';
        throw error;
      });
      const { statusCode: status } = answered;
      requests.push({ method, url, status, violations: requestViolations(String(answered.headers['sl-violations'] ?? '[]'), text) });
      response.writeHead(status < 300 ? status : 200, { 'content-type': 'text/plain' }).end('seen');
    };
    answer().catch((error: unknown) => response.writeHead(500).end(`${String(error)}\n${log}`));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    prism.kill();
    server.closeAllConnections();
    server.close();
  };
  try {
    await eventually(async () => {
      if (prism.exitCode !== null) throw new Error(`Prism ended with ${prism.exitCode}:\n${log}`);
      return (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) !== undefined;
    }, 'Prism to answer');
  } catch (error) {
    close();
    throw error;
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close };
}

/** Prism names violations in a header; a request that no operation takes, or without its body, gets a problem of Prism's own. */
function requestViolations(header: string, body: string): unknown[] {
  // Long lists are only counted in the header; those of a request are then in the body.
  const isList = header.startsWith('[');
  const violations = isList ? (JSON.parse(header) as { readonly location: readonly string[] }[]) : [];
  const problem = body.includes('stoplight.io/prism/errors') && !body.includes('#NO_RESPONSE') ? [body] : [];
  return [...violations.filter(({ location }) => location[0] === 'request'), ...problem];
}
