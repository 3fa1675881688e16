import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import * as zlib from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { textFrom } from '../testing/outputs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { HttpRequestTool } from './http-request.tool.js';
import { WebFetchTool } from './web-fetch.tool.js';

interface Requested {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}
type Answer = (request: Requested) => {
  readonly status?: number;
  readonly head?: readonly (string | Buffer)[];
  readonly body?: Buffer | string;
};

const servers: Server[] = [];
afterAll(() => servers.forEach((it) => it.close()));

/** A server that writes the bytes of its answers itself. */
async function rawSite(answer: Answer): Promise<{ readonly host: string; readonly requests: Requested[] }> {
  const requests: Requested[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      const [first = '', ...lines] = (bytes.toString('latin1').split('\r\n\r\n')[0] ?? '').split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
      );
      const request = { path: first.split(' ')[1] ?? '', headers };
      requests.push(request);
      const { status = 200, head = [], body = 'arrived' } = answer(request);
      const parts = [`HTTP/1.1 ${status} X\r\nconnection: close\r\n`, ...head.flatMap((it) => [it, '\r\n']), '\r\n', body];
      socket.end(Buffer.concat(parts.map((it) => (typeof it === 'string' ? Buffer.from(it) : it))));
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { host: `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`, requests };
}

const fetchFrom = async (hosts: readonly string[], path: string) => {
  const tool = new WebFetchTool(new EgressPolicy(hosts));
  const output = await tool.run({ url: `http://${hosts[0]}${path}`, output_format: 'auto', max_chars: 50_000 }, fakeToolContext());
  await tool.onApplicationShutdown();
  return { body: output.data?.['body'], url: String(output.details?.['url']).replace(`http://${hosts[0]}`, '') };
};
const failureOf = (running: Promise<unknown>) =>
  running.then(
    () => 'no failure',
    (error: Error) => error.message,
  );
const send = (host: string, more: object = {}) =>
  textFrom(
    new HttpRequestTool(new EgressPolicy([host])).run({ url: `http://${host}/`, method: 'GET', headers: {}, ...more }, fakeToolContext()),
  );

describe('web_fetch at a redirect', () => {
  it.each([
    ['/start', 'Location: /café', '/caf%C3%A9'],
    ['/start', 'Location: /검색', '/%EA%B2%80%EC%83%89'],
    ['/start', 'Location: /caf%C3%A9?q=a%20b', '/caf%C3%A9?q=a%20b'],
    ['/start', 'Location: /a b?q=é', '/a%20b?q=%C3%A9'],
    ['/a/b/start', 'Location: c', '/a/b/c'],
    ['/a/b/start', 'Location: ../c', '/a/c'],
    ['/a/start?x=1', 'Location: ?y=2', '/a/start?y=2'],
    ['/start', 'location:/next', '/next'],
    ['/start', 'Location:   /next  ', '/next'],
    ['/start', Buffer.from('Location: /caf\xe9', 'latin1'), '/caf%C3%A9'],
  ])('follows a redirect from %s with "%s" to the place that browsers go to', async (path, header, expected) => {
    const { host, requests } = await rawSite(({ path: at }) => (at === path ? { status: 302, head: [header] } : {}));
    expect(await fetchFrom([host], path)).toEqual({ body: 'arrived', url: expected });
    expect(requests.map((it) => it.path)).toEqual([path, expected]);
  });

  it('follows the address of another host without a scheme', async () => {
    const other = await rawSite(() => ({ body: 'there' }));
    const { host } = await rawSite(() => ({ status: 301, head: [`Location: //${other.host}/x`] }));
    expect((await fetchFrom([host, other.host], '/')).body).toBe('there');
  });

  it('keeps the fragment of an address, unless the redirect has one', async () => {
    const { host } = await rawSite(({ path }) => {
      if (path === '/own') return { status: 302, head: ['Location: /end#there'] };
      return path === '/end' ? {} : { status: 302, head: ['Location: /end'] };
    });
    expect([(await fetchFrom([host], '/start#here')).url, (await fetchFrom([host], '/own#here')).url]).toEqual(['/end#here', '/end#there']);
  });

  it.each([301, 302, 303, 307, 308])('follows a redirect of status %i, and reads one without a location as the page', async (status) => {
    const { host } = await rawSite(({ path }) => (path === '/' ? { status, head: ['Location: /end'] } : {}));
    expect((await fetchFrom([host], '/')).url).toBe('/end');
    const none = await rawSite(() => ({ status, body: 'no place' }));
    expect(await failureOf(fetchFrom([none.host], '/'))).toContain('no place');
  });

  it('reads a redirect with an empty location as the page', async () => {
    const { host, requests } = await rawSite(() => ({ status: 302, head: ['Location: '], body: 'no place' }));
    expect(await failureOf(fetchFrom([host], '/'))).toContain('no place');
    expect(requests).toHaveLength(1);
  });

  it('checks the host of each redirect, also one in raw characters', async () => {
    const { host } = await rawSite(() => ({ status: 302, head: ['Location: //１２７.0.0.1:1/é'] }));
    expect(await failureOf(fetchFrom([host], '/'))).toMatch(/^Blocked: 127\.0\.0\.1/);
  });
});

