import { beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();
beforeAll(async () => {
  await stage.agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
});

const ask = async (command: string) => (await stage.agent.submit('shell', { command }, { sessionId: 'careful' })).body.id;

/** Presses a key as soon as the question that is shown takes one. */
async function answer(page: Page, key: string): Promise<void> {
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.press(key);
}

it('approves a call of another client by keyboard, and shows who decided', async () => {
  const page = await stage.open('/approvals');
  await page.getByText('Nothing waits for you').waitFor();
  const [first, second] = [await ask('git push origin one'), await ask('git push origin two')];
  await page.locator(`[data-call="${first}"][aria-current]`).waitFor();
  await page.locator(`[data-call="${second}"]`).waitFor();
  await page.getByLabel('2 waiting').waitFor();

  await page.keyboard.press('j');
  await page.locator(`[data-call="${second}"][aria-current]`).waitFor();
  await page.waitForURL(`${stage.url}/approvals/${second}`);
  await answer(page, 'd');
  expect(await stage.agent.ended(second)).toMatchObject({ outcome: 'denied' });
  await page.locator(`[data-call="${first}"][aria-current]`).waitFor();
  await answer(page, 'a');
  expect(await stage.agent.ended(first)).toMatchObject({ approval: { decided: { decision: 'allow', scope: 'once' } } });
  await page.getByText('Nothing waits for you').waitFor();

  await page.goto(`${stage.url}/approvals/${second}`);
  await page.getByText('Denied by apikey:').waitFor();

  await page.goto(`${stage.url}/calls/${first}`);
  await page
    .getByRole('region', { name: 'Timeline' })
    .getByText(/Approved by apikey:/)
    .waitFor();
});

it('shows a command line by line, hidden characters, an edit as a difference, and the arguments as JSON', async () => {
  const command = await ask('git push \u202e--force\nfor f in dist/*; do\n  gzip "$f"\ndone');
  const page = await stage.open('/approvals');
  await page.locator(`[data-call="${command}"][aria-current]`).waitFor();
  const shown = page.getByRole('region', { name: 'Command' });
  expect(await shown.innerText()).toBe('git push U+202E right-to-left override--force\nfor f in dist/*; do\n  gzip "$f"\ndone');
  await page.getByText('characters that are not seen').waitFor();
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('tree', { name: 'Arguments' }).waitFor();
  await answer(page, 'd');
  await stage.agent.ended(command);

  await stage.agent.request('PUT', '/v1/sessions/edits', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
  const args = { path: 'src/login.ts', old_text: 'const a = 1;', new_text: 'const a = 2;' };
  const { body } = await stage.agent.submit('file_edit', args, { sessionId: 'edits' });
  await page.locator(`[data-call="${body.id}"][aria-current]`).waitFor();
  const change = page.getByRole('region', { name: 'The change' });
  expect(await change.locator('mark').allInnerTexts()).toEqual(['1', '2']);
  await page.getByText('src/login.ts').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await answer(page, 'd');
  await stage.agent.ended(body.id);
});

it('allows a call with edited arguments, and shows why others were not taken', async () => {
  const id = await ask('git push origin edited');
  const page = await stage.open('/approvals');
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.getByRole('button', { name: 'Edit and allow' }).click();
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('textbox', { name: 'Arguments' });
  const allow = dialog.getByRole('button', { name: 'Allow these' });
  await field.fill('{"command": ');
  await eventually(async () => await allow.isDisabled(), 'no answer to be possible with half of a JSON text');
  await field.fill('{"command": 1}');
  await allow.click();
  await dialog.getByText('/arguments/command').waitFor();
  await field.fill('{"command": "echo edited"}');
  await allow.click();
  expect(await stage.agent.ended(id)).toMatchObject({ outcome: 'completed', arguments: { command: 'echo edited' } });
  await page.goto(`${stage.url}/calls/${id}`);
  await page
    .getByRole('region', { name: 'Timeline' })
    .getByText(/with edited arguments/)
    .waitFor();
});

it('decides a call on its own page, and shows there who asks, why, and what the session did before', async () => {
  await stage.agent.run('echo', { text: 'before' }, { sessionId: 'careful' });
  const id = await ask('git push origin here');
  const page = await stage.open(`/calls/${id}`);
  const card = page.getByRole('region', { name: 'Decision' });
  await card.getByRole('link', { name: 'careful' }).waitFor();
  await card.getByText('The command changes things: its risk is medium.').waitFor();
  await card.getByRole('region', { name: 'Before this in the session' }).getByText('echo').waitFor();
  await card.getByText('Every command that begins with git, whatever follows.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await answer(page, 'a');
  expect(await stage.agent.ended(id)).toMatchObject({ approval: { decided: { decision: 'allow', scope: 'once' } } });
  await card.waitFor({ state: 'detached' });
});

it('takes no answer from a key that is held, and trust only from a digit pressed twice', async () => {
  const page = await stage.open('/approvals');
  const [first, second, third] = [await ask('git push origin held'), await ask('git push origin next'), await ask('git push origin last')];
  const shown = (id: string) => page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await shown(first);
  await page.locator(`[data-call="${third}"]`).waitFor();
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.down('a');
  await stage.agent.ended(first);
  await shown(second);
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  await answer(page, 'd');
  expect(await stage.agent.ended(second)).toMatchObject({ outcome: 'denied' });
  await shown(third);
  await answer(page, '1');
  await page.getByRole('status').getByText('Press 1 again to trust it.').waitFor();
  await answer(page, 'd');
  expect(await stage.agent.ended(third)).toMatchObject({ outcome: 'denied' });
});

it('grants trust for the rest of the session, shows the grant, and revokes it', async () => {
  const id = await ask('git push origin three');
  const page = await stage.open('/approvals');
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.getByRole('button', { name: /Base command: git/ }).click();
  await stage.agent.ended(id);
  await page.goto(`${stage.url}/sessions/careful`);
  const grants = page.getByRole('region', { name: 'Grants' });
  await grants.getByText('Trusted command').waitFor();
  await grants.getByRole('button', { name: /Take back: Trusted command/ }).click();
  await grants.getByText('Nothing is trusted or denied').waitFor();
});

it('shows changes of a session by another client while the page is open', async () => {
  const put = (body: object) => stage.agent.request('PUT', '/v1/sessions/shared', body);
  await put({ posture: { autonomy: 'full' } });
  const page = await stage.open('/sessions/shared');
  const autonomy = page.getByRole('region', { name: 'Posture' }).locator('input').first();
  await eventually(async () => (await autonomy.inputValue()) === 'Full: calls run without approval', 'the posture');
  await page.locator('[data-connection=live]').waitFor();
  await put({ posture: { autonomy: 'read_only' }, strategy: { type: 'sequential' } });
  await eventually(async () => (await autonomy.inputValue()) === 'Read only', 'the new posture');
  await page.getByText('Batches: sequential').waitFor();
});

it('steers a session and cancels everything in it', async () => {
  const { body } = await stage.agent.submit('shell', { command: 'sleep 60' }, { sessionId: 'long' });
  const page = await stage.open('/sessions/long');
  await page.locator(`[data-call="${body.id}"] [data-state=running]`).waitFor();
  await page.getByLabel('Message to the agent').fill('Look at the tests first');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The agent gets it with its next result').waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('Look at the tests first').waitFor();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop all' }).click();
  await page.locator(`[data-call="${body.id}"] [data-state=cancelled]`).waitFor();
  expect((await stage.agent.ended(body.id)).outcome).toBe('cancelled');
});
