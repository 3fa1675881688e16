import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { type TestSite, testSite } from '../../../sandbox/src/testing/test-site.fixture.js';
import { textFrom } from '../testing/outputs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { input } from './browser-arguments.js';
import { browserSettingsFrom } from './browser.config.js';
import { BrowserTool } from './browser.tool.js';

const LOGIN = `<label>Name <input value="tea drinker"></label>
<label>Password <input id="password" type="password" value="s3cret: &quot;one&quot;"></label>
<label><input type="checkbox">use <input type="password" value="in-a-name"></label>
<div style="pointer-events: none"><input type="password" value="e2"></div><input id="none" type="password">
<iframe srcdoc='<input type="password" value="in-a-frame">'></iframe>`;

describe('browser', () => {
  let site: TestSite;
  let tool: BrowserTool;
  beforeAll(async () => {
    site = await testSite((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(LOGIN));
    // The sandbox of Chromium does not work as root.
    const BROWSER = process.getuid?.() === 0 ? 'unsandboxed' : 'sandboxed';
    const settings = browserSettingsFrom({ BROWSER, BROWSER_EXECUTABLE: process.env['CHROMIUM'] ?? '/usr/bin/chromium' });
    tool = new BrowserTool(new EgressPolicy([site.host], async () => [{ address: '127.0.0.1', family: 4 }]), settings);
  });
  afterAll(async () => {
    await tool.onApplicationShutdown();
    await site.close();
  });

  const act = (action: string, args: object = {}) =>
    textFrom(tool.run(input.parse({ action, ...args }), fakeToolContext({ sessionId: 'login' })));

  it('shows no value of a password field', async () => {
    await act('open', { url: `http://${site.host}/` });
    const shown = await act('snapshot');
    expect(shown).toMatch(/textbox "Name" \[@e\d+\]: tea drinker/);
    expect(shown).toMatch(/textbox "Password" \[@e\d+\]: "\[REDACTED\]"/);
    expect(shown).toContain('checkbox "use [REDACTED]"');
    expect(shown).toContain('[@e2]');
    expect(shown).not.toMatch(/s3cret|in-a-name|in-a-frame|: e2/);
    await act('fill', { selector: '#none', value: 'filled in' });
    expect(await act('snapshot', { interactive_only: true })).not.toContain('filled in');
    expect(await act('get_text', { selector: '#none' })).toBe('[REDACTED]');
    await act('fill', { selector: '#none', value: '' });
    expect(await act('get_text', { selector: '#none' })).toBe('');
  });
});
