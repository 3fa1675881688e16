import { describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';

const stage = dashboardHarness();

describe('the API explorer at /docs', () => {
  it('is accessible to all: as it opens, and on a phone with an operation that is open and tried', async () => {
    const page = await stage.open('/docs');
    await page.locator('.opblock').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.locator('#operations-calls-submitCall .opblock-summary-control').click();
    await page.locator('#operations-calls-submitCall').getByText('Try it out').click();
    await page.locator('#operations-calls-submitCall').getByText('Execute').waitFor();
    await page.setViewportSize({ width: 375, height: 812 });
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
