import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent } from '../../support/agent.js';
import { startBrowser, type TestBrowser } from '../../support/browser.js';
import { startToolyard, type Toolyard } from '../../support/toolyard.js';

let toolyard: Toolyard;
let agent: Agent;
let browser: TestBrowser;
let url = '';

beforeAll(async () => {
  [toolyard, browser] = await Promise.all([startToolyard({ env: { SANDBOX: 'host' } }), startBrowser()]);
  url = toolyard.gateways[0]!.url;
  agent = new Agent(url);
  await agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
});
afterAll(async () => {
  await browser?.close();
  await toolyard?.close();
});

const ask = async (command: string) => (await agent.submit('shell', { command }, { sessionId: 'careful' })).body.id;

it('lets a person answer by keyboard what another client submitted, and shows who answered', async () => {
  const page = await browser.open(`${url}/approvals`);
  await page.getByText('Nothing waits for you').waitFor();
  const [first, second] = [await ask('git push origin one'), await ask('git push origin two')];
  await page.locator(`[data-call="${first}"][aria-current]`).waitFor();
  await page.locator(`[data-call="${second}"]`).waitFor();
  expect(await page.getByLabel('2 waiting').count()).toBe(1);

  await page.keyboard.press('j');
  await page.locator(`[data-call="${second}"][aria-current]`).waitFor();
  await page.keyboard.press('d');
  expect(await agent.ended(second)).toMatchObject({ outcome: 'denied' });
  await page.locator(`[data-call="${first}"][aria-current]`).waitFor();
  await page.keyboard.press('a');
  expect(await agent.ended(first)).toMatchObject({ approval: { decided: { decision: 'allow', scope: 'once' } } });
  await page.getByText('Nothing waits for you').waitFor();

  await page.goto(`${url}/calls/${first}`);
  await page
    .getByRole('region', { name: 'Timeline' })
    .getByText(/Approved by apikey:/)
    .waitFor();
  await page.context().close();
});

it('trusts for the rest of the session, shows the grant there, and takes it back', async () => {
  const id = await ask('git push origin three');
  const page = await browser.open(`${url}/approvals`);
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.getByRole('button', { name: /Base command: git/ }).click();
  await agent.ended(id);
  await page.goto(`${url}/sessions/careful`);
  const grants = page.getByRole('region', { name: 'Grants' });
  await grants.getByText('Trusted command').waitFor();
  await grants.getByRole('button', { name: /Take back: Trusted command/ }).click();
  await grants.getByText('Nothing is trusted or denied').waitFor();
  await page.context().close();
});

it('steers a session and stops all of it', async () => {
  const { body } = await agent.submit('shell', { command: 'sleep 60' }, { sessionId: 'long' });
  const page = await browser.open(`${url}/sessions/long`);
  await page.locator(`[data-call="${body.id}"] [data-state=running]`).waitFor();
  await page.getByLabel('Message to the agent').fill('Look at the tests first');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The agent gets it with its next result').waitFor();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop all' }).click();
  await page.locator(`[data-call="${body.id}"] [data-state=cancelled]`).waitFor();
  expect((await agent.ended(body.id)).outcome).toBe('cancelled');
  await page.context().close();
});

it('no page threw or broke its security policy', () => {
  expect(browser.faults).toEqual([]);
});
