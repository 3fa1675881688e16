import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../../support/agent.js';
import { accessibilityFaults, startBrowser, type TestBrowser } from '../../support/browser.js';
import { startToolyard, type Toolyard } from '../../support/toolyard.js';

let toolyard: Toolyard;
let agent: Agent;
let browser: TestBrowser;
let url = '';
let failed = '';

beforeAll(async () => {
  [toolyard, browser] = await Promise.all([startToolyard({ env: { SANDBOX: 'host' } }), startBrowser()]);
  url = toolyard.gateways[0]!.url;
  agent = new Agent(url);
  await agent.request('PUT', '/v1/sessions/pages', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  failed = (await agent.run('file_read', { path: 'nothing-here.txt' }, { sessionId: 'pages', agentId: 'coder' })).id;
  await agent.run(
    'echo',
    { text: 'hello', list: [1, 2, { deep: true }] },
    { sessionId: 'pages', agentId: 'coder', labels: { step: 'one' } },
  );
  await agent.submit('shell', { command: 'git push --force origin main' }, { sessionId: 'pages', agentId: 'coder' });
});
afterAll(async () => {
  await browser?.close();
  await toolyard?.close();
});

/** Each page, and what shows that it has come with its content. */
const PAGES: readonly (readonly [path: () => string, shows: string])[] = [
  [() => '/live', 'text=Queues by pool'],
  [() => '/calls', '[role=row][data-call]'],
  [() => `/calls/${failed}`, '[aria-label=Timeline] >> text=Failed'],
  [() => '/approvals', 'text=May this run?'],
  [() => '/sessions', 'a >> text=pages'],
  [() => '/sessions/pages', '[role=listitem][data-call]'],
  [() => '/tools', '[data-tool=shell]'],
  [() => '/tools/shell', 'text=Call shell'],
  [() => '/workers', '[data-worker]'],
  [() => '/failures', '[data-fingerprint]'],
  [() => '/no/such/page', 'text=There is no such page'],
];

describe.each(PAGES.map(([path, shows], index) => ({ name: path().replace(/^\/calls\/$/, '/calls/:id'), index, path, shows })))(
  'page $name',
  ({ path, shows }) => {
    it.each(['light', 'dark'] as const)('is accessible to all in %s colours', async (colorScheme) => {
      const page = await browser.open(url + path(), { colorScheme });
      await page.locator(shows).first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.context().close();
    });

    it('fits a phone', async () => {
      const page = await browser.open(url + path(), { viewport: { width: 375, height: 812 } });
      await page.locator(shows).first().waitFor();
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
      await page.context().close();
    });
  },
);

it('is steered by the keyboard: search, and g and a letter for a page', async () => {
  const page = await browser.open(`${url}/live`);
  await page.locator('[data-connection=live]').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.waitForURL(`${url}/failures`);
  await page.keyboard.press('/');
  await page.locator('input:focus[aria-label=Search]').waitFor();
  await page.keyboard.type(failed);
  await page.getByText(`Call ${failed}`).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/calls/${failed}`);
  await page.context().close();
});

it('no page threw or broke its security policy', () => {
  expect(browser.faults).toEqual([]);
});
