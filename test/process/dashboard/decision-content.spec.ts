import { beforeAll, expect, it } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();
beforeAll(async () => {
  await stage.agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
});

const ask = async (command: string) => (await stage.agent.submit('shell', { command }, { sessionId: 'careful' })).body.id;

it('marks the destructive part of a command with the words of the rule, beside one risk', async () => {
  const id = await ask('git push --force origin gone');
  const page = await stage.open(`/approvals/${id}`);
  const card = page.getByRole('region', { name: 'Decision' });
  const marks = card.locator('mark');
  await eventually(async () => (await marks.allInnerTexts()).join() === 'git,--force', 'the option to be marked');
  expect(await marks.last().getAttribute('title')).toContain("'--force' overrides a protection");
  await card.locator('[data-risk=high]').waitFor();
  await card.getByText("The command changes things (git): '--force' overrides a protection.").waitFor();
  await card.getByRole('button', { name: 'All rules' }).click();
  const answers = card.getByRole('table', { name: 'Answers of the rules' });
  await answers.getByText('Command requires approval: git').waitFor();
  expect(await answers.getByText(/\b(medium|low)\b/i).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await stage.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' });
});

it('edits a call in the form of its tool, line by line, with the difference below', async () => {
  const id = await ask('git push origin edited\ngit tag v1');
  const page = await stage.open('/approvals');
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.press('e');
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('textbox', { name: 'command' });
  const changes = dialog.getByRole('region', { name: 'Your changes' });
  await changes.getByText('None: this is what was asked for.').waitFor();
  expect(await field.inputValue()).toBe('git push origin edited\ngit tag v1');
  await field.fill('echo edited\necho twice');
  // Enter is a line of the command, and no answer.
  await field.press('End');
  await field.press('Enter');
  await field.pressSequentially('echo thrice');
  const lines = changes.getByRole('region', { name: 'Change of command' }).locator('[data-change=added]');
  await eventually(async () => (await lines.allInnerTexts()).join() === 'echo edited,echo twice,echo thrice', 'the new lines to be shown');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 2400 });
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByText('JSON', { exact: true }).click();
  await eventually(
    async () => (await dialog.getByRole('textbox', { name: 'Arguments' }).inputValue()).includes('echo twice\\necho thrice'),
    'the edit to be there as JSON',
  );
  await dialog.getByText('Form', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Allow these' }).click();
  expect(await stage.agent.ended(id)).toMatchObject({
    outcome: 'completed',
    arguments: { command: 'echo edited\necho twice\necho thrice' },
  });
});