describe('web_fetch of an answer without a type', () => {
  it.each([
    ['\n<!DOCTYPE html><p>hello</p>', 'hello'],
    ['<HTML><p>hello</p>', 'hello'],
    ['<p>hello</p>', '<p>hello</p>'],
    ['plain <html>', 'plain <html>'],
  ])('reads the location %j as browsers do', async (body, expected) => {
    const { host } = await rawSite(() => ({ body }));
    expect((await fetchFrom([host], '/')).body).toBe(expected);
  });
});

describe('web_fetch of an answer', () => {
  it.each([
    'application/jsonl',
    'application/x-ndjson',
    'application/csv',
    'application/x-javascript',
    'application/typescript',
    'message/rfc822',
    'application/vnd.apple.mpegurl',
    'application/x-python',
  ])('shows text of the type %s', async (type) => {
    const { host } = await rawSite(() => ({ head: [`content-type: ${type}`], body: 'a,b' }));
    expect((await fetchFrom([host], '/')).body).toBe('a,b');
  });

  it.each([
    ['PDF', '%PDF-1.4\n%\xe2\xe3'],
    ['ZIP', 'PK\x03\x04\x14\0'],
    ['PNG', '\x89PNG\r\n\x1a\n'],
  ])('shows no bytes of a %s that its server calls text', async (_kind, body) => {
    const { host } = await rawSite(() => ({ head: ['content-type: text/html'], body: Buffer.from(body, 'latin1') }));
    expect((await fetchFrom([host], '/')).body).toBe('');
    expect(await send(host)).toContain('bytes of binary content]');
  });
});

