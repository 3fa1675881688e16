import { describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const stage = dashboardHarness();

describe('the API reference at /docs', () => {
  it('opens an operation by its address, in the frame of the dashboard, and finds others by words', async () => {
    const page = await stage.open('/docs/submitCall');
    const shown = page.locator('[data-shown=submitCall]');
    await shown.getByText('/v1/calls', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await shown.locator('[data-field=timeouts]').first().getByRole('button', { name: 'Fields of timeouts' }).click();
    await shown.locator('[data-field=timeouts] [data-field=runMs]').first().waitFor();
    await page.getByLabel('Find an operation').fill('steer message');
    await page.locator('[data-operation=steerSession]').click();
    await page.waitForURL(/\/docs\/steerSession$/);
    await page.locator('[data-shown=steerSession]').waitFor();
    await page.goBack();
    await shown.waitFor();
    await page.goto(`${stage.url}/docs/noSuchOperation`);
    await page.getByText('This gateway has no operation noSuchOperation.').waitFor();
  });

  it('sends the example of an operation as a new call at each press, and masks the key in the code', async () => {
    const page = await stage.open('/docs/submitCall');
    const ids = new Set<string>();
    for (const press of [1, 2]) {
      const [response] = await Promise.all([
        page.waitForResponse((it) => new URL(it.url()).pathname === '/v1/calls' && it.request().method() === 'POST'),
        page.getByRole('button', { name: 'Send' }).click(),
      ]);
      ids.add((await response.json()).id);
      expect([press, response.status(), ids.size]).toEqual([press, 202, press]);
    }
    await page.locator('[data-answer="202"]').waitFor();
    const code = page.getByRole('region', { name: 'Sample in curl' });
    await page.getByLabel('Idempotency-Key').fill('turn-1');
    await code.getByText("'Idempotency-Key: turn-1'").waitFor();
    await code.getByText('$TOOLYARD_API_KEY').waitFor();
    expect(await page.content()).not.toContain(TEST_KEY);

    await page.goto(`${stage.url}/docs/getCall`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('[data-answer="200"]').getByText('date').first().waitFor();
  });

  it('fits a phone in the dark, accessible and without sideways scrolling', async () => {
    const page = await stage.open('/docs', { colorScheme: 'dark', viewport: { width: 375, height: 812 } });
    await page.locator('[data-operation=listSchedules]').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator('[data-operation=submitBatch]').click();
    await page.locator('[data-shown=submitBatch]').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
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
