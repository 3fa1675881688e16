import { describe, expect, it } from '@jest/globals';
import type { Schedule } from '#contracts';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness, READER_KEY } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();

/** More than the calls that a list loads without being moved. */
const RUNS = 560;
const RUNS_AT_ONCE = 40;

const made = async (body: object) =>
  (await stage.agent.request<Schedule>('POST', '/v1/schedules', { call: { tool: 'echo', arguments: { n: 1 } }, ...body })).body;

describe('a schedule', () => {
  it('creates a schedule by a form that shows its next due times, in words and in its time zone', async () => {
    const page = await stage.open('/schedules', { timezoneId: 'Europe/Berlin' });
    await page.getByText('No schedules').waitFor();
    await page.getByRole('link', { name: 'New schedule' }).click();
    const cron = page.getByRole('textbox', { name: 'Cron expression' });
    await cron.fill('61 * * * *');
    await page
      .getByRole('alert')
      .getByText(/^Expected a cron expression/)
      .waitFor();
    await cron.fill('30 6 1 1 *');
    await page.getByText('At 06:30, on day 1 of the month, only in January').waitFor();
    const times = page.getByRole('region', { name: 'Next due times' });
    await eventually(async () => (await times.getByText(/Jan 1.*06:30:00/).count()) === 5, 'five times');
    await times.getByText('By the clocks of Europe/Berlin.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('new year');
    await page.getByRole('combobox', { name: 'Tool' }).fill('echo');
    await page.getByRole('option', { name: 'echo', exact: true }).click();
    await page.getByRole('textbox', { name: 'Arguments' }).fill('{"happy": true}');
    await page.getByRole('button', { name: 'Make the schedule' }).click();
    await page.waitForURL(/\/schedules\/sch-/);
    await page.getByText('It has made no call yet.').waitFor();
    const { body } = await stage.agent.get<{ schedules: Schedule[] }>('/v1/schedules');
    expect(body.schedules).toMatchObject([
      { name: 'new year', cron: '30 6 1 1 *', timeZone: 'Europe/Berlin', call: { tool: 'echo', arguments: { happy: true } } },
    ]);
  });

  it('runs a schedule now, shows the outcome of its last run, and links to its calls', async () => {
    const { id } = await made({ everyMs: 86_400_000, name: 'daily', call: { tool: 'shell', arguments: { command: 'exit 3' } } });
    const page = await stage.open('/schedules');
    const row = page.locator(`[data-schedule="${id}"]`);
    await row.getByText('Every 1 d').waitFor();
    await row.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(/\/calls\//);
    await page.locator('main [data-state=error]').first().waitFor();
    const call = new URL(page.url()).pathname.split('/').at(-1);
    await page.goto(`${stage.url}/schedules`);
    await row.locator('[data-state=error]').waitFor();
    await row.getByRole('link', { name: 'daily' }).click();
    await page.locator(`[data-call="${call}"] [data-state=error]`).waitFor();
    await page.getByRole('link', { name: 'All its calls' }).click();
    await page.locator(`[role=row][data-call="${call}"]`).waitFor();
  });

  it('names the schedule of calls without an agent on Live and in Calls, where its runs are one row', async () => {
    const { id } = await made({ everyMs: 86_400_000, name: 'disk' });
    const run = async () => {
      const { body } = await stage.agent.request('POST', `/v1/schedules/${id}/run`);
      await stage.agent.ended(body.id);
      return body;
    };
    const first = await run();
    await run();
    const body = await run();
    await stage.agent.run('echo', {});
    const page = await stage.open('/live');
    await page.locator(`[data-agent-row="${id}"]`).getByRole('link', { name: 'disk (schedule)' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(`${stage.url}/calls`);
    const row = page.locator(`[role=row][data-call="${body.id}"]`);
    await row.getByText('disk (schedule)').waitFor();
    expect(await page.locator(`[role=row][data-call="${first.id}"]`).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByText('2 earlier runs').click();
    await page.waitForURL(new RegExp(`scheduleId=${id}`));
    await eventually(async () => (await page.locator('[role=row][data-call]').count()) === 3, 'only its calls to be left');
    await page.locator(`[role=row][data-call="${first.id}"]`).waitFor();
  });

  it('loads a few pages of calls by itself if runs of a schedule are one row, and more on request', async () => {
    const { id } = await made({ everyMs: 86_400_000, name: 'often', call: { tool: 'echo', arguments: {}, agentId: 'often' } });
    const run = async () => (await stage.agent.request('POST', `/v1/schedules/${id}/run`)).body;
    for (let n = 0; n < RUNS; n += RUNS_AT_ONCE) await Promise.all(Array.from({ length: RUNS_AT_ONCE }, run));
    const ended = async () => (await stage.agent.get<{ count: number }>('/v1/calls:count?agentId=often&status=ended')).body.count === RUNS;
    await eventually(ended, 'all runs to end');
    const page = await stage.open('/calls?agentId=often');
    await page.getByText(`${500 - 1} earlier runs`).waitFor();
    const more = page.getByRole('button', { name: 'Load older calls' });
    await more.waitFor();
    expect(await page.getByTestId('row-count').innerText()).toMatch(/^500 /);
    expect(await page.locator('[role=row][data-call]').count()).toBe(1);
    await more.click();
    await page.getByText(`${RUNS - 1} earlier runs`).waitFor();
    await more.waitFor({ state: 'detached' });
  });

  it('pauses, resumes and removes a schedule that is opened by keyboard', async () => {
    const { id } = await made({ everyMs: 86_400_000, name: 'a short one' });
    const page = await stage.open('/schedules');
    const row = page.locator(`[data-schedule="${id}"]`);
    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('Paused').waitFor();
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByText('Active').waitFor();
    await page.keyboard.press('k');
    while ((await page.evaluate<string>('document.activeElement.textContent')) !== 'a short one') await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/schedules/${id}$`));
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click();
    await page.waitForURL(/\/schedules$/);
    expect((await stage.agent.get(`/v1/schedules/${id}`)).status).toBe(404);
    await page.goto(`${stage.url}/schedules/${id}`);
    await page.getByText('There is no such schedule').waitFor();
  });

  it('refuses to change a schedule of another key without the scope', async () => {
    const { id } = await made({ everyMs: 86_400_000 });
    const page = await stage.open(`/schedules/${id}`, { key: READER_KEY });
    for (const name of ['Pause', 'Run now', 'Remove']) await page.getByRole('button', { name, exact: true, disabled: true }).waitFor();
    await page.goto(`${stage.url}/schedules/new`);
    await page.getByText('Needs a key with the scope submit').waitFor();
  });
});
