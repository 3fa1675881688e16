import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Agent } from '../../support/agent.js';
import { startBrowser, type TestBrowser } from '../../support/browser.js';
import { startToolyard, type Toolyard } from '../../support/toolyard.js';

let toolyard: Toolyard;
let agent: Agent;
let browser: TestBrowser;
let url = '';

beforeAll(async () => {
  [toolyard, browser] = await Promise.all([startToolyard(), startBrowser()]);
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
    const { body } = await agent.submit(
      'shell',
      { command: 'read -r line < gate; echo "$line"' },
      { sessionId: 'gated', agentId: 'coder' },
    );
    await row(page, body.id).and(page.locator('[data-state=running],[data-state=failed]')).waitFor();
    await agent.ended(body.id);
    await row(page, body.id).and(page.locator('[data-state=completed],[data-state=failed]')).waitFor();
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
