import { beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ToolyardClient } from '#client';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';
import { TEST_KEY } from '../../support/test-cluster.js';
import { playWeek } from '../../support/week/play-week.js';
import { weekSessions } from '../../support/week/week-sessions.js';

const stage = dashboardHarness();
const week = weekSessions();
const callsOf = (agentId: string) => week.filter((session) => session.agentId === agentId).flatMap(({ turns }) => turns.flat());

beforeAll(async () => {
  await playWeek(new ToolyardClient({ baseUrl: stage.url, apiKey: TEST_KEY }), week);
});

it('sums calls and failures of agents and tools, leads to the calls, and is saved as CSV', async () => {
  expect(week.flatMap(({ turns }) => turns.flat())).toHaveLength(500);
  const page = await stage.open('/usage?window=24h');
  const coder = page.locator('[data-usage=coder]');
  await eventually(async () => (await coder.locator('[data-label=Calls]').textContent()) === String(callsOf('coder').length), 'all calls');
  expect(await page.locator('[data-usage]').count()).toBe(5);
  expect(await accessibilityFaults(page)).toEqual([]);

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
  expect(download.suggestedFilename()).toBe('usage-by-agent-24h.csv');
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
  expect(lines[0]).toMatch(/^tenantId,at,agentId,tool,calls,/);
  expect(lines.filter((line) => line.includes(',coder,'))).not.toHaveLength(0);

  await coder.getByRole('link', { name: 'coder' }).click();
  await page.locator('[data-usage=file_edit]').waitFor();
  await page.getByText('agent coder').waitFor();
  await page.locator('[data-usage=file_edit] [data-label=Failures] a').click();
  await page.waitForURL(/\/calls\?agentId=coder&|\/calls\?tool=file_edit/);
  await page.locator('[role=row][data-call]').first().getByText('file_edit').waitFor();
});
