import { beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ToolyardClient } from '#client';
import { weekSessions } from '../../../apps/cli/src/demo/week-sessions.js';
import { accessibilityFaults } from '../../support/browser.js';
import { startCli } from '../../support/cli.js';
import { dashboardHarness, READER_KEY } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const NEIGHBOUR_KEY = 'key-of-the-tenant-beside';
const stage = dashboardHarness(async () => ({
  keys: [
    { id: 'reader', key: READER_KEY, tenant: 'default', scopes: ['read'] },
    { id: 'beside', key: NEIGHBOUR_KEY, tenant: 'neighbour', scopes: ['submit', 'read'] },
  ],
}));
const callsOfCoder = weekSessions()
  .filter(({ agentId }) => agentId === 'coder')
  .flatMap(({ turns }) => turns.flat())
  .flatMap((call) => [call, ...(call.steps ?? [])]);
const demo = (...words: string[]) => startCli(['demo', ...words], { url: stage.url }).ended();
const client = () => new ToolyardClient({ baseUrl: stage.url, apiKey: TEST_KEY });
let filled: Awaited<ReturnType<typeof demo>>;

beforeAll(async () => {
  filled = await demo();
});

it('fills an empty installation with a week of 5 agents by `toolyard demo`, and refuses one that has calls', async () => {
  expect(filled).toMatchObject({ code: 0, err: expect.stringContaining('500 calls were made in 32 sessions.') });
  const { calls: asked } = await client().approvals.list({});
  let seen: readonly string[] = [];
  await eventually(
    async () => {
      const rows = (await client().stats.usage({})).rows;
      seen = rows.map(({ agentId, calls }) => `${agentId} ${calls}`).toSorted();
      return rows.reduce((sum, { calls }) => sum + calls, 0) === 500 - asked.length;
    },
    () => `500 calls, of which those that wait have no usage yet: ${seen.join(', ')}`,
  );
  expect(asked.every(({ sessionId }) => sessionId === 'release-2.14.0')).toBe(true);
  expect(asked).toHaveLength(6);
  expect((await client().schedules.list()).map(({ paused }) => paused?.reason)).toEqual([expect.any(String), expect.any(String)]);

  expect(await demo()).toMatchObject({ code: 2, err: expect.stringContaining('Expected an installation without calls') });
  expect(await demo('--key', READER_KEY)).toMatchObject({ code: 2, err: expect.stringContaining('it lacks submit, approve, admin, work') });
});

it('makes the calls of the sub-agent of the demo by turns of a model on this machine, and leaves no source behind', async () => {
  const { calls } = await client().calls.list({ tool: 'investigate', sessionId: 'flaky-cart-test' });
  const events = await client().calls.events(calls[0]?.id ?? '');
  const texts = events.flatMap((event) => (event.type === 'call.turn' ? [event.data.text] : []));
  expect(texts).toHaveLength(5);
  expect(texts.at(-1)).toBe('After 4 calls: nothing speaks against it.');
  expect(await client().sources.list()).toEqual([]);
});

it('sums calls and failures of agents and tools, leads to the calls, and is saved as CSV', async () => {
  const page = await stage.open('/usage?window=24h');
  const coder = page.locator('[data-usage=coder]');
  await eventually(async () => (await coder.locator('[data-label=Calls]').textContent()) === String(callsOfCoder.length), 'all calls');
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

it('shows the usage of each tenant, without links to its calls, only to a key that operates the installation', async () => {
  const neighbour = new ToolyardClient({ baseUrl: stage.url, apiKey: NEIGHBOUR_KEY });
  for (const text of ['one', 'two', 'three']) await neighbour.calls.run({ tool: 'echo', arguments: { text } });
  const page = await stage.open('/usage?window=24h');
  await page.getByText('By tenant').click();
  const ofAgents = async () => (await client().stats.usage({})).rows.reduce((sum, { calls }) => sum + calls, 0);
  const counted = async (tenant: string) => Number(await page.locator(`[data-usage=${tenant}] [data-label=Calls]`).textContent());
  let shown: readonly number[] = [];
  await eventually(
    async () => {
      shown = [await counted('default'), await ofAgents(), await counted('neighbour')];
      return shown[0] === shown[1] && shown[2] === 3;
    },
    () => `the calls of both tenants: the page shows, all agents have, and the neighbour has ${shown.join(', ')}`,
  );
  expect(await page.locator('[data-usage]').count()).toBe(2);
  expect(await page.getByRole('table', { name: 'Usage by tenant' }).getByRole('link').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);

  const reader = await stage.open('/usage?window=24h', { key: READER_KEY });
  await reader.locator('[data-usage=coder]').waitFor();
  expect(await reader.getByText('By tenant').count()).toBe(0);
});
