import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { ToolError } from '#tool-sdk';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { type TestSite, testSite } from '../../../sandbox/src/testing/test-site.fixture.js';
import { SessionEnds } from '../session-ends.js';
import { textFrom } from '../testing/outputs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { input } from './browser-arguments.js';
import { browserSettingsFrom, type BrowserSettings } from './browser.config.js';
import { BrowserTool } from './browser.tool.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
// The sandbox of Chromium does not work as root.
const SETTINGS = browserSettingsFrom({ BROWSER: process.getuid?.() === 0 ? 'unsandboxed' : 'sandboxed', BROWSER_EXECUTABLE: CHROMIUM });

const SHOP = `<title>Shop</title><h1>Tea</h1><button id="buy" onclick="document.querySelector('p').textContent = 'bought'">Buy</button>
<p>for sale</p><label>Name <input id="name" placeholder="your name"></label><a href="/next" target="_blank">more</a><a href="/next">next</a>`;

/** Time limit of an action: ten times the load time of a page on a slow machine. */
const LITTLE_MS = 5_000;

/** No name is public. */
const resolve = async () => [{ address: '127.0.0.1', family: 4 }];

let inside: TestSite;
let site: TestSite;
let raw: Server;
let rawConnections = 0;
let udp: UdpSocket;
let datagrams = 0;
/** Answers that have not ended. */
let endless = 0;
let tool: BrowserTool;
beforeAll(async () => {
  inside = await testSite((_request, response) => response.end('secret of the inside'));
  raw = createServer((socket) => {
    rawConnections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(raw, 'listening');
  udp = createSocket('udp4', () => (datagrams += 1));
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  site = await testSite((_request, response, path) => answer(response, path));
  tool = toolWith({});
});
afterAll(async () => {
  await tool.onApplicationShutdown();
  raw.close();
  udp.close();
  await Promise.all([site.close(), inside.close()]);
});

function toolWith(settings: Partial<BrowserSettings>, ends?: SessionEnds): BrowserTool {
  return new BrowserTool(new EgressPolicy([site.host], resolve), { ...SETTINGS, ...settings }, ends);
}

function answer(response: ServerResponse, path: string): void {
  const html = (text: string, headers = {}) => response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(text);
  const address = raw.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  switch (path) {
    case '/shop':
      return void html(SHOP);
    case '/next':
      return void html('<title>Next</title>the next page');
    case '/to-inside':
      return void response.writeHead(302, { location: `http://${inside.host}/` }).end();
    case '/to-metadata':
      return void html('<title>T</title><script>location = "http://169.254.169.254/latest/"</script>');
    case '/link-inside':
      return void html(`<a id="in" href="http://${inside.host}/">in</a>`);
    case '/loads-inside':
      return void html(pageOfWays(inside.host, port, udp.address().port));
    case '/worker.js':
      return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`fetch("http://${inside.host}/worker")`);
    case '/alerts':
      return void html(
        '<title>A</title><p>x</p><script>for (let i = 0; i < 50; i += 1) alert("storm " + (i % 2)); confirm("sure?")</script>',
      );
    case '/popups':
      return void html('<title>P</title><button onclick="for (let i = 0; i < 5; i += 1) window.open(\'/next\')">go</button>');
    case '/unsaved':
      return void html('<title>U</title><script>onbeforeunload = (event) => event.preventDefault()</script>');
    case '/list':
      return void html(
        '<select id="list"><option value="a">Tea<option value="b" selected>Milk</select><button value="x">Send</button><p id="p"></p>' +
          '<script>list.onchange = () => { p.textContent = "chose " + list.value }</script>',
      );
    case '/endless':
      endless += 1;
      response.on('close', () => (endless -= 1));
      return void response.writeHead(200, { 'content-type': 'text/html' }).write('<title>E</title><p>the beginning</p>');
    case '/loop':
      return void html('<title>L</title><p>here</p><button onclick="for (;;) ;">go</button>');
    case '/huge':
      return void html(`<title>H</title><pre>${'long line '.repeat(500_000)}</pre>`);
    case '/flood': {
      response.writeHead(200, { 'content-type': 'text/html' });
      const chunk = Buffer.alloc(1_048_576, 'x');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      response.write('<title>F</title><!--');
      return more();
    }
    case '/download':
      return void response.writeHead(200, { 'content-disposition': 'attachment; filename="x.exe"' }).end('MZ');
    case '/to-file':
      return void html('<title>T</title><p>still here</p><script>try { location = "file:///etc/passwd" } catch {}</script>');
    case '/cookie':
      return void html('<title>C</title><p>x</p><script>document.write(document.cookie || "none"); document.cookie = "a=1"</script>');
    default:
      return void response.writeHead(404).end();
  }
}

type Args = { action: string; url?: string; [argument: string]: unknown };
let session = 'none';
const call = (args: Args, more: object = {}, by = tool) =>
  by.run(
    input.parse({ ...args, ...(args.url?.startsWith('/') ? { url: `http://${site.host}${args.url}` } : {}) }),
    fakeToolContext({ sessionId: session, ...more }),
  );
const act = (action: string, args: object = {}, more: object = {}) => textFrom(call({ action, ...args }, more));
const open = (url: string) => act('open', { url });

describe('browser', () => {
  afterEach(() => act('close'));

  it('shows a page by references, clicks one and sees the change [TB-64]', async () => {
    session = 'shop';
    expect(await open('/shop')).toBe(`Opened http://${site.host}/shop\nTitle: Shop`);
    const snapshot = await act('snapshot');
    const ref = /button "Buy" \[(@\w+)\]/.exec(snapshot)?.[1];
    expect(ref).toMatch(/^@e\d+$/);
    expect(await act('get_text', { selector: 'p' })).toBe('for sale');
    expect(await act('click', { selector: ref })).toMatch(/^Clicked @e\d+\. The page is http/);
    expect(await act('get_text', { selector: 'p' })).toBe('bought');
    expect(await act('get_title')).toBe('Shop');
    expect(await act('get_url')).toBe(`http://${site.host}/shop`);
    expect(await act('click', { selector: '@e99' })).toMatch(/^@e99 is not on the page, or not in its last snapshot\./);
    const only = await act('snapshot', { interactive_only: true });
    expect(only).toContain('button "Buy"');
    expect(only).not.toContain('heading');
  });

  it('fills, types, presses, finds, hovers, scrolls, waits and takes screenshots in the browser [TB-64]', async () => {
    session = 'form';
    await open('/shop');
    expect(await act('fill', { selector: '#name', value: 'Ann' })).toBe('Filled #name');
    expect(await act('type', { selector: '#name', text: 'a!' })).toBe('Typed 2 characters into #name');
    expect(await act('press', { key: 'Backspace' })).toMatch(/^Pressed Backspace/);
    expect(await act('get_text', { selector: '#name' })).toBe('Anna');
    expect(await act('find', { by: 'label', value: 'Name', find_action: 'fill', fill_value: 'Bo' })).toBe('Filled label Name');
    expect(await act('find', { by: 'placeholder', value: 'your name' })).toBe('Bo');
    expect(await act('is_visible', { selector: '#buy' })).toBe('true');
    expect(await act('is_visible', { selector: '#none' })).toBe('false');
    expect(await act('hover', { selector: '#buy' })).toBe('The pointer is over #buy');
    expect(await act('scroll', {})).toMatch(/^Scrolled down: the page is shown from pixel 0 on/);
    expect(await act('wait', { text: 'for sale' })).toBe('Waited');
    expect(await act('find', { value: 'next', by: 'text', find_action: 'click' })).toContain(`The page is http://${site.host}/next`);
    const { content } = await call({ action: 'screenshot', full_page: true });
    expect(content).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(content[0]?.type === 'image' ? Buffer.from(content[0].data, 'base64').toString('latin1', 1, 4) : '').toBe('PNG');
  });

  it('reports missing parts of the browser, and that no page is open', async () => {
    session = 'nothing';
    expect(await act('click')).toBe("Missing 'selector' for click");
    expect(await act('open', { url: 'file:///etc/passwd' })).toBe('file:// URLs are not allowed in browser automation');
    expect(await act('get_text')).toBe('No page is open in this session on this worker. Use the action open first.');
    expect(await act('close')).toBe('No page is open');
    expect(await act('get_text', {}, { sessionId: undefined })).toBe('browser needs a session: submit the call with a sessionId');
  });

  it('separates pages and cookies of sessions, their users and tenants', async () => {
    session = 'one';
    await open('/cookie');
    expect(await act('get_text')).toContain('none');
    await open('/cookie');
    expect(await act('get_text')).toContain('a=1');
    session = 'two';
    await open('/cookie');
    expect(await act('get_text')).toContain('none');
    await act('close');
    session = 'one';
    for (const other of [{ tenantId: 'other' }, { sessionEpoch: 1 }, { userId: 'eve' }])
      expect(await act('get_url', {}, other)).toMatch(/^No page is open/);
    expect(await act('close')).toBe('Closed the page');
    expect(await act('get_url')).toMatch(/^No page is open/);
  });

  it.each([
    ['open', 'http://127.0.0.1:1/', /^Blocked: 127\.0\.0\.1 is a loopback address/],
    ['a redirect', '/to-inside', /^Blocked: 127\.0\.0\.1 is a loopback address/],
    ['a name that resolves to a private address', 'https://named.example/', /^Blocked: named\.example resolves to a loopback address/],
    ['a name over http', 'http://inside.example/', /^Blocked: inside\.example resolves to a loopback address/],
    ['other schemes', 'chrome://version', /^Blocked: only http and https/],
    ['view-source', 'view-source:http://example.com/', /^Blocked: only http and https/],
  ])('refuses private addresses by %s in the browser [PP-45]', async (_how, url, message) => {
    session = 'blocked';
    expect(await open(url)).toMatch(message);
    expect(inside.requests).toEqual([]);
  });

  it('refuses private addresses for a click and for scripts that navigate', async () => {
    session = 'clicks';
    await open('/link-inside');
    expect(await act('click', { selector: '#in' })).toMatch(/^Blocked: 127\.0\.0\.1 is a loopback address/);
    await open('/to-metadata');
    expect(await act('wait', { text: 'a cloud metadata address' })).toBe('Waited');
    expect(inside.requests).toEqual([]);
  });

  it('blocks private addresses for everything on a page: parts, requests, workers, downloads, WebRTC', async () => {
    session = 'loads';
    expect(await open('/loads-inside')).toContain('Title: T');
    expect(await act('wait', { text: 'all tried' })).toMatch(/^Waited/);
    expect(await act('get_text')).toMatch(/^all tried: 0 answers/);
    expect(inside.requests).toEqual([]);
    expect([rawConnections, datagrams]).toEqual([0, 0]);
    expect(site.requests).not.toContain('/worker.js');
  });

  it('dismisses dialogs, closes popups and refuses downloads, and reports each', async () => {
    session = 'storms';
    expect(await open('/alerts')).toMatch(
      /\[a dialog was dismissed: storm 0\]\n\[a dialog was dismissed: storm 1\]\n\[a dialog was dismissed: sure\?\]/,
    );
    await open('/popups');
    // A popup may come after the action that opened it.
    let seen = await act('click', { selector: 'button' });
    await eventually(async () => (seen += await act('get_title')).includes('[a popup was closed'));
    expect(seen).toContain(`[a popup was closed: open its address instead: http://${site.host}/next]`);
    expect(await act('get_title')).toMatch(/^P/);
    expect(await open('/download')).toBe('The address is a download, which is refused. Use web_fetch or http_request to read it.');
    await open('/shop');
    expect(await act('get_title')).toMatch(/^Shop/);
  });

  it('leaves a page that asks whether to leave it', async () => {
    session = 'unsaved';
    await open('/unsaved');
    expect(await open('/shop')).toBe(`Opened http://${site.host}/shop\nTitle: Shop`);
  });

  it('selects from lists in the browser, and reads the labels of buttons', async () => {
    session = 'list';
    await open('/list');
    expect(await act('fill', { selector: '#list', value: 'Tea' })).toBe('Filled #list');
    expect(await act('get_text', { selector: '#p' })).toBe('chose a');
    expect(await act('find', { by: 'role', value: 'combobox', find_action: 'fill', fill_value: 'b' })).toBe('Filled role combobox');
    expect(await act('get_text', { selector: '#p' })).toBe('chose b');
    expect(await act('fill', { selector: '#list', value: 'Rum' })).toBe(
      'The list has no option "Rum". Its options are "a", "Tea", "b", "Milk".',
    );
    expect(await act('find', { by: 'role', value: 'button' })).toBe('Send');
  });

  it('stays on its page when a link leads to a file', async () => {
    session = 'files';
    await open('/to-file');
    expect(await act('get_text')).toMatch(/^still here/);
  });

  it('cuts a huge text of a page', async () => {
    session = 'huge';
    await open('/huge');
    const text = await act('get_text');
    expect(text).toMatch(/\[\d+ more characters\]$/);
    expect(text.length).toBeLessThan(51_000);
  });
});

describe('browser with little time', () => {
  let quick: BrowserTool;
  const acts = (action: string, args: object = {}, more: object = {}) => textFrom(call({ action, ...args }, more, quick));
  beforeAll(() => {
    quick = toolWith({ actionMs: LITTLE_MS });
  });
  afterAll(() => quick.onApplicationShutdown());
  afterEach(() => acts('close'));

  it('shows the loaded part of a page that loads endlessly', async () => {
    session = 'endless';
    expect(await acts('open', { url: '/endless' })).toMatch(/\[the page is still loading\]$/);
    expect(await acts('get_text')).toBe('the beginning');
  });

  it('cuts the connections of a page that loads too much', async () => {
    session = 'flood';
    expect(await acts('open', { url: '/flood' })).toMatch(/loaded more than 104,857,600 bytes|could not be loaded|still loading/);
    expect(await acts('open', { url: '/shop' })).toContain('Title: Shop');
  });

  it('names the text that did not appear on a page', async () => {
    session = 'waits';
    await acts('open', { url: '/shop' });
    expect(await acts('click', { selector: '#none' })).toBe(
      'Timed out: #none did not appear, or could not be used within 5 s. Use the action snapshot to see the page.',
    );
    expect(await acts('click', { selector: '##' })).toMatch(/^click failed: /);
  });

  it('closes a page with endless scripts, and opens another', async () => {
    session = 'loop';
    await acts('open', { url: '/loop' });
    await acts('click', { selector: 'button' });
    expect(await acts('get_text')).toMatch(/The page does not answer and was closed|Timed out/);
    expect(await acts('open', { url: '/shop' })).toContain('Title: Shop');
  });

  it('closes the page of a cancelled call', async () => {
    session = 'cancelled';
    await acts('open', { url: '/shop' });
    const cancel = new AbortController();
    const waiting = call({ action: 'wait', ms: 15_000 }, { signal: cancel.signal }, quick);
    setImmediate(() => cancel.abort(new ToolError('cancelled', 'Cancelled')));
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect(await acts('get_url')).toMatch(/^No page is open/);
  });

  it('closes an idle page and stops its requests', async () => {
    const idle = toolWith({ idleMs: 1_000, actionMs: LITTLE_MS });
    session = 'idle';
    expect(await textFrom(call({ action: 'open', url: '/endless' }, {}, idle))).toContain('Title: E');
    await eventually(() => endless === 0);
    expect(await textFrom(call({ action: 'get_url' }, {}, idle))).toMatch(/^No page is open/);
    await idle.onApplicationShutdown();
  });

  it('closes the page of a deleted session and stops its requests', async () => {
    const ends = new SessionEnds();
    const own = toolWith({ actionMs: LITTLE_MS }, ends);
    session = 'deleted';
    expect(await textFrom(call({ action: 'open', url: '/endless' }, {}, own))).toContain('Title: E');
    const { tenantId } = fakeToolContext();
    for (const other of [
      { tenantId: 'other', sessionId: session },
      { tenantId, sessionId: 'kept' },
    ])
      ends.announce(other);
    expect(await textFrom(call({ action: 'get_url' }, {}, own))).not.toMatch(/^No page is open/);
    ends.announce({ tenantId, sessionId: session });
    await eventually(() => endless === 0);
    expect(await textFrom(call({ action: 'get_url' }, {}, own))).toMatch(/^No page is open/);
    await own.onApplicationShutdown();
  });

  it('refuses pages beyond the limit, and beyond half of it for a tenant', async () => {
    const few = toolWith({ mostSessions: 2 });
    session = 'first';
    expect(await textFrom(call({ action: 'open', url: '/shop' }, {}, few))).toContain('Title: Shop');
    session = 'second';
    expect(await textFrom(call({ action: 'open', url: '/shop' }, {}, few))).toMatch(/^Too many open pages: your sessions have 1\./);
    expect(await textFrom(call({ action: 'open', url: '/shop' }, { tenantId: 'other' }, few))).toContain('Title: Shop');
    await few.onApplicationShutdown();
  });

  it.each([
    [{ mode: 'off' as const }, /^browser is not available: BROWSER switches it off on this worker$/],
    [{ executable: '/nonexistent/chromium' }, /^browser is not available: there is no Chromium at \/nonexistent\/chromium: install/],
  ])('reports the browser as unavailable with the reason: %j [AV-16]', async (settings, message) => {
    const none = toolWith(settings);
    session = 'unavailable';
    for (const action of ['open', 'get_text']) expect(await textFrom(call({ action, url: '/shop' }, {}, none))).toMatch(message);
    await none.onApplicationShutdown();
  });
});

/** Tries all ways in which a page can reach a host, port and UDP port of its machine. */
function pageOfWays(host: string, port: number, udpPort: number): string {
  const url = `http://${host}`;
  return `<title>T</title><p>empty</p>
    <link rel="stylesheet" href="${url}/style"><link rel="preconnect" href="${url}"><link rel="prefetch" href="${url}/prefetch">
    <link rel="modulepreload" href="${url}/module"><link rel="icon" href="${url}/icon"><style>@import "${url}/import";</style>
    <img src="${url}/image"><iframe src="${url}/frame"></iframe><script src="http://localhost:${host.split(':')[1]}/script"></script>
    <iframe srcdoc="<img src='${url}/srcdoc'>"></iframe><iframe src="data:text/html,<img src='${url}/data'>"></iframe>
    <object data="${url}/object"></object><embed src="${url}/embed"><video src="${url}/video"></video>
    <form id="form" method="post" action="${url}/form" target="named"></form><iframe name="named"></iframe>
    <a id="download" href="${url}/download" target="named" download>d</a><a id="ping" href="#" ping="${url}/ping">p</a>
    <script>
      const quiet = (run) => { try { return Promise.resolve(run()).catch(() => 0); } catch { return 0; } };
      const ended = (open) => quiet(() => new Promise((end) => { const it = open(); it.onerror = it.onclose = end; }));
      const source = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
      const asks = 'fetch("${url}/worker", { mode: "no-cors" }).then(() => postMessage(1), () => postMessage(0))';
      form.submit(); download.click(); ping.click(); window.open('${url}/popup');
      navigator.sendBeacon('${url}/beacon', 'x');
      navigator.serviceWorker?.register('/worker.js').catch(() => undefined);
      // Every address has been asked for, and every pair of addresses has been tried: without addresses there is none.
      const connected = async (peer) => {
        while (peer.iceGatheringState !== 'complete') await new Promise((end) => (peer.onicegatheringstatechange = end));
        const untried = async () => [...(await peer.getStats()).values()]
          .some((it) => it.type === 'candidate-pair' && it.state !== 'failed' && it.requestsSent === 0);
        while (await untried()) await new Promise(requestAnimationFrame);
      };
      const ice = async () => {
        const servers = ['stun:127.0.0.1:${udpPort}', 'turn:127.0.0.1:${udpPort}', 'turn:127.0.0.1:${port}?transport=tcp'];
        const [one, other] = [
          new RTCPeerConnection({ iceServers: servers.map((urls) => ({ urls, ...(urls[0] === 't' && { username: 'x', credential: 'x' }) })) }),
          new RTCPeerConnection(),
        ];
        one.createDataChannel('x');
        await one.setLocalDescription(await one.createOffer());
        await other.setRemoteDescription(one.localDescription);
        await other.setLocalDescription(await other.createAnswer());
        await one.setRemoteDescription(other.localDescription);
        for (const candidate of ['1 1 udp 2113937151 127.0.0.1 ${udpPort} typ host', '2 1 tcp 1518280447 127.0.0.1 ${port} typ host tcptype passive'])
          await one.addIceCandidate({ candidate: 'candidate:' + candidate, sdpMid: '0' });
        await Promise.all([one, other].map(connected));
      };
      Promise.all([
        quiet(() => fetch('${url}/fetch').then(() => 1)),
        quiet(() => fetch('${url}/opaque', { mode: 'no-cors' }).then(async (answer) => Number(answer.status !== 0))),
        quiet(() => fetch('https://127.0.0.1:${port}/', { mode: 'no-cors' }).then(() => 1)),
        quiet(() => fetch('view-source:${url}/').then(() => 1)),
        quiet(() => fetch('file:///etc/passwd').then(() => 1)),
        quiet(() => new Promise((end) => (new Worker(source(asks)).onmessage = ({ data }) => end(0 * data)))),
        ended(() => new WebSocket('ws://127.0.0.1:${port}/')),
        ended(() => new EventSource('${url}/events')),
        quiet(() => new WebTransport('https://127.0.0.1:${udpPort}/').ready.then(() => 1)),
        quiet(ice),
      ]).then((all) => {
        document.querySelector('p').textContent = 'all tried: ' + all.filter((it) => it === 1).length + ' answers';
      });
    </script>`;
}
