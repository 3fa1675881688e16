import { gzipSync, brotliCompressSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { type TestSite, testSite } from '../../../sandbox/src/testing/test-site.fixture.js';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { WebFetchTool } from './web-fetch.tool.js';

const PAGE = `<html><head><title> Tea &amp;
 cake </title><style>p { color: red }</style><script>alert("script")</script></head>
<body><!-- hidden --><h1>Menu</h1><p>All <b>fresh</b>, see <a href="/prices?a=1">prices</a>.</p><ul><li>tea</li><li>cake</li></ul><svg><text>drawing</text></svg></body></html>`;
const LINKS = `<p><a class=x href='next'>next</a> <a href="../up?a=1&amp;b=2">up</a> <a href="#here">here</a> <a href="mailto:a@b.example">mail</a> <img alt=pic src="p.png"> <code>&lt;a href="x"&gt;</code></p>`;
const BOMB = gzipSync(Buffer.alloc(200 * 1_048_576));
const MIB = 1_048_576;

let site: TestSite;
let other: TestSite;
let tool: WebFetchTool;
beforeAll(async () => {
  other = await testSite((_request, response) => response.end('secret of the inside'));
  site = await testSite((_request, response, path) => answer(response, path));
  tool = new WebFetchTool(new EgressPolicy([site.host]));
});
afterAll(async () => {
  await tool.onApplicationShutdown();
  await Promise.all([site.close(), other.close()]);
});

function answer(response: ServerResponse, path: string): void {
  const send = (type: string, body: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
    response.writeHead(status, { ...(type && { 'content-type': type }), 'content-length': Buffer.byteLength(body), ...headers }).end(body);
  const redirect = (to: string, status = 302) => send('text/html', 'moved', { location: to }, status);
  const [, route = '', rest = ''] = path.split('/');
  switch (route) {
    case 'page':
      return void send('text/html; charset=utf-8', PAGE);
    case 'links':
      return void send('text/html', LINKS);
    case 'based':
      return void send('text/html', `<base href="/shop/">${LINKS}`);
    case 'wide':
      return void send('text/html', Buffer.from('\ufeff<p>wide</p>', 'utf16le'));
    case 'json':
      return void send('application/problem+json', '{"a": [1,2]}');
    case 'plain':
      return void send('text/plain', '<b>as it is</b>');
    case 'untyped':
      return void send('', 'no type');
    case 'latin1':
      return void send('text/plain; charset=iso-8859-1', Buffer.from('café', 'latin1'));
    case 'meta-charset':
      return void send('text/html', Buffer.concat([Buffer.from('<meta charset="windows-1252"><p>'), Buffer.from([0x80])]));
    case 'png':
      return void send('image/png', Buffer.from([0x89, 0x50, 0, 1]));
    case 'blob':
      return void send('application/octet-stream', Buffer.from([1, 0, 2]));
    case 'status':
      return void send('text/plain', `because ${'x'.repeat(2_000)}`, {}, Number(rest));
    case 'hop':
      return void (rest === '0' ? send('text/plain', 'arrived') : redirect(`/hop/${Number(rest) - 1}`, 307));
    case 'to-inside':
      return void redirect(`http://${other.host}/`);
    case 'to-metadata':
      return void redirect('http://[::ffff:169.254.169.254]/latest');
    case 'to-file':
      return void redirect('file:///etc/passwd');
    case 'no-location':
      return void send('text/plain', 'no location', {}, 304);
    case 'big':
      return void send('text/plain', 'y'.repeat(8 * MIB));
    case 'gzip':
      return void send('text/plain', gzipSync('packed'), { 'content-encoding': 'gzip' });
    case 'br':
      return void send('text/plain', brotliCompressSync('packed'), { 'content-encoding': 'br' });
    case 'bomb':
      return void send('text/plain', BOMB, { 'content-encoding': 'gzip' });
    case 'damaged':
      return void send('text/plain', 'not gzip', { 'content-encoding': 'gzip' });
    case 'layers':
      return void send('text/plain', 'x', { 'content-encoding': 'gzip, gzip' });
    case 'deep':
      return void send('text/html', `<title>deep</title>${'<div>'.repeat(rest === '' ? 20_000 : Number(rest))}the bottom`);
    case 'slow-body':
      return void response.writeHead(200, { 'content-type': 'text/plain' }).write('the beginning');
    case 'emoji':
      return void send('text/plain', 'ab😀cd');
    default:
      return void response.socket?.destroy();
  }
}

type Args = Parameters<WebFetchTool['run']>[0];

async function fetchText(
  path: string,
  more: Partial<Args> = {},
  ctx: ToolContext = fakeToolContext(),
): Promise<{ header: string; body: string; details: Record<string, unknown> }> {
  const output = await tool.run(
    { url: path.startsWith('/') ? `http://${site.host}${path}` : path, output_format: 'auto', max_chars: 50_000, ...more },
    ctx,
  );
  const [first] = output.content;
  const text = first?.type === 'text' ? first.text : '';
  const gap = text.indexOf('\n\n');
  return { header: gap < 0 ? text : text.slice(0, gap), body: gap < 0 ? '' : text.slice(gap + 2), details: { ...output.details } };
}

describe('web_fetch', () => {
  it('returns a page as Markdown below its facts, without scripts, styles, drawings and comments [TB-58]', async () => {
    const { header, body } = await fetchText('/page');
    expect(header.split('\n')).toEqual([
      `URL: http://${site.host}/page`,
      'Status: 200 OK',
      'Content-Type: text/html; charset=utf-8',
      expect.stringMatching(/^Content-Length: \d+$/),
      'Title: Tea & cake',
      'Truncated: no',
    ]);
    expect(body).toBe(`# Menu\n\nAll **fresh**, see [prices](http://${site.host}/prices?a=1).\n\n- tea\n- cake`);
  });

  it('makes the links of a page absolute, so that the model can follow them', async () => {
    const rest = '[here](#here) [mail](mailto:a@b.example) ';
    const at = (folder: string) =>
      `[next](http://${site.host}/${folder}next) [up](http://${site.host}/up?a=1&b=2) ${rest}![pic](http://${site.host}/${folder}p.png)`;
    expect((await fetchText('/links/page')).body).toBe(`${at('links/')} \`<a href="x">\``);
    expect((await fetchText('/based')).body).toContain(at('shop/'));
    expect((await fetchText('/links/page', { output_format: 'raw' })).body).toBe(LINKS);
  });

  it('returns a page as text, as source, or only its facts [TB-58]', async () => {
    expect((await fetchText('/page', { output_format: 'text' })).body).toBe('Menu\n\nAll fresh, see prices.\n\n- tea\n- cake');
    expect((await fetchText('/page', { output_format: 'raw' })).body).toBe(PAGE);
    expect(await fetchText('/page', { output_format: 'metadata_only' })).toMatchObject({
      body: '',
      details: { mode: 'metadata_only', status: 200 },
    });
  });

  it.each([
    ['/json', '{"a": [1,2]}'],
    ['/plain', '<b>as it is</b>'],
    ['/untyped', 'no type'],
    ['/latin1', 'café'],
    ['/meta-charset', '€'],
    ['/wide', 'wide'],
    ['/gzip', 'packed'],
    ['/br', 'packed'],
    ['/hop/10', 'arrived'],
  ])('reads %s by web_fetch', async (path, expected) => {
    expect((await fetchText(path)).body).toBe(expected);
  });

  it.each(['/png', '/blob'])('leaves the bytes of %s out in web_fetch [TB-58]', async (path) => {
    expect(await fetchText(path)).toMatchObject({
      body: '',
      details: { mode: 'metadata_only', note: 'binary content omitted to reduce token usage' },
    });
  });

  it('cuts a page at max_chars, never within a character', async () => {
    expect((await fetchText('/emoji', { max_chars: 4 })).body).toBe('ab😀\n\n[truncated]');
    expect(await fetchText('/emoji', { max_chars: 3 })).toMatchObject({ body: 'ab\n\n[truncated]', details: { truncated: true } });
    expect((await fetchText('/emoji', { max_chars: 6 })).body).toBe('ab😀cd');
  });

  it.each([
    [404, 'Not Found', false],
    [429, 'Too Many Requests', true],
    [500, 'Internal Server Error', true],
    [503, 'Service Unavailable', true],
  ])('fails on status %i in web_fetch with a preview [TB-58]', async (status, words, retryable) => {
    const failure = await failureOf(fetchText(`/status/${status}`));
    expect(failure).toMatchObject({ code: 'tool_failed', options: { retryable } });
    expect(failure.message).toBe(`HTTP ${status} ${words} from http://${site.host}/status/${status}\n\nbecause ${'x'.repeat(504)}`);
  });

  it('reports network errors in web_fetch', async () => {
    expect(await failureOf(fetchText('/hang-up'))).toMatchObject({
      code: 'tool_failed',
      options: { retryable: true },
      message: `Could not fetch from ${site.host}: the connection was closed too early`,
    });
    const gone = await testSite((_request, response) => response.end());
    await gone.close();
    const refused = new WebFetchTool(new EgressPolicy([gone.host]));
    const failure = await failureOf(refused.run({ url: `http://${gone.host}/`, output_format: 'auto', max_chars: 10 }, fakeToolContext()));
    expect(failure).toMatchObject({
      options: { retryable: true },
      message: `Could not fetch from ${gone.host}: the connection was refused`,
    });
  });
});

describe('web_fetch and hostile servers', () => {
  it.each([
    ['/to-inside', 'Blocked: 127.0.0.1 is a loopback address.'],
    ['/to-metadata', 'is a cloud metadata address.'],
    ['/to-file', 'Blocked: only http and https URLs can be fetched, not file'],
  ])('follows no redirect %s in web_fetch [PP-45]', async (path, message) => {
    const failure = await failureOf(fetchText(path));
    expect(failure).toMatchObject({ code: 'policy_denied', options: { retryable: false } });
    expect(failure.message).toContain(message);
    expect(other.requests).toEqual([]);
  });

  it('fails after 10 redirects in web_fetch', async () => {
    expect((await failureOf(fetchText('/hop/11'))).message).toContain('more than 10 redirects');
  });

  it('connects to no name that resolves to a private address', async () => {
    const lured = new WebFetchTool(new EgressPolicy([], async () => [{ address: '127.0.0.1', family: 4 }]));
    const url = `http://innocent.example:${other.host.split(':')[1]}/`;
    const failure = await failureOf(lured.run({ url, output_format: 'auto', max_chars: 10 }, fakeToolContext()));
    expect(failure).toMatchObject({
      code: 'policy_denied',
      message: 'Blocked: innocent.example resolves to a loopback address. Only public internet addresses can be fetched.',
    });
    expect(other.requests).toEqual([]);
  });

  it('resolves a name once per connection and connects to the checked address, against a changed second answer [PP-45]', async () => {
    const [, port] = site.host.split(':');
    const asked: string[] = [];
    const rebinding = new EgressPolicy([`rebind.example:${port}`], async (name) => {
      asked.push(name);
      return [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.99', family: 4 }];
    });
    const output = await new WebFetchTool(rebinding).run(
      { url: `http://rebind.example:${port}/plain`, output_format: 'auto', max_chars: 100 },
      fakeToolContext(),
    );
    expect(output.details).toMatchObject({ status: 200 });
    expect(asked).toEqual(['rebind.example']);
  });

  it('checks a name again at every hop, without a cached result', async () => {
    const [, port] = site.host.split(':');
    let trusted = true;
    const hops = await testSite((_request, response) => {
      trusted = false;
      response.writeHead(302, { location: `http://flip.example:${port}/plain` }).end();
    });
    const [, hopsPort] = hops.host.split(':');
    const flipping = new EgressPolicy([`flip.example:${hopsPort}`], async () => [
      { address: trusted ? '127.0.0.1' : '192.168.0.1', family: 4 },
    ]);
    const failure = await failureOf(
      new WebFetchTool(flipping).run({ url: `http://flip.example:${hopsPort}/`, output_format: 'auto', max_chars: 10 }, fakeToolContext()),
    );
    await hops.close();
    expect(failure.message).toContain('flip.example resolves to a private address');
  });

  it('reads 5 MiB of a large body and hangs up [TB-58]', async () => {
    const { body, details } = await fetchText('/big', { max_chars: 1_000_000 });
    expect(body).toHaveLength(1_000_000 + '\n\n[truncated]'.length);
    expect(details).toMatchObject({ truncated: true, contentLength: 8 * MIB });
    await eventually(async () => (await site.connections()) === 0);
  });

  it('unpacks no more than 5 MiB of a bomb in web_fetch', async () => {
    const before = process.memoryUsage().rss;
    expect((await fetchText('/bomb', { output_format: 'raw', max_chars: 10 })).details).toMatchObject({ truncated: true });
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * MIB);
  });

  it('refuses damaged and nested compression in web_fetch', async () => {
    expect((await failureOf(fetchText('/damaged'))).message).toContain('the compressed body is damaged');
    expect((await failureOf(fetchText('/layers'))).message).toContain('the content encoding "gzip, gzip" is not supported');
  });

  it('answers with bare text in time for a page that the converter cannot read, without blocking', async () => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 50);
    const { body, details } = await fetchText('/deep');
    clearInterval(timer);
    expect(body).toBe('the bottom');
    expect(details).toMatchObject({ title: 'deep' });
    expect(await fetchText('/deep/100000')).toMatchObject({
      body: 'the bottom',
      details: { title: 'deep', note: 'the page is too complex to convert: bare text without structure' },
    });
    expect(ticks).toBeGreaterThan(0);
  });

  it('stops at once when it is cancelled in the middle of a slow body', async () => {
    const cancel = new AbortController();
    const running = fetchText('/slow-body', {}, fakeToolContext({ signal: cancel.signal }));
    await eventually(() => site.requests.at(-1) === '/slow-body');
    cancel.abort(new ToolError('cancelled', 'Cancelled'));
    expect(await failureOf(running)).toMatchObject({ code: 'cancelled', message: 'Cancelled' });
    await eventually(async () => (await site.connections()) === 0);
  });
});

async function failureOf(running: Promise<unknown>): Promise<ToolError> {
  const failure = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof ToolError) return failure;
  throw new Error(`expected a ToolError, got ${String(failure)}`);
}
