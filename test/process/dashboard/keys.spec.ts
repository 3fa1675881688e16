import { expect, it } from '@jest/globals';
import type { ApiKeyPage } from '#contracts';
import { Agent } from '../../support/agent.js';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness, READER_KEY } from '../../support/dashboard-harness.js';

const stage = dashboardHarness();
const status = async (key: string) => (await new Agent(stage.url, key).get('/v1/whoami')).status;

it('makes a key by a form that shows its text once, rotates it, and revokes it', async () => {
  const page = await stage.open('/keys/new');
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page.getByText('Say what the key is for.').waitFor();
  await page.getByRole('textbox', { name: 'For' }).fill('nightly build');
  await page.getByRole('checkbox', { name: 'cancel' }).uncheck();
  await page.getByRole('textbox', { name: 'Only these tools' }).fill('file_*, shell');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make the key' }).click();
  const shown = page.locator('[data-issued-key]');
  const first = (await shown.textContent()) ?? '';
  expect([await status(first), await accessibilityFaults(page)]).toEqual([200, []]);

  await page.getByRole('link', { name: 'All keys' }).click();
  const row = page.locator('[data-key]').filter({ hasText: 'nightly build' });
  await row.getByText('tools file_*, shell').waitFor();
  expect(await page.content()).not.toContain(first);
  const { body } = await stage.agent.get<ApiKeyPage>('/v1/keys');
  const made = body.keys.find(({ name }) => name === 'nightly build');
  expect(made?.scopes).toEqual(['submit', 'read']);
  expect(Date.parse(made?.expiresAt ?? '') - Date.now()).toBeGreaterThan(89 * 86_400_000);

  await row.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('combobox', { name: 'The text that it has now' }).selectOption('ends at once');
  await page.getByRole('button', { name: 'Rotate it' }).click();
  await shown.waitFor();
  const second = (await shown.textContent()) ?? '';
  expect(await accessibilityFaults(page)).toEqual([]);
  expect([await status(first), await status(second)]).toEqual([401, 200]);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();

  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke it' }).click();
  await row.waitFor({ state: 'detached' });
  expect(await status(second)).toBe(401);
  await page.getByRole('switch', { name: 'Ended ones too' }).click();
  await row.locator('[data-key-status=revoked]').waitFor();
  expect(new URL(page.url()).search).toBe('?ended=shown');
});

it('hides keys from all but administrators, in the navigation and on the page', async () => {
  const page = await stage.open('/keys', { key: READER_KEY });
  await page.getByText('Not for this key').waitFor();
  await page.getByRole('link', { name: 'Usage' }).waitFor();
  expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
});
