import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Batch, CallPage } from '#contracts';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness, LONG_MS, READER_KEY } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const stage = dashboardHarness();

const state = (page: Page, name: string) => page.locator(`main [data-state=${name}]`).first().waitFor();

/** A picture of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('the page of a call', () => {
  it('streams output live: markup and terminal sequences stay text', async () => {
    const { command, open } = stage.gated([
      `echo '<script>document.title="pwned"</script><img src=x onerror=alert(1)>'`,
      `printf '\\033]0;pwned\\007\\033[2J\\033[31mred\\033[0m plain\\r\\n'`,
    ]);
    const { body } = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS }, { sessionId: 'tricks' });
    const page = await stage.open(`/calls/${body.id}`);
    await state(page, 'running');
    open(0);
    await page.getByText('<script>document.title="pwned"</script><img src=x onerror=alert(1)>').waitFor();
    open(1);
    const red = page.getByRole('log').getByText('red', { exact: true });
    await red.waitFor();
    expect(await red.evaluate((element: { style: { color: string } }) => element.style.color)).toBe('var(--ansi-red)');
    await state(page, 'completed');
    await page.getByText(/updates?: complete/).waitFor();
    const shown = await page.getByRole('log').innerText();
    expect([shown.includes('0;pwned'), shown.includes('\u001b')]).toEqual([false, false]);
    expect(await page.locator('[role=log] script, [role=log] img').count()).toBe(0);
    await eventually(async () => /^\$ .* – shell · Toolyard$/.test(await page.title()), 'the title to have the command');
  });

  it("keeps the clocks of a call's page running during ten updates a second", async () => {
    const { command, open } = stage.gated(['true']);
    const { body } = await stage.agent.submit('shell', {
      command: command.replace('sleep 0.02', 'echo tick; sleep 0.1'),
      timeout_ms: LONG_MS,
    });
    const page = await stage.open(`/calls/${body.id}`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    // The output goes on until both clocks have moved past 3 s.
    await timeline.getByText(/^Attempt 1 running: (?:[3-9]|\d\d)(?:\.\d)? s so far$/).waitFor();
    await page.getByText(/^submitted (?:[3-9]|\d\d)s ago$/).waitFor();
    expect(await page.getByRole('log').innerText()).toContain('tick');
    open(0);
    await state(page, 'completed');
  });

  it('finds and links lines in an output, and opens a failed one at its end', async () => {
    const { id } = await stage.agent.run('shell', { command: 'for i in $(seq 1 300); do echo "step $i"; done; echo "error: no"; exit 3' });
    const page = await stage.open(`/calls/${id}`);
    const log = page.getByRole('log');
    await log.getByText('error: no').waitFor();
    expect(await log.getByText('step 1', { exact: true }).count()).toBe(0);
    await page.locator('[data-state=error]').first().waitFor();

    await page.getByLabel('Find in the output').fill('STEP 12');
    await page.getByText('1 of 11 lines').waitFor();
    expect(await log.locator('[data-found] mark').innerText()).toBe('step 12');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 11 lines').waitFor();
    expect(await log.locator('[data-found]').innerText()).toBe('step 120');
    await page.getByLabel('Find in the output').fill('step 12');
    await page.getByRole('link', { name: 'Line 12', exact: true }).click();
    await page.waitForURL(/#L12$/);
    await page.getByRole('button', { name: 'To the first error' }).click();
    await log.getByText('error: no').waitFor();
    await page.reload();
    expect(await log.locator('[data-linked]').innerText()).toBe('step 12');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    expect(download.suggestedFilename()).toBe(`${id}.txt`);
  });

  it('shows the batch of a call with a bar for each of its calls, folds it, and leads to its list', async () => {
    const calls = [1, 2, 3].map((n) => ({ tool: 'echo', arguments: { text: `turn ${n}` } }));
    const { body } = await stage.agent.request<Batch>('POST', '/v1/batches', { sessionId: 'turn', calls });
    const listed = async () => (await stage.agent.get<CallPage>(`/v1/calls?batchId=${body.id}&status=ended`)).body.calls;
    const [call] = await eventually(async () => {
      const ended = await listed();
      return ended.length === 3 ? ended : undefined;
    }, 'the calls of the batch to end');
    const page = await stage.open(`/calls/${call?.id}?tab=tree`);
    const batch = page.getByRole('region', { name: 'Batch' });
    const list = batch.getByRole('list', { name: 'Calls of the batch' });
    const heading = batch.getByRole('button', { name: 'Batch of 3' });
    await heading.getByText('3 completed').waitFor();
    await list
      .getByRole('img', { name: /^Completed: waited .+, ran / })
      .nth(2)
      .waitFor();
    const texts = await list.getByRole('listitem').allInnerTexts();
    expect([1, 2, 3].map((n) => texts.filter((text) => text.includes(`turn ${n}`)).length)).toEqual([1, 1, 1]);
    await list.locator(`[data-here] [data-call="${call?.id}"] [aria-current=page]`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await heading.click();
    await page.waitForURL(`${stage.url}/calls/${call?.id}?tab=tree&batch=folded`);
    await list.waitFor({ state: 'detached' });
    await page.reload();
    await heading.and(page.locator('[aria-expanded=false]')).click();
    await list.waitFor();
    await page.waitForURL(`${stage.url}/calls/${call?.id}?tab=tree`);

    await page.getByRole('navigation', { name: 'Where it stands' }).getByRole('link', { name: 'batch' }).click();
    await page.waitForURL(`${stage.url}/calls?batchId=${body.id}`);
    await page.locator('[role=row][data-call]').nth(2).waitFor();
  });

  describe('of a long output', () => {
    /** Written at once, so that the stream leaves most of it out. */
    const STEPS = `seq -f 'step %.0f of a long build that writes a lot' 1 6000`;

    it('shows the last lines of standard error of a failed command, and opens the whole output at its end', async () => {
      const { id } = await stage.agent.run('shell', { command: `${STEPS}; echo 'main.c:7: missing semicolon' >&2; exit 2` });
      const page = await stage.open(`/calls/${id}`);
      const box = page.getByRole('alert').filter({ hasText: 'The tool answered with an error' });
      await box.getByText('main.c:7: missing semicolon').waitFor();
      expect(await box.innerText()).not.toContain('step');
      const log = page.getByRole('log');
      await log.getByText('main.c:7: missing semicolon').waitFor();
      await log.getByText('step 6000 of a long build').waitFor();
      const output = await (await fetch(`${stage.url}/v1/calls/${id}/output`, { headers: { Authorization: `Bearer ${TEST_KEY}` } })).text();
      const number = output.split('\n').indexOf('main.c:7: missing semicolon') + 1;
      await log.getByRole('link', { name: `Line ${number}`, exact: true }).waitFor();
    });

    it('omits line numbers while lines are missing, and finds an omitted line by its true number', async () => {
      const { id } = await stage.agent.run('shell', { command: STEPS });
      const page = await stage.open(`/calls/${id}`);
      await page.getByText('Some of the output was left out of the stream.').waitFor();
      const log = page.getByRole('log');
      await log
        .getByText(/^step \d+ of a long build/)
        .first()
        .waitFor();
      expect(await log.locator('[data-line]:not([data-line=""])').count()).toBe(0);
      await page.getByLabel('Find in the output').fill('STEP 5000 OF');
      await page.getByText('1 of 1 line', { exact: true }).waitFor();
      await log.locator('[data-found]').getByText('step 5000 of').waitFor();
      await log.locator('[data-found]').getByRole('link', { name: 'Line 5000', exact: true }).waitFor();
    });

    it('opens a line of the address that was left out of the stream', async () => {
      const { id } = await stage.agent.run('shell', { command: STEPS });
      const page = await stage.open(`/calls/${id}`);
      await page.getByText('Some of the output was left out of the stream.').waitFor();
      await page.goto(`${stage.url}/calls/${id}#L3000`);
      await page.reload();
      await page.locator('[data-linked]').getByText('step 3000 of').waitFor();
    });
  });

  it('cancels a call on its page, offers a replay only then, and shows in the timeline who cancelled and how the tool stopped', async () => {
    const { body } = await stage.agent.submit('shell', { command: 'sleep 600', timeout_ms: LONG_MS });
    const page = await stage.open(`/calls/${body.id}`);
    await state(page, 'running');
    expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await state(page, 'cancelled');
    await page.getByRole('button', { name: 'Edit and replay' }).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText(/Cancel asked for by apikey:/).waitFor();
    await timeline.getByText(/stopped after|killed after/).waitFor();
    expect((await stage.agent.ended(body.id)).outcome).toBe('cancelled');
  });

  it('replays a call with other arguments on its page, after showing the error of each field', async () => {
    const call = await stage.agent.run('sleep', { duration_ms: 1 });
    const page = await stage.open(`/calls/${call.id}`);
    await page.getByRole('button', { name: 'Edit and replay' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('JSON', { exact: true }).click();
    const editor = dialog.getByRole('textbox', { name: 'Arguments' });
    await editor.fill('{"duration_ms": "long"}');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('alert').getByText('/duration_ms').waitFor();
    await editor.fill('{"duration_ms": 1}');
    await dialog.getByText('Form', { exact: true }).click();
    await dialog.getByRole('textbox', { name: 'duration_ms' }).fill('2');
    await dialog.getByRole('region', { name: 'Your changes' }).getByText('duration_ms').waitFor();
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.waitForURL((address) => address.pathname !== `/calls/${call.id}`);
    await state(page, 'completed');
    const made = await stage.agent.get(new URL(page.url()).pathname.replace('/calls', '/v1/calls'));
    expect(made.body).toMatchObject({ replayOf: call.id, arguments: { duration_ms: 2 }, outcome: 'completed' });
  });

  it('shows the debug log with the start of the program, only to an administrator', async () => {
    const { id, result } = await stage.agent.run('shell', { command: 'echo "pid $$"; exit 3' });
    const [, pid] = /pid (\d+)/.exec(JSON.stringify(result?.content)) ?? [];
    const page = await stage.open(`/calls/${id}`);
    await page.getByRole('tab', { name: 'Debug' }).click();
    const rows = page.getByRole('table', { name: 'Debug log' }).getByRole('row');
    await rows.filter({ hasText: 'the program exited with 3' }).waitFor();
    const texts = await rows.allInnerTexts();
    const at = (text: string) => texts.findIndex((row) => row.includes(text));
    expect(at(`the program was started as process ${pid}`)).toBe(at('claimed by') + 1);
    const reader = await stage.open(`/calls/${id}`, { key: READER_KEY });
    await reader.getByRole('tab', { name: 'Events' }).waitFor();
    expect(await reader.getByRole('tab', { name: 'Debug' }).count()).toBe(0);
  });

  it('shows a refused call with its errors by field', async () => {
    const refused = await stage.agent.submit('sleep', { duration_ms: 'long' });
    const callId = (refused.body as unknown as { callId: string }).callId;
    const page = await stage.open(`/calls/${callId}`);
    await page.getByRole('list', { name: 'Faults by field' }).getByText('/duration_ms').waitFor();
  });

  it('shows an image that a tool returned', async () => {
    const inSession = { sessionId: 'pictures' };
    await stage.agent.run('shell', { command: `echo ${DOT} | base64 -d > dot.png` }, inSession);
    const { id } = await stage.agent.run('file_read', { path: 'dot.png' }, inSession);
    const page = await stage.open(`/calls/${id}`);
    const picture = page.getByRole('img', { name: 'Made by the tool (image/png)' });
    const width = (image: { naturalWidth: number; decode: () => Promise<void> }) => image.decode().then(() => image.naturalWidth);
    expect(await picture.evaluate(width)).toBe(1);
  });

  it('shows the removed and added lines of a file, with HTML as text', async () => {
    const inSession = { sessionId: 'changes' };
    const path = 'page<b>.html';
    const [before, after] = [`<img src=x onerror="document.title='pwned'">`, `<script>document.title='pwned'</script>`];
    await stage.agent.run('file_write', { path, content: `<body>\n${before}\n</body>\n` }, inSession);
    const { id } = await stage.agent.run('file_edit', { path, old_text: before, new_text: after }, inSession);
    const page = await stage.open(`/calls/${id}`);
    const change = page.getByRole('region', { name: `Changes of ${path}` });
    expect(await change.locator('[data-change=removed]').innerText()).toBe(before);
    expect(await change.locator('[data-change=added]').innerText()).toBe(after);
    const [first, changed] = await change.locator('tr').allInnerTexts();
    expect([first, changed]).toEqual(['1\t<body>\t1\t<body>', `2\t${before}\t2\t${after}`]);
    await page.getByText('+1 −1').waitFor();
    expect(await page.getByRole('tree', { name: 'Details' }).innerText()).not.toContain('diff');
    await page.getByRole('tab', { name: 'Arguments' }).click();
    const asked = page.getByRole('region', { name: 'The change' }).locator('tr');
    expect(await asked.allInnerTexts()).toEqual([`2\t${before}\t2\t${after}`]);
    expect(await page.locator('main').locator('script, img, b').count()).toBe(0);
    expect(await page.title()).not.toContain('pwned');
  });

  it('shows that a call does not exist, and searches for others', async () => {
    const page = await stage.open('/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V');
    await page.getByRole('heading', { level: 1, name: 'There is no such call' }).waitFor();
    await page.getByLabel('Search calls').fill('dot.png');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/calls\?q=dot.png/);
  });

  it('continues the page of a call without a gap after the gateway was killed and restarted', async () => {
    const { command, open } = stage.gated(['echo first', 'echo second; echo third', 'echo fourth']);
    const { body } = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS }, { sessionId: 'restart' });
    const page = await stage.open(`/calls/${body.id}`);
    open(0);
    await page.getByRole('log').getByText('first').waitFor();
    await page.locator('[data-connection=live]').waitFor();

    const [before] = stage.toolyard.gateways;
    before!.signal('SIGKILL');
    await before!.ended();
    await page.locator('[data-connection=reconnecting]').waitFor();
    await page.getByText('The connection was lost').waitFor();
    open(1);
    await stage.toolyard.gateway({ GATEWAY_PORT: new URL(stage.url).port });
    await page.locator('[data-connection=live]').waitFor();
    open(2);
    await state(page, 'completed');
    await page.getByText(/updates?: complete/).waitFor();
    const shown = await page.getByRole('log').innerText();
    expect(
      shown
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    ).toEqual(['first', 'second', 'third', 'fourth']);
  });
});
