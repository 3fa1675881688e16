import { describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';

const stage = dashboardHarness();

describe('the API explorer at /docs', () => {
  it('opens the API explorer at /docs accessible to all', async () => {
    const page = await stage.open('/docs');
    await page.locator('.opblock').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  // Checks phone and dark mode together, since the page is large: each check takes seconds.
  it('shows the API explorer dark where the dashboard is, accessible on a phone, and with the key of its tab', async () => {
    const page = await stage.open('/live', { colorScheme: 'dark', viewport: { width: 375, height: 812 } });
    await page.locator('[data-connection=live]').waitFor();
    await page.goto(`${stage.url}/docs`);
    await page.locator('html.dark-mode .opblock').first().waitFor();
    const operation = page.locator('#operations-calls-submitCall');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.code-samples').getByText('Python', { exact: true }).click();
    await operation.getByText('import json, os, urllib.request').waitFor();
    await operation.getByText('Try it out').click();
    await operation.getByText('Execute').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await operation.getByText('Execute').click();
    await operation.locator('.live-responses-table .response-col_status').getByText('202').waitFor();
  });

  it('shows a page of the frames of the WebSockets, each with its fields and an example, that needs no script', async () => {
    const page = await stage.open('/docs/stream');
    await page.getByRole('heading', { name: 'Frames a client sends' }).waitFor();
    const frame = page.locator('details[id="client.subscribe"]');
    await frame.locator('summary').click();
    await frame.getByText('"sessionId": "demo"').waitFor();
    await frame.getByRole('rowheader', { name: 'filter' }).waitFor();
    expect(await page.locator('script').count()).toBe(0);
    expect(await page.locator('details').count()).toBe(await page.locator('details:has(pre)').count());
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 375, height: 812 });
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
