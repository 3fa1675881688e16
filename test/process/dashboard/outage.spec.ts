import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const stage = dashboardHarness();

async function stopGateway(): Promise<void> {
  const gateway = stage.toolyard.gateways.at(-1);
  gateway?.signal('SIGTERM');
  await gateway?.ended();
}

const startGateway = () => stage.toolyard.gateway({ GATEWAY_PORT: new URL(stage.url).port });
const bar = (page: Page) => page.locator('[data-outage]');
const allLoaded = (page: Page) => page.locator('html[data-pages=loaded]').waitFor({ state: 'attached' });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

it('reports on every page that the gateway is away, disables decisions, and recovers by itself', async () => {
  await stage.agent.request('PUT', '/v1/sessions/away', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  const { id } = (await stage.agent.submit('shell', { command: 'git push' }, { sessionId: 'away' })).body;
  const page = await stage.open(`/approvals/${id}`);
  const deny = page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: /^Deny/ });
  await page.locator('[data-takes-keys=true]').waitFor();
  await allLoaded(page);
  expect(await bar(page).count()).toBe(0);

  await stopGateway();
  await bar(page)
    .getByText(/^No connection since \d\d:\d\d, trying again (in \d+ s|now)$/)
    .waitFor();
  await eventually(async () => await deny.isDisabled(), 'the answer to be off');
  expect(await deny.getAttribute('aria-description')).toBe('No connection to the gateway: what is shown may be old.');
  await page.keyboard.press('d');
  await page.locator('[data-refuses=true]').getByText('No connection to the gateway').waitFor();
  expect(await page.locator('[data-held]').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);

  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  for (const name of ['Live', 'Calls', 'Sessions', 'Failures', 'Tools', 'Sources', 'Schedules', 'Workers', 'Usage', 'Keys', 'Approvals']) {
    await links.getByText(name, { exact: true }).click();
    await heading(page, name).waitFor();
    await bar(page).waitFor();
    expect(await page.getByText('That did not work').count()).toBe(0);
  }

  await startGateway();
  await bar(page).waitFor({ state: 'detached' });
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.locator('[data-takes-keys=true]').waitFor();
  await deny.click();
  await page.getByRole('button', { name: 'Deny now' }).click();
  expect((await stage.agent.ended(id)).outcome).toBe('denied');
});

it('opens a page whose file failed to load after a retry by a person, or when the gateway is back', async () => {
  const page = await stage.browser.page();
  await page.route(/assets\/(tools|workers)-page-/, (route) => route.abort());
  await page.goto(`${stage.url}/live#key=${TEST_KEY}`);
  await allLoaded(page);
  await page.getByRole('navigation', { name: 'Pages' }).getByText('Tools', { exact: true }).click();
  const retry = page.getByRole('button', { name: 'Try again' });
  await page.getByText('The page is not loaded yet.').waitFor();
  await page.unroute(/assets\/(tools|workers)-page-/);
  await retry.click();
  await heading(page, 'Tools').waitFor();

  await page.route(/assets\/workers-page-/, (route) => route.abort());
  await page.goto(`${stage.url}/live`);
  await allLoaded(page);
  await stopGateway();
  await bar(page).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByText('Workers', { exact: true }).click();
  await page.getByText('It opens by itself as soon as the gateway is back.').waitFor();
  await page.unroute(/assets\/workers-page-/);
  await startGateway();
  await heading(page, 'Workers').waitFor();
  // The error boundary writes what it caught to the console.
  expect(new Set(stage.browser.faults.splice(0).map((fault) => /The page is not loaded yet/.test(fault)))).toEqual(new Set([true]));
});
