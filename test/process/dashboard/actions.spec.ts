import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { Call, WorkerStatus } from '#contracts';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness, READER_KEY } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const stage = dashboardHarness();

describe('the form of a tool', () => {
  it("shows the error of each field of a tool's form, then submits the call and shows its result beside it", async () => {
    const page = await stage.open('/tools/file_write');
    const path = page.getByRole('textbox', { name: 'path' });
    await path.fill('');
    await page.getByRole('textbox', { name: 'content' }).fill('written by hand');
    await page.getByRole('button', { name: 'Call file_write' }).click();
    await page
      .getByText(/required|at least|shorter/i)
      .first()
      .waitFor();
    await path.fill('by-hand.txt');
    await page.getByRole('textbox', { name: 'Session' }).fill('by-hand');
    await page.getByRole('button', { name: 'Call file_write' }).click();
    const result = page.locator('[data-try-result]');
    await result.locator('[data-state=completed]').waitFor();
    const { body } = await stage.agent.get(`/v1/calls/${await result.getAttribute('data-try-result')}`);
    expect(body).toMatchObject({
      tool: 'file_write',
      sessionId: 'by-hand',
      arguments: { path: 'by-hand.txt', content: 'written by hand' },
      outcome: 'completed',
    });
  });
});

describe('the arguments of a tool as JSON', () => {
  it('submits arguments written as JSON once they fit the tool, and shows the text of an example in the same field', async () => {
    const page = await stage.open('/tools/sleep');
    await page.getByText('JSON', { exact: true }).click();
    const field = page.getByRole('textbox', { name: 'Arguments' });
    const submit = page.getByRole('button', { name: 'Call sleep' });
    await field.fill('{"duration_ms": ');
    await eventually(async () => (await submit.getAttribute('aria-disabled')) === 'true', 'half of a JSON text not to be submitted');
    await field.fill('{"duration_ms": "long"}');
    await submit.click();
    await page.getByRole('alert').getByText('/duration_ms').waitFor();
    await field.fill('{"duration_ms": 3}');
    await submit.click();
    const result = page.locator('[data-try-result]');
    await result.locator('[data-state=completed]').waitFor();
    const { body } = await stage.agent.get(`/v1/calls/${await result.getAttribute('data-try-result')}`);
    expect(body).toMatchObject({ tool: 'sleep', arguments: { duration_ms: 3 } });

    await page.goto(`${stage.url}/tools/shell`);
    await page.getByText('JSON', { exact: true }).click();
    const first = await field.inputValue();
    await page.getByRole('group', { name: 'Examples' }).getByRole('button').nth(1).click();
    await eventually(async () => (await field.inputValue()) !== first, 'the text of the other example');
  });
});

describe('the result of a tool that is tried', () => {
  it('scrolls to the result of a tool that is tried, and announces its state', async () => {
    const page = await stage.open('/tools/shell', { viewport: { width: 1280, height: 500 } });
    await page.getByRole('button', { name: 'Call shell' }).click();
    const state = page.getByRole('region', { name: 'Result' }).getByRole('status').locator('[data-state=completed]');
    await state.waitFor();
    const isSeen = async () => {
      const { y = 500, height = 0 } = (await state.boundingBox()) ?? {};
      return y >= 52 && y + height <= 500;
    };
    await eventually(isSeen, 'the state to be in the window');
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

describe('the example in a form', () => {
  it('runs the example in a form unchanged in an empty workspace', async () => {
    for (const tool of ['file_edit', 'shell']) {
      const page = await stage.open(`/tools/${tool}`);
      await page.getByRole('textbox', { name: 'Session' }).fill(`fresh-${tool}`);
      await page.getByRole('button', { name: `Call ${tool}` }).click();
      await page.locator('[data-try-result] [data-state=completed]').waitFor();
    }
  });
});

describe('a command to copy', () => {
  it('submits the same call when a copied command is pasted into a terminal', async () => {
    const args = { text: `it's "$HOME" and \`date\`; <b>` };
    const { id } = await stage.agent.run('echo', args, { sessionId: 'pasted' });
    const page = await stage.open(`/calls/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('menuitem', { name: 'Command line' }).click();
    const line = await eventually(() => page.evaluate<string>('navigator.clipboard.readText()'), 'the clipboard to have the command');
    const env = { ...process.env, PATH: `${resolve('apps/cli/bin')}:${process.env['PATH']}`, TOOLYARD_API_KEY: TEST_KEY };
    const pasted = spawnSync('bash', ['-c', line], { encoding: 'utf8', env });
    expect(pasted).toMatchObject({ status: 0 });
    const calls = await eventually(async () => {
      const { body } = await stage.agent.get<{ calls: Call[] }>('/v1/calls?sessionId=pasted');
      return body.calls.length === 2 ? body.calls : undefined;
    }, 'both calls to be in the list');
    const made = calls.find((call) => call.id !== id);
    expect((await stage.agent.get(`/v1/calls/${made?.id}`)).body).toMatchObject({ tool: 'echo', arguments: args, outcome: 'completed' });
  });
});

describe('a worker', () => {
  it('drains a worker from its page', async () => {
    const workers = async () => (await stage.agent.get<{ workers: WorkerStatus[] }>('/v1/workers')).body.workers;
    const [first] = await eventually(async () => ((await workers()).length === 1 ? workers() : undefined), 'the first worker to be known');
    await stage.toolyard.worker();
    const second = await eventually(async () => (await workers()).find(({ id }) => id !== first?.id), 'the second worker to be known');
    const page = await stage.open('/workers');
    const card = page.locator(`[data-worker="${second.id}"]`);
    await card.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain it' }).click();
    await card.getByText('Draining').waitFor();
    await eventually(async () => (await workers()).find(({ id }) => id === second.id)?.draining, 'the second worker to drain');
    expect((await workers()).find(({ id }) => id === first?.id)).toMatchObject({ draining: false });
  });
});

describe('a key with the scope read alone', () => {
  it('disables every action for a key with the scope read alone, with the reason', async () => {
    const { id } = await stage.agent.run('echo', {});
    const page = await stage.open(`/calls/${id}`, { key: READER_KEY });
    const replay = page.getByRole('button', { name: 'Replay', exact: true, disabled: true });
    await replay.waitFor();
    await replay.focus();
    await page.getByRole('tooltip').getByText('Needs a key with the scope submit; yours (reader) has read.').waitFor();
    await page.goto(`${stage.url}/workers`);
    await page.getByRole('button', { name: 'Drain', disabled: true }).first().waitFor();
  });
});
