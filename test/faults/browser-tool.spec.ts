import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const PAGE = `<title>Shop</title><button onclick="document.querySelector('p').textContent = 'bought'">Buy</button><p>for sale</p>
<a id="in" href="http://127.0.0.1/">inside</a><a id="out" href="http://sub.blocked.example/">outside</a>`;

const LOADING_PAGE = `<title>Loading</title><script>fetch('/endless')</script>`;

/** Chromium of a worker, used over HTTP. */
describe('the browser of a session', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-browser-'));
  let site: Server;
  /** Requests that a page has open. */
  let endless = 0;
  let toolyard: TestCluster;
  let agent: Agent;
  let host: string;
  beforeAll(async () => {
    site = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      if (request.url !== '/endless') return void response.end(request.url === '/loading' ? LOADING_PAGE : PAGE);
      response.write(' ');
      endless += 1;
      response.on('close', () => (endless -= 1));
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    const config = join(folder, 'toolyard.json');
    const egress = { privateHosts: [host], blockedDomains: ['blocked.example'] };
    writeFileSync(config, JSON.stringify({ agents: { web: { policy: { egress } } } }));
    toolyard = await startTestCluster({
      env: {
        TOOLYARD_CONFIG: config,
        EGRESS_ALLOW_HOSTS: host,
        // Mode of the browser: the sandbox of Chromium does not work as root.
        BROWSER: process.getuid?.() === 0 ? 'unsandboxed' : 'sandboxed',
        BROWSER_EXECUTABLE: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      },
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true });
  });

  const browser = (args: object) => agent.run('browser', args, { sessionId: 'shop', agentId: 'web' });

  it("stays on the page of a browser from call to call: a snapshot's items can be clicked, a screenshot is an image [TB-64]", async () => {
    expect(textOf(await browser({ action: 'open', url: `http://${host}/` }))).toContain('Title: Shop');
    const ref = /button "Buy" \[(@\w+)\]/.exec(textOf(await browser({ action: 'snapshot' })) ?? '')?.[1];
    expect(textOf(await browser({ action: 'click', selector: ref }))).toContain(`Clicked ${ref}`);
    expect(textOf(await browser({ action: 'get_text', selector: 'p' }))).toContain('bought');
    const { result } = await browser({ action: 'screenshot' });
    expect(result?.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }));
  });

  it('reaches no private host: by its address before the call runs, by a link of a page while it runs [TB-64]', async () => {
    expect(await browser({ action: 'open', url: 'http://127.0.0.1:1/' })).toMatchObject({ outcome: 'denied', attempt: 0 });
    expect(await browser({ action: 'open', url: 'http://sub.blocked.example/' })).toMatchObject({ outcome: 'denied', attempt: 0 });
    await browser({ action: 'open', url: `http://${host}/` });
    const clicked = await browser({ action: 'click', selector: '#in' });
    expect(clicked).toMatchObject({ outcome: 'denied', attempt: 1, error: { code: 'policy_denied' } });
    expect(clicked.error?.message).toMatch(/^Blocked: 127\.0\.0\.1 is (?:a loopback|not a public) address/);
    await browser({ action: 'open', url: `http://${host}/` });
    const blocked = await browser({ action: 'click', selector: '#out' });
    expect(blocked).toMatchObject({ outcome: 'denied', attempt: 1, error: { code: 'policy_denied' } });
    expect(blocked.error?.message).toContain('sub.blocked.example is in the blocked domain blocked.example');
  });

  it('closes the page of a browser and stops its requests when its session is deleted', async () => {
    expect(textOf(await browser({ action: 'open', url: `http://${host}/loading` }))).toContain('Title: Loading');
    await eventually(() => endless === 1, 'the request of the page');
    expect((await agent.request('DELETE', '/v1/sessions/shop')).status).toBe(204);
    // Far less than a page may be idle.
    await eventually(() => endless === 0, 'the page to be closed', 20_000);
  });
});
