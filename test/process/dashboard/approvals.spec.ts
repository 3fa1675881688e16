import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness, LONG_MS } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();
beforeAll(async () => {
  await stage.agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
});

const ask = async (command: string) => (await stage.agent.submit('shell', { command }, { sessionId: 'careful' })).body.id;

/** Presses a key as soon as the question that is shown takes one. */
async function press(page: Page, key: string): Promise<void> {
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.press(key);
}

/** Gives an answer, and sends it by a second press. */
async function answer(page: Page, key: 'a' | 'd'): Promise<void> {
  await press(page, key);
  await page.getByRole('button', { name: key === 'a' ? 'Allow now' : 'Deny now' }).waitFor();
  await press(page, key);
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

it('shows a command line by line, hidden characters, imitated names, an edit as a difference, and the arguments as JSON', async () => {
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

  const alike = await ask('git push https://p\u0430ypal.com/x main');
  await page.locator(`[data-call="${alike}"][aria-current]`).waitFor();
  await eventually(
    async () => (await shown.innerText()).includes('p\u0430ypal.comLatin and Cyrillic: U+0430/x main'),
    'the name to be marked',
  );
  await page.getByText('it may not be what it looks like').waitFor();
  await answer(page, 'd');
  await stage.agent.ended(alike);

  await stage.agent.request('PUT', '/v1/sessions/edits', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
  const args = { path: 'src/login.ts', old_text: 'const a = 1;', new_text: 'const a = 2;' };
  const { body } = await stage.agent.submit('file_edit', args, { sessionId: 'edits' });
  await page.locator(`[data-call="${body.id}"][aria-current]`).waitFor();
  const marks = page.getByRole('region', { name: 'The change' }).locator('mark');
  await eventually(async () => (await marks.allInnerTexts()).join() === '1,2', 'what changed to be marked');
  const rows = page.getByRole('region', { name: 'The change' }).locator('tr');
  expect(await rows.count()).toBe(1);
  await page.getByText('Unified', { exact: true }).click();
  await eventually(async () => (await rows.count()) === 2, 'the lines to be one below the other');
  expect(await rows.locator('[data-change]').allInnerTexts()).toEqual(['const a = 1;', 'const a = 2;']);
  await page.getByText('src/login.ts').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await answer(page, 'd');
  await stage.agent.ended(body.id);
});

it('allows a call with edited arguments, and explains rejected ones', async () => {
  const id = await ask('git push origin edited');
  const page = await stage.open('/approvals');
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.getByRole('button', { name: 'Edit and allow' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('JSON', { exact: true }).click();
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

it('lists waiting calls by risk on request, also new ones, and stores the order in the address', async () => {
  const medium = await ask('git push origin calm');
  const high = await ask('ls; rm -rf build');
  const page = await stage.open('/approvals');
  const items = page.getByRole('navigation', { name: 'Waiting calls' }).locator('[data-call]');
  const areListed = (...ids: string[]) =>
    eventually(
      async () => (await items.evaluateAll((all) => all.map((item) => item.getAttribute('data-call')))).join() === ids.join(),
      `the calls to be listed as ${ids.join(', ')}`,
    );
  await areListed(medium, high);
  const chosen = page.locator(`[data-call="${medium}"]`).getByRole('checkbox');
  await chosen.check();
  await page.getByText('Highest risk first').click();
  await page.waitForURL(/sort=risk/);
  await areListed(high, medium);
  await chosen.uncheck();
  await page.mouse.move(0, 0);
  const later = await ask('ls; rm -rf dist');
  await areListed(high, later, medium);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.reload();
  await areListed(high, later, medium);
  await page.getByText('Oldest first').click();
  await areListed(medium, high, later);
  for (const id of [medium, high, later]) await stage.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' });
});

it('decides a call on its own page, with the asker, the reason, and earlier calls of the session', async () => {
  await stage.agent.run('echo', { text: 'before' }, { sessionId: 'careful' });
  const id = await ask('git push origin here');
  const page = await stage.open(`/calls/${id}`);
  const card = page.getByRole('region', { name: 'Decision' });
  await card.getByRole('link', { name: 'careful' }).waitFor();
  await card.getByText('The command changes things (git).').waitFor();
  await eventually(async () => (await card.locator('mark').allInnerTexts()).join() === 'git', 'the reason to be marked');
  await card.locator('[data-risk=medium]').waitFor();
  await card.getByRole('region', { name: 'Before this in the session' }).getByText('echo').waitFor();
  await card
    .getByText('Every command that begins with git, whatever words follow. Files outside of the workspace are asked for.')
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await answer(page, 'a');
  expect(await stage.agent.ended(id)).toMatchObject({ approval: { decided: { decision: 'allow', scope: 'once' } } });
  await card.waitFor({ state: 'detached' });
});

it('ignores a key held down, and accepts trust only from a digit pressed twice', async () => {
  const page = await stage.open('/approvals');
  const [first, second, third] = [await ask('git push origin held'), await ask('git push origin next'), await ask('git push origin last')];
  const shown = (id: string) => page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await shown(first);
  await page.locator(`[data-call="${third}"]`).waitFor();
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.down('a');
  await page.getByRole('button', { name: 'Allow now' }).waitFor();
  // The repeated key sends nothing at once, and decides nothing where the next question has come up.
  await page.keyboard.down('a');
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  await stage.agent.ended(first);
  await shown(second);
  await page.locator('[data-takes-keys=true]').waitFor();
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  await answer(page, 'd');
  expect(await stage.agent.ended(second)).toMatchObject({ outcome: 'denied' });
  await shown(third);
  await press(page, '1');
  await page.getByRole('status').getByText('Press 1 again to trust it.').waitFor();
  // The hint moves nothing, so the next key counts at once.
  await page.keyboard.press('d');
  await page.getByRole('button', { name: 'Deny now' }).waitFor();
  await press(page, 'd');
  expect(await stage.agent.ended(third)).toMatchObject({ outcome: 'denied' });
});

it('lists a call that arrived while the page loaded', async () => {
  const page = await stage.open('/sessions');
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  let requests = 0;
  await page.route('**/v1/approvals?*', async (route) => {
    if ((requests += 1) > 1) return route.continue();
    const response = await route.fetch();
    await answered;
    await route.fulfill({ response }).catch(() => {});
  });
  let received = '';
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => (received += String(payload))));
  await page.goto(`${stage.url}/approvals`);
  await page.locator('[data-connection=live]').waitFor();
  await eventually(() => requests > 0, 'the first request');
  const id = await ask('git push origin meanwhile');
  await eventually(() => received.includes(id), 'the event to reach the page');
  answer();
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await stage.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' });
});

it('grants trust for the rest of the session, shows the grant, and revokes it', async () => {
  const id = await ask('git push origin three');
  const page = await stage.open('/approvals');
  await page.locator(`[data-call="${id}"][aria-current]`).waitFor();
  await page.getByRole('button', { name: /Base command: git/ }).click();
  await page.getByRole('button', { name: 'Allow now' }).click();
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
  const { body } = await stage.agent.submit('shell', { command: 'sleep 600', timeout_ms: LONG_MS }, { sessionId: 'long' });
  const page = await stage.open('/sessions/long');
  await page.locator(`[data-call="${body.id}"] [data-state=running]`).waitFor();
  await page.getByLabel('Message to the agent').fill('Look at the tests first');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The agent gets it with its next result').waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('Look at the tests first').waitFor();
  await page.locator('[data-said]').getByText('Look at the tests first').waitFor();
  const calls = [1, 2].map((n) => ({ tool: 'echo', arguments: { text: `in batch ${n}` } }));
  await stage.agent.request('POST', '/v1/batches', { sessionId: 'long', calls });
  await page
    .locator('[data-batch]')
    .getByRole('button', { name: /Batch of 2/ })
    .waitFor();
  await page.getByRole('button', { name: 'Fold batches' }).click();
  await page.waitForURL(/batches=folded/);
  await page.getByText('in batch 1').waitFor({ state: 'detached' });
  await page
    .locator('[data-batch]')
    .getByRole('button', { name: /Batch of 2/ })
    .click();
  await page.getByText('in batch 1').waitFor();
  // Dragged along, rows are plain text, which is quick to draw.
  const row = page.locator(`[data-call="${body.id}"]`);
  await page.locator('[data-minimap]').hover();
  await page.mouse.down();
  await row.getByRole('link').waitFor({ state: 'detached' });
  await row.getByText('sleep 600').waitFor();
  await page.mouse.up();
  const split = page.getByRole('separator', { name: 'Width of the names' });
  await split.press('ArrowRight');
  await eventually(async () => (await split.getAttribute('aria-valuenow')) === '61', 'wider names');
  // The whole row is the link, also where its subject is.
  await row.click({ position: { x: 220, y: 15 } });
  await page.waitForURL((url) => url.searchParams.get('call') === body.id);
  await page.locator(`[data-preview="${body.id}"]`).getByText('sleep 600').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 2400 });
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('button', { name: 'Close the call beside the list' }).click();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop all' }).click();
  await page.locator(`[data-call="${body.id}"] [data-state=cancelled]`).waitFor();
  expect((await stage.agent.ended(body.id)).outcome).toBe('cancelled');
});

describe('answers that are held', () => {
  const inSession = async (sessionId: string, command: string, agentId = 'coder') => {
    const { body } = await stage.agent.submit('shell', { command }, { sessionId, agentId });
    expect(body.status).toBe('waiting_approval');
    return body.id;
  };
  const supervise = (sessionId: string) =>
    stage.agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  const statusOf = async (id: string) => (await stage.agent.get(`/v1/calls/${id}`)).body.status;

  it('takes back delayed decisions, drops them when the page is left, and decides one call by a double click', async () => {
    await supervise('clicks');
    const first = await inSession('clicks', 'git push origin click-1');
    const page = await stage.open('/approvals');
    const allow = page.getByRole('button', { name: 'Allow once' });
    await allow.click();
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await allow.click();
    await page.locator('[data-held]').waitFor();
    await page.reload();
    await allow.click();
    // Others come while the person clicks; the next question takes the place of the first.
    const others = await Promise.all(Array.from({ length: 12 }, (_, index) => inSession('clicks', `git push origin flood-${index}`)));
    await page.getByLabel('13 waiting').waitFor();
    await eventually(async () => (await page.title()) === '(13) Approvals · Toolyard', 'the title to have the number');
    const now = page.getByRole('button', { name: 'Allow now' });
    await now.click({ trial: true });
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const { x, y, width, height } = (await now.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const click = () => page.mouse.dblclick(x + width / 2, y + height / 2);
    await click();
    await stage.agent.ended(first);
    const next = page.locator(`[data-call][aria-current]:not([data-call="${first}"])`);
    await eventually(async () => {
      await page.clock.runFor(20);
      return (await next.count()) === 1;
    }, 'the next question to be shown');
    await click();
    await page.clock.runFor(100);
    expect(await page.locator('[data-held]').count()).toBe(0);
    expect(new Set(await Promise.all(others.map(statusOf)))).toEqual(new Set(['waiting_approval']));
    await Promise.all(others.map((id) => stage.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' })));
  });

  it('sends delayed decisions of each selected call, and shows the results', async () => {
    await Promise.all(['many-a', 'many-b'].map(supervise));
    const [one, two, stale] = [
      await inSession('many-a', 'git push origin 1'),
      await inSession('many-a', 'git push origin 2'),
      await inSession('many-a', 'git push origin 3'),
    ];
    const other = await inSession('many-b', 'git push origin 4', 'helper');
    const page = await stage.open('/approvals?group=session');
    await page.getByRole('checkbox', { name: 'Select all of many-a' }).check();
    const together = page.getByRole('region', { name: 'Selected calls' });
    await together.getByText('May these 3 calls run?').waitFor();
    for (const n of [1, 2, 3])
      await together
        .getByRole('region', { name: `Command ${n}` })
        .getByText(`git push origin ${n}`)
        .waitFor();
    await stage.agent.request('POST', `/v1/calls/${stale}/decision`, { decision: 'deny' });
    await together.locator(`[data-selected="${stale}"]`).getByText('It no longer waits').waitFor();
    // A call that comes now is selected by nothing that is shown.
    const late = await inSession('many-a', 'git push origin late');
    await page.locator('[data-group="Just came"]').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await together.getByRole('button', { name: 'Allow 3 once' }).click();
    await page.locator('[data-held="3"]').getByRole('button', { name: 'Now' }).click();
    for (const id of [one, two]) {
      await page.locator(`[data-outcome="${id}"][data-state=taken]`).waitFor();
      expect(await stage.agent.ended(id)).toMatchObject({ approval: { decided: { decision: 'allow' } } });
    }
    await page.locator(`[data-outcome="${stale}"][data-state=refused]`).getByText('does not wait for a decision').waitFor();
    expect(await Promise.all([late, other].map(statusOf))).toEqual(['waiting_approval', 'waiting_approval']);
    await page.setViewportSize({ width: 390, height: 2400 });
    // A tooltip under the pointer is outside of all landmarks.
    await page.mouse.move(0, 2399);
    await eventually(async () => (await page.getByRole('tooltip').count()) === 0, 'the tooltip to go');
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('textbox', { name: 'Filter' }).fill('helper 4');
    await page.waitForURL(/q=helper\+4/);
    await eventually(async () => (await page.locator('[data-call]').count()) === 1, 'one call to be left');
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('button', { name: 'Deny now' }).click();
    expect((await stage.agent.ended(other)).outcome).toBe('denied');
    await stage.agent.request('POST', `/v1/calls/${late}/decision`, { decision: 'deny' });
  });

  it('asks for answers by a notification that a person has switched on, with no arguments in it', async () => {
    await supervise('notified');
    const page = await stage.open('/approvals');
    await page.context().grantPermissions(['notifications']);
    await page.addInitScript(`
      window.shown = []; window.asked = 0;
      document.hasFocus = () => false;
      window.Notification = class extends EventTarget {
        static get permission() { return window.asked > 0 ? 'granted' : 'default'; }
        static async requestPermission() { window.asked += 1; return 'granted'; }
        constructor(title, { body }) { super(); window.shown.push(title + ': ' + body); }
      };`);
    await page.reload();
    await page.locator('[data-connection=live]').waitFor();
    await page.getByRole('button', { name: 'Notify me' }).waitFor();
    expect(await page.evaluate('asked')).toBe(0);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Stop notifying me' }).waitFor();
    const id = await inSession('notified', 'git push origin secret-branch');
    await eventually(async () => (await page.evaluate<string[]>('shown')).length > 0, 'a notification');
    expect(await page.evaluate('shown')).toEqual([expect.stringMatching(/^A call waits for you: coder asks to run shell$/)]);
    // Held answers for a call decided by another client are not sent.
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.locator('[data-held]').waitFor();
    await stage.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' });
    await page.locator(`[data-outcome="${id}"][data-state=refused]`).getByText('answered elsewhere').waitFor();
    expect(await page.locator('[data-held]').count()).toBe(0);
  });
});