describe('web_fetch with cookies', () => {
  /** The cookies that arrive at `/end` after a redirect with these headers. */
  const sent = async (...cookies: readonly string[]) => {
    const { host, requests } = await rawSite(({ path }) =>
      path === '/end' ? {} : { status: 302, head: [...cookies.map((it) => `Set-Cookie: ${it}`), 'Location: /end'] },
    );
    await fetchFrom([host], '/start');
    return requests.at(-1)?.headers['cookie'];
  };

  it.each([
    [['a=1'], 'a=1'],
    [['a=1; Path=/; HttpOnly; SameSite=Lax', 'b="2"'], 'a=1; b="2"'],
    [['a=1', 'a=2'], 'a=2'],
    [['a=1; Path=/other'], undefined],
    [['a=1; Path=/end'], 'a=1'],
    [['a=1; Path=/en'], undefined],
    [['a=1; Secure'], undefined],
    [['a=1', 'a=; Max-Age=0'], undefined],
    [['a=1', 'a=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], undefined],
    [['a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=60'], 'a=1'],
    [['a=1; Domain=example.com'], undefined],
    [['a=b=c'], 'a=b=c'],
    [['a=1', 'b=2; Path=/end', 'a=3'], 'b=2; a=3'],
    [['a=1; Path=/', 'b=2', 'a=3; Path=/'], 'a=3; b=2'],
    [['; x', '=y'], undefined],
  ])('sends cookies of a redirect on as browsers do: %j', async (cookies, expected) => expect(await sent(...cookies)).toBe(expected));

  it('passes a page that redirects to itself until it has its cookie', async () => {
    const { host } = await rawSite(({ headers }) =>
      headers['cookie'] === 'seen=1' ? {} : { status: 302, head: ['Set-Cookie: seen=1', 'Location: /'] },
    );
    expect((await fetchFrom([host], '/')).body).toBe('arrived');
  });

  it('sends no cookie to another host, and forgets cookies after the call', async () => {
    const other = await rawSite(() => ({}));
    const { host, requests } = await rawSite(() => ({
      status: 302,
      head: ['Set-Cookie: a=1', `Location: http://localhost:${other.host.split(':')[1]}/`],
    }));
    const hosts = [host, `localhost:${other.host.split(':')[1]}`];
    await fetchFrom(hosts, '/');
    await fetchFrom(hosts, '/');
    expect([other.requests.map((it) => it.headers['cookie']), requests.map((it) => it.headers['cookie'])]).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });
});

const PAGE = '<p>hello</p>';
const zstd = Reflect.get(zlib, 'zstdCompressSync') as ((text: string) => Buffer) | undefined;

describe('a compressed answer', () => {
  it.each([
    ['deflate', deflateRawSync(PAGE)],
    ['deflate', deflateSync(PAGE)],
    ['Deflate', deflateSync(PAGE, { level: 0 })],
    ['deflate', deflateRawSync(PAGE, { level: 0 })],
    ['gzip', gzipSync(PAGE)],
    ['x-gzip', gzipSync(PAGE)],
    ['gzip', Buffer.concat([gzipSync('<p>he'), gzipSync('llo</p>')])],
    ['gzip', gzipSync(PAGE).subarray(0, -8)],
    ['gzip', Buffer.concat([gzipSync(PAGE), Buffer.from('\0\0\0junk')])],
    ['br', brotliCompressSync(PAGE)],
    ['identity', Buffer.from(PAGE)],
    ['utf-8', Buffer.from(PAGE)],
    ['none', Buffer.from(PAGE)],
    [' gzip ', gzipSync(PAGE)],
    ['identity, gzip', gzipSync(PAGE)],
    ['aws-chunked', Buffer.from(PAGE)],
    ['aws-chunked,gzip', gzipSync(PAGE)],
    ['8bit', Buffer.from(PAGE)],
    ...(zstd === undefined ? [] : [['zstd', zstd(PAGE)] as const]),
  ])('decodes a body with the encoding "%s"', async (encoding, body) => {
    const { host } = await rawSite(() => ({ head: ['content-type: text/html', `content-encoding: ${encoding}`], body }));
    expect((await fetchFrom([host], '/')).body).toBe('hello');
    expect(await send(host)).toContain(PAGE);
  });

  it('reads an empty body with an encoding, as of HEAD', async () => {
    const { host } = await rawSite(() => ({ head: ['content-type: text/html', 'content-encoding: gzip'], body: '' }));
    expect(await send(host, { method: 'HEAD' })).toMatch(/^Status: 200/);
    expect((await fetchFrom([host], '/')).body).toBe('');
  });

  it.each(['deflate', 'gzip'])('refuses a damaged body of %s', async (encoding) => {
    const { host } = await rawSite(() => ({ head: ['content-type: text/html', `content-encoding: ${encoding}`], body: '\xffnot packed' }));
    expect(await failureOf(fetchFrom([host], '/'))).toContain('the compressed body is damaged');
  });

  it.each([
    ['deflate', deflateSync(Buffer.alloc(50_000_000))],
    ['deflate', deflateRawSync(Buffer.alloc(50_000_000))],
  ])('unpacks a body of %s up to a size', async (encoding, body) => {
    const { host } = await rawSite(() => ({ head: ['content-type: text/plain', `content-encoding: ${encoding}`], body }));
    expect(await send(host)).toMatch(/Response truncated due to size limit/);
  });

  it('refuses a body of an unknown encoding with its name', async () => {
    const { host } = await rawSite(() => ({ head: ['content-encoding: compress'], body: 'x' }));
    expect(await send(host)).toContain('the content encoding "compress" is not supported');
  });
});

describe('http_request', () => {
  const sent = async (headers: Record<string, string>) => {
    const { host, requests } = await rawSite(({ headers: { 'user-agent': agent } }) =>
      agent === undefined ? { status: 403, body: 'Please make sure your request has a User-Agent header' } : {},
    );
    return { text: await send(host, { headers }), headers: requests[0]?.headers };
  };

  it('sends its name in a request and accepts any type of answer, as curl does', async () => {
    expect(await sent({})).toMatchObject({
      text: expect.stringMatching(/^Status: 200/),
      headers: { 'user-agent': 'toolyard', accept: '*/*' },
    });
  });

  it('accepts another user agent in a call', async () => {
    const { headers } = await sent({ 'User-Agent': 'mine/1', ACCEPT: 'text/plain' });
    expect(headers).toMatchObject({ 'user-agent': 'mine/1', accept: 'text/plain' });
  });
});
