import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Schedule } from '#contracts';
import type { Page } from 'playwright-core';
import { accessibilityFaults, COLOUR_RULES } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();
let failed = '';
let exited = '';
let scheduled = '';

beforeAll(async () => {
  const { agent } = stage;
  await agent.request('PUT', '/v1/sessions/pages', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  failed = (await agent.run('file_read', { path: 'nothing-here.txt' }, { sessionId: 'pages', agentId: 'coder' })).id;
  exited = (await stage.agent.run('shell', { command: 'echo no; exit 3' })).id;
  await stage.agent.run(
    'echo',
    { text: 'hello', list: [1, 2, { deep: true }] },
    { sessionId: 'pages', agentId: 'coder', labels: { step: 'one' } },
  );
  await stage.agent.run('echo', { text: 'other' }, { sessionId: 'other-pages' });
  await stage.agent.submit('shell', { command: 'git push --force origin main' }, { sessionId: 'pages', agentId: 'coder' });
  const schedule = { everyMs: 86_400_000, call: { tool: 'shell', arguments: { command: 'exit 3' } } };
  scheduled = (await agent.request<Schedule>('POST', '/v1/schedules', schedule)).body.id;
  await agent.request('POST', `/v1/schedules/${scheduled}/run`);
  await agent.request('POST', '/v1/keys', { name: 'of the pages', scopes: ['read'], tools: ['file_*'] });
  await agent.request('POST', '/v1/sources', { kind: 'mcp', name: 'away', url: 'http://127.0.0.1:9/mcp' });
  await stage.agent.submit('sleep', { duration_ms: 3_600_000 }, { sessionId: 'pages', agentId: 'coder' });
});

/** Each page, and what shows that it has come with its content. */
const PAGES: readonly (readonly [path: () => string, shows: string])[] = [
  [() => '/live', 'button:not([aria-disabled]) >> text=Allow once'],
  [() => '/calls', '[role=row][data-call]'],
  [() => `/calls/${failed}`, '[aria-label=Timeline] >> text=Failed'],
  [() => `/calls/${exited}`, 'text=The tool answered with an error'],
  [() => '/approvals', 'text=May this run?'],
  [() => '/sessions', 'a >> text=pages'],
  [() => '/sessions/pages', '[role=listitem][data-call]'],
  [() => '/tools', '[data-tool=shell]'],
  [() => '/tools/shell', 'text=/The last \\d+ calls/'],
  [() => '/sources', '[data-source=away] [data-source-status=failed]'],
  [() => '/sources/away', 'text=Last error'],
  [() => '/sources/none', 'text=There is no source none'],
  [() => '/sources/new', 'text=Add the source'],
  [() => '/sources/new?kind=openapi', 'text=Base address'],
  [() => '/schedules', '[data-schedule]'],
  [() => `/schedules/${scheduled}`, '[data-call] [data-state=error]'],
  [() => '/schedules/new', 'text=At 07:00, Monday through Friday'],
  [() => '/workers', '[data-worker]'],
  [() => '/usage', '[data-usage=coder]'],
  [() => '/usage?window=24h&by=tool&measure=runMs', '[data-usage=shell]'],
  [() => '/keys', '[data-key] [data-made-by]'],
  [() => '/keys/new', 'text=Make the key'],
  [() => '/failures', '[data-fingerprint]'],
  [() => '/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V', 'text=There is no such call'],
  [() => '/tools/no_such_tool', 'text=There is no tool no_such_tool'],
  [() => '/no/such/page', 'text=There is no such page'],
];

/** Tab for all pages: the browser compiles the dashboard once. */
let tab: Page;

describe.each(PAGES.map(([path, shows], index) => ({ name: path().replace(/^\/calls\/$/, '/calls/:id'), index, path, shows })))(
  'page $name',
  ({ path, shows }) => {
    it('shows an accessible page in light and dark colours, fitting a phone', async () => {
      tab ??= await stage.open('/live', { kept: true });
      await tab.setViewportSize({ width: 1280, height: 900 });
      await tab.emulateMedia({ colorScheme: 'light' });
      await tab.goto(stage.url + path());
      await tab.locator(shows).first().waitFor();
      // The badge of waiting approvals is on every page.
      await tab.getByLabel('1 waiting').waitFor();
      expect(await accessibilityFaults(tab)).toEqual([]);

      await tab.emulateMedia({ colorScheme: 'dark' });
      expect(await accessibilityFaults(tab, COLOUR_RULES)).toEqual([]);

      // Tall enough that no link is half below a bar that stays in view while the page scrolls: axe reports such a link as a small
      // target.
      await tab.setViewportSize({ width: 375, height: 2400 });
      await tab.locator(shows).first().waitFor();
      expect(await accessibilityFaults(tab)).toEqual([]);
      await eventually(
        async () => (await tab.evaluate<number>('document.documentElement.scrollWidth')) <= 375,
        'the page to be no wider than a phone',
      );
    });
  },
);

it('reports a silent gateway in place of figures', async () => {
  const page = await stage.open('/calls');
  await page.locator('[role=row][data-call]').first().waitFor();
  await page.route('**/v1/**', () => {});
  await page.goto(`${stage.url}/live`);
  await page.getByText('The gateway has not answered yet.').first().waitFor();
  await page.locator('[data-tile=Running]:text-is("–")').waitFor();
});

it('explains why the agents cannot be listed, and recovers', async () => {
  const page = await stage.open('/calls');
  const forbidden = { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'not with this key', code: 'forbidden' };
  const refuse = { status: 403, contentType: 'application/problem+json', body: JSON.stringify(forbidden) };
  await page.route(/\/v1\/calls\?/, (route) => route.fulfill(refuse));
  await page.goto(`${stage.url}/live`);
  const agents = page.getByRole('region', { name: 'Agents' });
  await agents.getByText('Forbidden: not with this key').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.unroute(/\/v1\/calls\?/);
  await agents.getByRole('button', { name: 'Try again' }).click();
  await agents.locator('[data-agent-row=pages]').waitFor();
  expect(await agents.getByRole('alert').count()).toBe(0);
});

it('navigates by keyboard: search, and g with a letter for a page', async () => {
  const page = await stage.open('/live');
  await page.locator('[data-connection=live]').waitFor();
  // Sends both keys at once, as the second key counts for a moment only.
  await page.evaluate(`for (const key of 'gf') document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`);
  await page.waitForURL(`${stage.url}/failures`);
  await page.keyboard.press('/');
  await page.locator('input:focus[aria-label=Search]').waitFor();
  await page.keyboard.type(failed);
  await page.getByText(`Call ${failed}`).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stage.url}/calls/${failed}`);

  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Next row').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.locator('input:focus[aria-label=Search]').fill('ER-PAG');
  await page.getByRole('button', { name: /^other-pages/ }).waitFor();
  await page.locator('input:focus[aria-label=Search]').fill('code');
  await page.getByRole('button', { name: /^coder Agent/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.locator('input:focus[aria-label=Search]').fill('pages');
  await page.getByRole('button', { name: /^Cancel session pages/ }).waitFor();
});

/** Each list, its rows, and the address that Enter opens in the second row. */
const LISTS: readonly (readonly [path: string, rows: string, opens: (row: string) => RegExp])[] = [
  ['/calls', '[role=row][data-call]', (call) => new RegExp(`/calls/${call}$`)],
  ['/sessions', 'table[aria-label=Sessions] tbody tr', () => /\/sessions\/[^/]+$/],
  ['/tools', '[data-tool]', (tool) => new RegExp(`/tools/${tool}$`)],
  ['/failures', '[data-fingerprint]', (fingerprint) => new RegExp(`/failures\\?.*peek=${fingerprint}`)],
  ['/usage?by=tool', '[data-usage]', (tool) => new RegExp(`/usage\\?.*tool=${tool}`)],
];

describe.each(LISTS)('the list %s', (path, rows, opens) => {
  it('moves between rows of a list with j and k and opens one with Enter', async () => {
    const page = await stage.open(path);
    await page.locator(rows).nth(1).waitFor();
    const steps = [
      ['j', 0],
      ['ArrowDown', 1],
      ['k', 0],
      ['k', 0],
      ['j', 1],
    ] as const;
    for (const [key, at] of steps) {
      await page.keyboard.press(key);
      await page.locator(rows).nth(at).locator(':focus').waitFor();
    }
    const second = page.locator(rows).nth(1);
    const ids = await Promise.all(['data-call', 'data-tool', 'data-fingerprint', 'data-usage'].map((name) => second.getAttribute(name)));
    await page.keyboard.press('Enter');
    await page.waitForURL(opens(ids.find((id) => id !== null) ?? ''));
  });
});

it('orders tools in compact rows by a column heading, which shows the order', async () => {
  const page = await stage.open('/tools');
  const head = page.getByRole('columnheader', { name: 'Calls' });
  const first = page.locator('[data-source=builtin] [data-tool]').first();
  await first.waitFor();
  expect([await head.getAttribute('aria-sort'), await first.locator('[data-label=Calls]').innerText()]).toEqual([null, '–']);
  await head.getByRole('button').click();
  await page.waitForURL(/sort=calls/);
  await first.locator('[data-label=Calls]').getByRole('link').waitFor();
  expect(await head.getAttribute('aria-sort')).toBe('descending');
  expect((await first.boundingBox())?.height).toBeLessThan(40);
  expect(await accessibilityFaults(page)).toEqual([]);
});

it('shows a call beside the list of calls by button, focus and Space, also after a reload, and closes it with Escape', async () => {
  const inSession = { sessionId: 'beside' };
  const fine = await stage.agent.run('shell', { command: 'printf "%s of two\\n" first' }, inSession);
  const failing = await stage.agent.run('shell', { command: 'printf "%s of two\\n" second; exit 6' }, inSession);
  const page = await stage.open('/calls?sessionId=beside');
  const preview = page.getByRole('complementary', { name: 'Call beside the list' });
  const row = (callId: string) => page.locator(`[role=row][data-call="${callId}"]`);
  const link = (callId: string) => row(callId).getByRole('link', { name: /^Call shell / });
  const isPeeked = (callId: string) => page.waitForURL((url) => url.searchParams.get('peek') === callId);
  await row(fine.id).getByRole('button', { name: 'beside the list' }).click();
  await isPeeked(fine.id);
  await preview.locator('[data-state=completed]').waitFor();
  await preview.getByRole('link', { name: 'beside' }).waitFor();
  await preview.getByRole('log').getByText('first of two').waitFor();
  await row(fine.id).and(page.locator('[data-peeked]')).waitFor();
  expect(await page.getByRole('columnheader').allInnerTexts()).toEqual(['State', 'Tool', 'Subject', 'Run time']);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.reload();
  await preview.getByRole('log').getByText('first of two').waitFor();

  await link(failing.id).focus();
  await isPeeked(failing.id);
  await preview.locator('[data-state=error]').waitFor();
  await preview.getByRole('log').getByText('second of two').waitFor();
  await page.keyboard.press('Escape');
  await preview.waitFor({ state: 'detached' });
  await page.waitForURL(`${stage.url}/calls?sessionId=beside`);

  await link(fine.id).focus();
  await page.keyboard.press('Space');
  await isPeeked(fine.id);
  await preview.getByRole('link', { name: 'Open' }).click();
  await page.waitForURL(`${stage.url}/calls/${fine.id}`);
});

it('has the window of Live in the address, after a reload and in its links to calls, too', async () => {
  const page = await stage.open('/live');
  const title = (step: string) => page.getByText(`Calls that ended, by ${step}`).waitFor();
  const windows = page.getByRole('radiogroup', { name: 'How far back' });
  const hour = windows.getByRole('radio', { name: '1h' });
  await title('10 seconds');
  await windows.getByText('1h', { exact: true }).click();
  await page.waitForURL(`${stage.url}/live?window=1h`);
  await title('minute');
  await page.reload();
  await title('minute');
  expect(await hour.isChecked()).toBe(true);
  await page.getByRole('link', { name: 'errors', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/calls' && url.searchParams.get('since') === '1h');
  await page.goBack();
  await title('minute');
  expect(await hour.isChecked()).toBe(true);
  await page.goto(`${stage.url}/live?window=1y`);
  await title('10 seconds');
});

it('follows calls of a session at the full height of the window until a person scrolls, and marks failures in a minimap', async () => {
  const inSession = { sessionId: 'many-calls' };
  await stage.agent.run('shell', { command: 'exit 3' }, inSession);
  await Promise.all(Array.from({ length: 60 }, (_, n) => stage.agent.run('echo', { n }, inSession)));
  await stage.agent.submit('sleep', { duration_ms: 3_600_000 }, inSession);
  const page = await stage.open('/sessions/many-calls');
  const list = page.getByRole('list', { name: 'Calls of the session' });
  const follow = page.getByRole('button', { name: 'Follow' });
  const follows = async () => (await follow.getAttribute('aria-pressed')) === 'true';
  const place = () =>
    list.evaluate((element: { scrollTop: number; scrollHeight: number; clientHeight: number }) => ({
      top: element.scrollTop,
      height: element.clientHeight,
      below: element.scrollHeight - element.scrollTop - element.clientHeight,
    }));
  const isAtEnd = async () => (await place()).below <= 1;
  await page.getByText('62 calls, 1 under way').waitFor();
  await eventually(isAtEnd, 'the last call to be in view');
  expect(await follows()).toBe(true);

  const { height } = await place();
  const box = await list.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(900);
  await page.setViewportSize({ width: 1280, height: 1200 });
  await eventually(async () => (await place()).height === height + 300, 'the list to be as much higher as the window');
  await page.setViewportSize({ width: 1280, height: 900 });
  await eventually(async () => (await place()).height === height && (await isAtEnd()), 'the last call to be in view in a smaller window');

  await stage.agent.run('echo', { text: 'followed' }, inSession);
  await page.getByText('63 calls, 1 under way').waitFor();
  await eventually(isAtEnd, 'the new call to be in view');
  await list.getByText('followed').waitFor();

  await list.evaluate((element: { scrollTop: number }) => void (element.scrollTop = 0));
  await eventually(async () => !(await follows()), 'the list to stay where a person moved it');
  await stage.agent.run('echo', { text: 'below the view' }, inSession);
  await page.getByText('64 calls, 1 under way').waitFor();
  expect((await place()).top).toBe(0);
  await follow.click();
  await list.getByText('below the view').waitFor();
  await eventually(isAtEnd, 'the last call to be in view again');

  // The first row failed: red.
  const pixel = `[...document.querySelector('[data-minimap] canvas').getContext('2d').getImageData(3, 3, 1, 1).data]`;
  expect(await page.evaluate<number[]>(pixel)).toEqual([224, 49, 49, 255]);
  await page.locator('[data-minimap]').click({ position: { x: 7, y: 3 } });
  await eventually(async () => (await place()).top === 0, 'the first call to be in view');
  expect(await follows()).toBe(false);
});
