import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Agent } from '../../support/agent.js';
import { startBrowser, type TestBrowser } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { startToolyard, type Toolyard } from '../../support/toolyard.js';

let toolyard: Toolyard;
let agent: Agent;
let browser: TestBrowser;
let url = '';

beforeAll(async () => {
  [toolyard, browser] = await Promise.all([startToolyard({ env: { SANDBOX: 'host' } }), startBrowser()]);
  url = toolyard.gateways[0]!.url;
  agent = new Agent(url);
});
afterAll(async () => {
  await browser?.close();
  await toolyard?.close();
});

const row = (page: Page, callId: string) => page.locator(`[role=row][data-call="${callId}"]`);
const live = (page: Page) => page.locator('[data-connection=live]').waitFor();

describe('the list of calls', () => {
  it('takes the key over from the address and leaves it neither there nor in the history', async () => {
    const page = await browser.open(`${url}/calls`);
    await live(page);
    expect(page.url()).toBe(`${url}/calls`);
    await page.context().close();
  });

  it('shows what a second client submits, and moves with it to its end', async () => {
    const page = await browser.open(`${url}/calls`);
    await live(page);
    const gate = join(toolyard.workspaceRoot, 'gate');
    const { body } = await agent.submit('shell', { command: `until [ -e ${gate} ]; do sleep 0.02; done` }, { agentId: 'coder' });
    await row(page, body.id).and(page.locator('[data-state=running]')).waitFor();
    writeFileSync(gate, '');
    await row(page, body.id).and(page.locator('[data-state=completed]')).waitFor();
    await page.context().close();
  });

  it('is filtered by the address, and new calls that do not fit stay away', async () => {
    const [echo, shell] = [await agent.run('echo', { n: 1 }), await agent.run('shell', { command: 'true' })];
    const page = await browser.open(`${url}/calls?tool=echo`);
    await row(page, echo.id).waitFor();
    const [later, other] = [await agent.run('echo', { n: 2 }), await agent.run('shell', { command: 'true' })];
    await row(page, later.id).waitFor();
    expect([await row(page, shell.id).count(), await row(page, other.id).count()]).toEqual([0, 0]);

    await page.getByRole('button', { name: 'Remove the filter Tool' }).click();
    await row(page, other.id).waitFor();
    expect(page.url()).toBe(`${url}/calls`);
    await page.context().close();
  });

  it('says what is wrong with a filter in the address', async () => {
    const page = await browser.open(`${url}/calls?status=sleeping`);
    await page.getByText('The filter in the address cannot be read').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('table', { name: 'Calls' }).waitFor();
    await page.context().close();
  });
});

describe('all calls of a filter', () => {
  it('are counted first, then cancelled', async () => {
    const submitted = [1, 2, 3].map((n) => agent.submit('shell', { command: `sleep 6${n}` }, { sessionId: 'bulk' }));
    const ids = (await Promise.all(submitted)).map(({ body }) => body.id);
    const page = await browser.open(`${url}/calls?sessionId=bulk`);
    for (const id of ids) await row(page, id).waitFor();
    await eventually(
      async () => (await agent.get<{ count: number }>('/v1/calls:count?sessionId=bulk&status=queued,running')).body.count === 3,
      'the count to know all three calls',
    );
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await page.getByTestId('bulk-count').getByText('3').waitFor();
    await page.getByRole('button', { name: 'Cancel 3' }).click();
    await page.getByTestId('bulk-done').getByText('3 cancelled.').waitFor();
    for (const id of ids) expect((await agent.ended(id)).outcome).toBe('cancelled');
    await page.context().close();
  });
});

describe('failures', () => {
  it('that look alike stand together, appear by themselves, and are replayed together', async () => {
    const page = await browser.open(`${url}/failures`);
    await page.locator('[data-connection=live]').waitFor();
    for (const n of [1, 2]) await agent.run('file_read', { path: `missing-${n}.txt` }, { sessionId: 'failing' });
    const group = page.locator('[data-fingerprint]').filter({ hasText: 'file_read' });
    await group.getByRole('cell', { name: '2', exact: true }).waitFor();
    await group.getByRole('button', { name: 'Replay all' }).click();
    await page.getByTestId('bulk-count').getByText('2').waitFor();
    await page.getByRole('button', { name: 'Replay 2' }).click();
    await page.getByTestId('bulk-done').getByText('2 replayed.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    await group.getByRole('cell', { name: '4', exact: true }).waitFor();
    await page.context().close();
  });
});

describe('a page that is nobody’s', () => {
  it('asks for a key, and refuses a wrong one', async () => {
    const context = await browser.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/calls`);
    await page.getByLabel('API key').fill('not-the-key-of-anybody');
    await page.getByRole('button', { name: 'Open the dashboard' }).click();
    await page.getByRole('alert').getByText('Not let in').waitFor();
    await context.close();
  });
});

it('no page threw or broke its security policy', () => {
  expect(browser.faults).toEqual([]);
});
