import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { textOf } from '../support/policy-case.js';

interface Answer {
  readonly status?: number;
  readonly head?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}
/** Answers by path. */
type Site = Readonly<Record<string, Answer>>;

const answer = (body: string | Buffer, head: Answer['head'] = {}): Answer => ({ head: { 'content-type': 'text/html', ...head }, body });
const page = (...given: Parameters<typeof answer>): Site => ({ '/': answer(...given) });
/** The header has the bytes of the address in UTF-8, as many servers send them. */
const moved = (to: string, head: Answer['head'] = {}): Answer => ({
  status: 302,
  head: { location: Buffer.from(to).toString('latin1'), ...head },
});
const around = (before: string, bytes: Buffer, after = '') => Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
const feed = (encoding: string, title: Buffer, type = 'application/rss+xml') =>
  page(around(`<?xml version="1.0" encoding="${encoding}"?><rss><channel><title>`, title, '</title></channel></rss>'), {
    'content-type': type,
  });
const ANONYMOUS: Answer = { status: 403, body: 'Please make sure your request has a User-Agent header' };
const RUSSIAN = Buffer.from('cff0e8e2e5f2', 'hex');

const SITES: readonly [what: string, site: Site, words: string][] = [
  ['a redirect with raw characters', { '/': moved('/café'), '/caf%C3%A9': answer('<p>arrived') }, 'arrived'],
  ['a redirect with raw characters of Korea', { '/': moved('/검색'), '/%EA%B2%80%EC%83%89': answer('<p>arrived') }, 'arrived'],
  [
    'a redirect whose cookie is asked for',
    { '/': moved('/next', { 'set-cookie': 'a=1' }), '/next': answer('<p>arrived') },
    'arrived with a=1',
  ],
  ['deflate without the header of zlib', page(deflateRawSync('<p>hello'), { 'content-encoding': 'deflate' }), 'hello'],
  ['deflate with the header of zlib', page(deflateSync('<p>hello'), { 'content-encoding': 'deflate' }), 'hello'],
  ['gzip under its old name', page(gzipSync('<p>hello'), { 'content-encoding': 'x-gzip' }), 'hello'],
  ['Brotli', page(brotliCompressSync('<p>hello'), { 'content-encoding': 'br' }), 'hello'],
  ['a feed with its encoding in the XML declaration', feed('windows-1251', RUSSIAN), 'Привет'],
  ['a feed whose declaration lies', feed('windows-1251', Buffer.from('Привет')), 'Привет'],
  ['a feed with a charset in the header', feed('koi8-r', RUSSIAN, 'application/rss+xml; charset=windows-1251'), 'Привет'],
  ['a page with its encoding in an element', page(around('<meta charset=windows-1251><p>', RUSSIAN)), 'Привет'],
  ['a page in UTF-16 with a mark', page(Buffer.from('\uFEFF<p>Привет', 'utf16le')), 'Привет'],
  ['a drawing that closes itself', page('<body><svg class="i"/><p>ONE</p><svg><path/></svg><p>TWO</p></body>'), 'ONE TWO'],
  ['markup in an attribute', page('<p>A</p><a title="how to use <template> tags">link</a><p>B</p>'), 'A link B'],
  ['an empty comment', page('<p>A</p><!--><p>B</p><!-- x --><p>C</p>'), 'A B C'],
];

describe('a page of the web', () => {
  let site: Site = {};
  let agents: (string | undefined)[] = [];
  let server: Server;
  let tenant: Tenant;
  let url: string;
  beforeAll(async () => {
    server = createServer(({ url: path = '/', headers }, response) => {
      agents.push(headers['user-agent']);
      const known = headers['user-agent'] === undefined ? ANONYMOUS : site[path];
      const { status = 200, head = {}, body = '' } = known ?? { status: 404 };
      const cookies = headers.cookie === undefined ? '' : ` with ${headers.cookie}`;
      // A text would be sent together with the header, in UTF-8.
      response.writeHead(status, head).end(Buffer.concat([typeof body === 'string' ? Buffer.from(body) : body, Buffer.from(cookies)]));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    tenant = await useTenant('web-pages');
  });
  afterAll(async () => {
    await tenant?.close();
    server?.closeAllConnections();
    server?.close();
  });
  const read = async (tool: string, args: object) => {
    const call = await tenant.agent.run(tool, { url, ...args });
    return [call.outcome, call.isError ?? false, textOf(call)] as const;
  };
  /** The words, without the markup of a source. */
  const wordsOf = (text: string) =>
    text
      .replaceAll(/<[^>]*>/g, ' ')
      .trim()
      .split(/\s+/)
      .join(' ');

  it.each(SITES)('reads a page of the web as a browser does: %s', async (_what, given, words) => {
    site = given;
    const [outcome, , text] = await read('web_fetch', { output_format: 'text' });
    expect([outcome, wordsOf(text.slice(text.indexOf('\n\n')))]).toEqual(['completed', words]);
  });

  it.each(SITES.filter(([, , words]) => words === 'hello' || words === 'Привет'))(
    'reads an answer of an API as a browser does: %s',
    async (_what, given, words) => {
      site = given;
      const [outcome, , text] = await read('http_request', {});
      expect([outcome, wordsOf(text.split('Response Body:\n')[1] ?? '')]).toEqual(['completed', words]);
    },
  );

  it.each([
    ['0; url=/next', 'next'],
    ['5;URL="http://example.com/a b"', 'http://example.com/a%20b'],
    ["0,'next?a=1'", 'next?a=1'],
    ['3 next', 'next'],
  ])('names the address to which the header of a page leads: %s', async (refresh, to) => {
    for (const [type, body] of [
      ['text/html', '<p>moved'],
      ['text/plain', 'moved'],
    ] as const) {
      site = { '/': { head: { 'content-type': type, refresh }, body } };
      const [outcome, , text] = await read('web_fetch', {});
      expect([outcome, text]).toEqual(['completed', expect.stringContaining(`Note: this page leads to ${new URL(to, url).href}\n`)]);
    }
  });

  it.each(['30', '0; url=/', '0; url=javascript:alert(1)', 'soon'])(
    'names no address for a header that leads nowhere else: %s',
    async (refresh) => {
      site = page('<p>here', { refresh });
      expect((await read('web_fetch', {}))[2]).not.toContain('leads to');
    },
  );

  it('names itself to an API, unless the call names something else', async () => {
    [site, agents] = [{ '/': {} }, []];
    const statusOf = async (headers: object) =>
      (await read('http_request', { headers }))[2].split('\n').find((it) => it.startsWith('Status'));
    expect([await statusOf({}), await statusOf({ 'User-Agent': 'mine/1' })]).toEqual(['Status: 200 OK', 'Status: 200 OK']);
    expect(agents).toEqual(['toolyard', 'mine/1']);
  });
});
