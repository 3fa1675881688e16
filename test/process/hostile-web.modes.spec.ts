import { createServer as createHttpServer, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { withoutWaitingLines } from '../support/waiting-lines.js';

const MIB = 1_048_576;
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n';

/** Writes what `piece` gives, as fast as it is taken or one each tick, until the other side is gone. */
function pour(socket: Socket, piece: string | Buffer, each?: number): void {
  const again = () => {
    if (socket.destroyed) return;
    const goOn = socket.write(piece);
    if (each !== undefined) setTimeout(again, each);
    else if (goOn) setImmediate(again);
    else socket.once('drain', again);
  };
  again();
}

function whole(body: string | Buffer, head = 'content-type: text/plain; charset=utf-8'): Buffer {
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`),
    Buffer.from(body),
  ]);
}

const BOMB = gzipSync(Buffer.alloc(300 * MIB, 'bomb '));
const HUGE_PAGE = `<title>huge</title>${'<table><tr><td><b>'.repeat(100_000)}the end`;

/** Behaviour of the server on a connection that requested the path. */
const ANSWERS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  '/loop': (socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n'),
  '/ping': (socket) => socket.end('HTTP/1.1 307 Temporary Redirect\r\nlocation: /pong\r\ncontent-length: 0\r\n\r\n'),
  '/pong': (socket) => socket.end('HTTP/1.1 308 Permanent Redirect\r\nlocation: /ping\r\ncontent-length: 0\r\n\r\n'),
  '/inside': (socket) => socket.end(`HTTP/1.1 302 Found\r\nlocation: http://${inside.host}/\r\ncontent-length: 0\r\n\r\n`),
  '/drip': (socket) => (socket.write(`${OK}content-length: 1000000\r\n\r\n`), pour(socket, 'x', 20)),
  '/drip-head': (socket) => (socket.write('HTTP/1.1 200 OK\r\n'), pour(socket, 'x', 20)),
  '/silence': () => undefined,
  '/hints': (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  '/endless-head': (socket) => (socket.write('HTTP/1.1 200 OK\r\n'), pour(socket, `x-${'a'.repeat(100)}: ${'b'.repeat(4_000)}\r\n`)),
  '/endless-line': (socket) => (socket.write('HTTP/1.1 200 OK\r\nx-a: '), pour(socket, 'b'.repeat(65_536))),
  '/endless-body': (socket) => (socket.write(`${OK}\r\n`), pour(socket, 'b'.repeat(65_536))),
  '/endless-extension': (socket) => (socket.write(`${OK}transfer-encoding: chunked\r\n\r\n5;`), pour(socket, 'e'.repeat(65_536))),
  '/bomb': (socket) => socket.end(whole(BOMB, 'content-type: text/plain\r\ncontent-encoding: gzip')),
  '/bomb-page': (socket) => socket.end(whole(BOMB, 'content-type: text/html\r\ncontent-encoding: gzip')),
  '/too-short': (socket) => socket.end(`${OK}content-length: 1000\r\n\r\nonly this`),
  '/too-long': (socket) => socket.end(`${OK}content-length: 4\r\n\r\nonly this, and HTTP/1.1 200 OK\r\n\r\nmore`),
  '/huge-length': (socket) => socket.end(`${OK}content-length: 99999999999999999999\r\n\r\nonly this`),
  '/two-lengths': (socket) => socket.end(`${OK}content-length: 4\r\ncontent-length: 9\r\n\r\nonly this`),
  '/utf-7': (socket) => socket.end(whole('+ADw-script+AD4-', 'content-type: text/html; charset=utf-7')),
  '/no-charset': (socket) => socket.end(whole('plain', `content-type: text/plain; charset=${'x'.repeat(2_000)}`)),
  '/wrong-charset': (socket) => socket.end(whole(Buffer.from('caf\xe9 \xff\xfe', 'latin1'), 'content-type: text/plain; charset=utf-8')),
  '/odd-utf-16': (socket) => socket.end(whole(Buffer.from([0x61, 0, 0x62, 0, 0x63]), 'content-type: text/plain; charset=utf-16le')),
  '/huge-page': (socket) => socket.end(whole(HUGE_PAGE, 'content-type: text/html')),
  '/header-of-lines': (socket) => socket.end(whole('body', 'content-type: text/plain\r\nx-folded: a\r\n b')),
  '/no-http': (socket) => socket.end('SSH-2.0-OpenSSH\r\n'),
};

let inside: { readonly server: Server; readonly host: string; readonly asked: string[] };
const heads: string[] = [];

describe('web tools before a hostile server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-hostile-web-'));
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
    socket.once('data', (chunk) => {
      const [line = ''] = chunk.toString('latin1').split('\r\n');
      const [, path = ''] = line.split(' ');
      heads.push(chunk.toString('latin1'));
      const [, size] = /^\/text\/(\d+)$/.exec(path) ?? [];
      const [, end] = /^\/ends\/(\d+)$/.exec(path) ?? [];
      if (size !== undefined) socket.end(whole('q '.repeat(Number(size)).slice(0, Number(size))));
      else if (end !== undefined) socket.end(whole(`${'filler\n\n'.repeat(Number(end) / 8)}needle\n`));
      else (ANSWERS[path] ?? (() => socket.end(whole('hello'))))(socket);
    });
  });
  let toolyard: TestCluster;
  let agent: Agent;
  let origin: string;

  beforeAll(async () => {
    const asked: string[] = [];
    const hidden = createHttpServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('secret of the inside');
    });
    hidden.listen(0, '127.0.0.2');
    server.listen(0, '127.0.0.1');
    await Promise.all([once(hidden, 'listening'), once(server, 'listening')]);
    inside = { server: hidden, asked, host: `127.0.0.2:${(hidden.address() as AddressInfo).port}` };
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    origin = `http://${host}`;
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ policy: { egress: { privateHosts: [host] } } }));
    toolyard = await startTestCluster({ env: { TOOLYARD_CONFIG: config, EGRESS_ALLOW_HOSTS: host } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    inside.server.close();
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const get = (tool: string, path: string, more: Record<string, unknown> = {}, args: object = {}): Promise<Call> =>
    agent.run(tool, { url: origin + path, ...args }, more);
  const ended = ({ outcome, error }: Call) => [outcome, error?.code, error?.message?.split('\n')[0]];
  const hungUp = () => eventually(() => open.size === 0, 'the worker to hang up');

  it.each([
    ['/loop', /more than 10 redirects$/],
    ['/ping', /more than 10 redirects$/],
  ])('ends a loop of redirects: %s', async (path, message) => {
    expect(ended(await get('web_fetch', path))).toEqual(['failed', 'tool_failed', expect.stringMatching(message)]);
  });

  it('follows no redirect to a private address, and none at all in http_request', async () => {
    expect(ended(await get('web_fetch', '/inside'))).toEqual([
      'denied',
      'policy_denied',
      expect.stringMatching(/^Blocked: 127\.0\.0\.2 is/),
    ]);
    expect(textOf(await get('http_request', '/inside'))).toMatch(
      /^.*Status: 302 Found\nResponse Headers: location: http:\/\/127\.0\.0\.2/s,
    );
    expect(inside.asked).toEqual([]);
  });

  it('ends a request to a slow hostile server at its deadline, and disconnects', async () => {
    const calls = ['/drip', '/drip-head', '/silence'].flatMap((path) =>
      ['web_fetch', 'http_request'].map((tool) => get(tool, path, { timeouts: { runMs: 500 } })),
    );
    for (const call of await Promise.all(calls)) expect([call.outcome, call.error?.code]).toEqual(['timed_out', 'run_timeout']);
    await hungUp();
  });

  it.each(['/hints', '/endless-extension'])('disconnects a server that sends an endless invalid body: %s', async (path) => {
    expect(ended(await get('http_request', path))).toEqual(['failed', 'tool_failed', 'Could not fetch: the server sent too much']);
    await hungUp();
  });

  it.each(['/endless-head', '/endless-line'])('refuses an endless header of a hostile server: %s', async (path) => {
    for (const tool of ['web_fetch', 'http_request'])
      expect(ended(await get(tool, path))).toEqual([
        'failed',
        'tool_failed',
        expect.stringMatching(/the header of the answer is too large/),
      ]);
    await hungUp();
  });

  it.each([
    ['web_fetch', '/endless-body', true],
    ['http_request', '/endless-body', true],
    ['web_fetch', '/bomb', true],
    ['http_request', '/bomb', true],
    ['web_fetch', '/bomb-page', true],
  ])('returns by %s only the beginning of the endless answer %s', async (tool, path, truncated) => {
    const call = await get(tool, path);
    expect(call).toMatchObject({ outcome: 'completed', result: { details: { truncated } } });
    await hungUp();
  });

  it.each([
    ['/too-short', /the connection was closed too early$/],
    ['/huge-length', /: the body is not as long as its header says$/],
    ['/two-lengths', /: the body is not as long as its header says$/],
    ['/no-http', /: the answer is not HTTP$/],
  ])('fails with one error for %s, a lie or no HTTP', async (path, message) => {
    const calls = await Promise.all(['web_fetch', 'http_request'].map((tool) => get(tool, path)));
    for (const call of calls) expect(ended(call)).toEqual(['failed', 'tool_failed', expect.stringMatching(message)]);
  });

  it('accepts too small a length, and reads no second answer after it', async () => {
    expect(textOf(await get('web_fetch', '/too-long'))).not.toContain('more');
    expect(textOf(await get('http_request', '/too-long'))).not.toContain('more');
  });

  it.each([
    ['/utf-7', '+ADw-script+AD4-'],
    ['/no-charset', 'plain'],
    ['/wrong-charset', 'caf\ufffd \ufffd\ufffd'],
    ['/odd-utf-16', 'ab\ufffd'],
  ])('reads a text with an unknown or wrong charset: %s', async (path, text) => {
    for (const tool of ['web_fetch', 'http_request']) expect(textOf(await get(tool, path))).toContain(text);
  });

  it('shows the words of a huge page that is nested without end', async () => {
    const page = await get('web_fetch', '/huge-page', {}, { max_chars: 100 });
    expect(page).toMatchObject({
      outcome: 'completed',
      result: { details: { title: 'huge', note: expect.stringMatching(/bare text without structure/) } },
    });
    expect(textOf(page)).toContain('the end');
  });

  it('keeps working after a hostile server, on the same worker', async () => {
    expect(textOf(await get('web_fetch', '/fine'))).toContain('hello');
    expect(toolyard.workers[0]?.child.exitCode).toBeNull();
  });

  it.each([
    [{ 'x-a': 'b\r\nx-injected: 1' }],
    [{ 'x-a': 'b\nx-injected: 1' }],
    [{ 'x-a': 'b\0' }],
    [{ 'x-a\r\nx-injected': '1' }],
    [{ 'x-a: b\r\n\r\nGET /second HTTP/1.1': '1' }],
  ])('refuses line breaks in headers of http_request, and sends nothing: %j [VA-16]', async (headers) => {
    const before = heads.length;
    const call = await get('http_request', '/headers', {}, { headers });
    expect(ended(call)).toEqual(['failed', 'invalid_arguments', expect.stringMatching(/^Invalid header/)]);
    expect(heads).toHaveLength(before);
  });

  it('sends a path with line breaks encoded, as one request, and logs one line an event [VA-16]', async () => {
    const call = await get('http_request', '/a\r\nb HTTP/1.1\r\nx-injected: 1');
    expect(call.outcome).toBe('completed');
    expect(heads.at(-1)).not.toMatch(/^x-injected/m);
    for (const app of [...toolyard.gateways, ...toolyard.workers])
      for (const line of withoutWaitingLines(app.log()).split('\n').slice(1, -1)) expect(() => void JSON.parse(line)).not.toThrow();
  });

  const body = ({ result }: Call) => textOf({ result }).match(/q[q ]*/)?.[0].length;
  const shown = (dialect: string) => (tool: string, path: string, args: object) => get(tool, path, { dialect }, args);

  it.each([
    ['zeroclaw', 'http_request', {}, 1_000_000, /\n\.\.\. \[Response truncated due to size limit\] \.\.\./],
    ['zeroclaw', 'web_fetch', {}, 500_000, /\n\.\.\. \[Response truncated due to size limit\] \.\.\./],
    ['kiro', 'web_fetch', { mode: 'truncated' }, 8_000, /\n\n\[Content truncated - showing first 8000 characters\]/],
  ])('shows a model of %s by %s %j the first %i bytes of a body [EX-46, K-07]', async (dialect, tool, args, most, suffix) => {
    const entire = await shown(dialect)(tool, `/text/${most}`, args);
    expect(textOf(entire)).not.toMatch(suffix);
    const cut = await shown(dialect)(tool, `/text/${most + 1}`, args);
    expect(textOf(cut)).toMatch(suffix);
    expect([body(entire), body(cut)]).toEqual([most, most]);
  });

  it('shows a model of oxydra 50,000 characters, and reads 5 MiB; one of kiro reads 10 MiB [EX-46]', async () => {
    const oxydra = { dialect: 'oxydra' };
    const kiro = { dialect: 'kiro' };
    const details = async (path: string, more: object, args: object = {}) =>
      (await get('web_fetch', path, { ...more }, args)).result?.details;
    expect(await details('/text/50000', oxydra)).toMatchObject({ truncated: false });
    expect(await details('/text/50001', oxydra)).toMatchObject({ truncated: true });
    const found = async (path: string, more: object) => textOf(await get('web_fetch', path, { ...more }, { search_terms: 'needle' }));
    expect(await found(`/ends/${10 * MIB - 8}`, kiro)).toContain('needle');
    expect(await found(`/ends/${10 * MIB}`, kiro)).not.toContain('needle');
    expect(await found(`/ends/${5 * MIB - 8}`, {})).toContain('needle');
    expect(await found(`/ends/${5 * MIB}`, {})).not.toContain('needle');
  });
});
