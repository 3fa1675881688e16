import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
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
});
afterAll(async () => {
  await browser?.close();
  await toolyard?.close();
});

const state = (page: Page, name: string) => page.locator(`main [data-state=${name}]`).first().waitFor();

/** A command that goes on each time the test says so. */
function gated(lines: readonly string[]) {
  const gate = join(toolyard.workspaceRoot, `gate-${Math.random().toString(36).slice(2)}`);
  const command = lines.map((line, index) => `until [ -e ${gate}-${index} ]; do sleep 0.02; done; ${line}`).join('\n');
  return { command, open: (index: number) => writeFileSync(`${gate}-${index}`, '') };
}

describe('the page of a call', () => {
  it('streams output as it is written: markup and terminal tricks stay text', async () => {
    const { command, open } = gated([
      `echo '<script>document.title="pwned"</script><img src=x onerror=alert(1)>'`,
      `printf '\\033]0;pwned\\007\\033[2J\\033[31mred\\033[0m plain\\r\\n'`,
    ]);
    const { body } = await agent.submit('shell', { command }, { sessionId: 'tricks' });
    const page = await browser.open(`${url}/calls/${body.id}`);
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
    expect(await page.title()).toBe('shell · Toolyard');
    await page.context().close();
  });

  it('cancels, and tells in its timeline who asked and how it stopped', async () => {
    const { body } = await agent.submit('shell', { command: 'sleep 60' });
    const page = await browser.open(`${url}/calls/${body.id}`);
    await state(page, 'running');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await state(page, 'cancelled');
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText(/Cancel asked for by apikey:/).waitFor();
    await timeline.getByText(/stopped after|killed after/).waitFor();
    expect((await agent.ended(body.id)).outcome).toBe('cancelled');
    await page.context().close();
  });

  it('replays with other arguments, after saying field by field what does not fit', async () => {
    const call = await agent.run('sleep', { duration_ms: 1 });
    const page = await browser.open(`${url}/calls/${call.id}`);
    await page.getByRole('button', { name: 'Edit and replay' }).click();
    const editor = page.getByRole('dialog').getByRole('textbox', { name: 'Arguments' });
    await editor.fill('{"duration_ms": "long"}');
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('alert').getByText('/duration_ms').waitFor();
    await editor.fill('{"duration_ms": 2}');
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.waitForURL((address) => address.pathname !== `/calls/${call.id}`);
    await state(page, 'completed');
    const made = await agent.get(new URL(page.url()).pathname.replace('/calls', '/v1/calls'));
    expect(made.body).toMatchObject({ replayOf: call.id, arguments: { duration_ms: 2 }, outcome: 'completed' });
    await page.context().close();
  });

  it('shows a refused call with its faults by field', async () => {
    const refused = await agent.submit('sleep', { duration_ms: 'long' });
    const callId = (refused.body as unknown as { callId: string }).callId;
    const page = await browser.open(`${url}/calls/${callId}`);
    await page.getByRole('list', { name: 'Faults by field' }).getByText('/duration_ms').waitFor();
    await page.context().close();
  });

  it('says so when there is no such call', async () => {
    const page = await browser.open(`${url}/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V`);
    await page.getByRole('alert').getByText('Not found').waitFor();
    await page.context().close();
  });

  it('goes on without a gap after the gateway was killed and came back', async () => {
    const { command, open } = gated(['echo first', 'echo second; echo third', 'echo fourth']);
    const { body } = await agent.submit('shell', { command }, { sessionId: 'restart' });
    const page = await browser.open(`${url}/calls/${body.id}`);
    open(0);
    await page.getByRole('log').getByText('first').waitFor();

    const [before] = toolyard.gateways;
    before!.signal('SIGKILL');
    await before!.ended();
    await page.locator('[data-connection=reconnecting]').waitFor();
    await page.getByText('The connection was lost').waitFor();
    open(1);
    await toolyard.gateway({ GATEWAY_PORT: new URL(url).port });
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
    await page.context().close();
  });
});

it('no page threw or broke its security policy', () => {
  expect(browser.faults).toEqual([]);
});
