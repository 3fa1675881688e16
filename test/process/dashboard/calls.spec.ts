import { describe, expect, it } from '@jest/globals';
import type { CallPage } from '#contracts';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { dashboardHarness, LONG_MS, READER_KEY } from '../../support/dashboard-harness.js';
import { TEST_KEY } from '../../support/test-cluster.js';

const stage = dashboardHarness();

const row = (page: Page, callId: string) => page.locator(`[role=row][data-call="${callId}"]`);
const live = (page: Page) => page.locator('[data-connection=live]').waitFor();

describe('an installation without a call', () => {
  it('offers code to paste and an example that makes six calls in an installation without calls', async () => {
    const page = await stage.open('/calls');
    await page.getByText('-d \'{"tool":"shell"').waitFor();
    for (const language of ['TypeScript', 'Python']) await page.getByText(language, { exact: true }).click();
    await page.getByText('from toolyard import').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(`${stage.url}/live`);
    await page.getByRole('button', { name: 'Run an example agent' }).click();
    await page.waitForURL(/\/sessions\/example-/);
    const sessionId = page.url().split('/').at(-1) ?? '';
    const calls = await eventually(async () => {
      const { body } = await stage.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=ended`);
      return body.calls.length === 6 ? body.calls : undefined;
    }, 'the calls of the example to end');
    expect(calls.map(({ tool, ok, parentCallId }) => [tool, ok, parentCallId !== undefined])).toEqual(
      expect.arrayContaining([
        ['file_write', true, false],
        ['file_read', true, false],
        ['file_edit', true, false],
        ['file_search', true, true],
      ]),
    );
    expect(calls.filter(({ tool }) => tool === 'shell').map(({ ok }) => ok)).toEqual([true, false]);
  });
});

describe('the list of calls', () => {
  it('reads the key from the address of a list and removes it from address and history', async () => {
    const page = await stage.open('/calls');
    await live(page);
    expect(page.url()).toBe(`${stage.url}/calls`);
  });

  it('shows a call of another client and follows it to its end', async () => {
    const page = await stage.open('/calls');
    await live(page);
    const { command, open } = stage.gated(['true']);
    const { body } = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS }, { agentId: 'coder' });
    await row(page, body.id).and(page.locator('[data-state=running]')).waitFor();
    open(0);
    await row(page, body.id).and(page.locator('[data-state=completed]')).waitFor();
  });

  it('shows the subject of each call in one line, and its error below', async () => {
    const inSession = { sessionId: 'subjects' };
    const command = 'for i in 1 2 3; do echo "$i of three"; done; echo "no such file" >&2; exit 3';
    const failing = await stage.agent.run('shell', { command }, inSession);
    const missing = await stage.agent.run('file_edit', { path: 'docs/missing.md', old_text: 'a', new_text: 'b' }, inSession);
    const page = await stage.open('/calls?sessionId=subjects');
    const failed = row(page, failing.id);
    await failed.and(page.locator('[data-state=error]')).getByText('exit 3 · no such file').waitFor();
    expect(await failed.locator('[data-column=Subject] code').innerText()).toBe(`$ ${command}`);
    await row(page, missing.id).getByText('docs/missing.md', { exact: true }).waitFor();
    await row(page, missing.id)
      .getByText(/^tool_failed: /)
      .waitFor();
    await row(page, missing.id)
      .getByText(/^(?:just now|\d+[sm] ago)$/)
      .waitFor();
    await page.goto(`${stage.url}/calls?sessionId=subjects&result=ok`);
    await page.getByText('No call fits this filter').waitFor();
    await stage.agent.run('shell', { command: 'exit 4' }, inSession);
    const fine = await stage.agent.run('shell', { command: 'true' }, inSession);
    await row(page, fine.id).waitFor();
    expect(await page.locator('[role=row][data-call]').count()).toBe(1);
  });

  it('filters the list of calls by the address, and leaves out new calls that do not match', async () => {
    const [echo, shell] = [await stage.agent.run('echo', { n: 1 }), await stage.agent.run('shell', { command: 'true' })];
    const page = await stage.open('/calls?tool=echo');
    await row(page, echo.id).waitFor();
    const [later, other] = [await stage.agent.run('echo', { n: 2 }), await stage.agent.run('shell', { command: 'true' })];
    await row(page, later.id).waitFor();
    expect([await row(page, shell.id).count(), await row(page, other.id).count()]).toEqual([0, 0]);

    await page.getByRole('button', { name: 'Remove the filter Tool' }).click();
    await row(page, other.id).waitFor();
    expect(page.url()).toBe(`${stage.url}/calls`);
  });

  it('shows the error of a filter in the address', async () => {
    const page = await stage.open('/calls?status=sleeping');
    await page.getByText('The filter in the address cannot be read').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('table', { name: 'Calls' }).waitFor();
  });
});

describe('a list that is narrowed and sorted', () => {
  it('shows counts by value, cells that filter, a sort and a saved view above the list of calls', async () => {
    const inSession = { sessionId: 'narrow', agentId: 'coder' };
    const slow = await stage.agent.run('shell', { command: 'sleep 0.3; echo slow' }, inSession);
    const failing = await stage.agent.run('shell', { command: 'exit 7' }, inSession);
    const quick = await stage.agent.run('echo', { text: 'quick' }, inSession);
    const page = await stage.open('/calls?sessionId=narrow');
    await row(page, quick.id).waitFor();
    await page.locator('[data-facet=Tool]').click();
    await page.locator('[data-count=shell]').getByText('2', { exact: true }).waitFor();
    await page.locator('[data-count=echo]').getByText('1', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await row(page, failing.id).locator('[data-column=Tool] button').click();
    await page.waitForURL(/tool=shell/);
    await row(page, quick.id).waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Run time' }).click();
    await page.waitForURL(/sort=longest/);
    // On a busy machine the start of a shell may take longer than the sleep.
    const { body } = await stage.agent.request<CallPage>('GET', '/v1/calls?sessionId=narrow&tool=shell');
    const [longest] = body.calls.toSorted((one, other) => (other.runMs ?? 0) - (one.runMs ?? 0));
    await page
      .locator(`[role=row][data-call] >> nth=0`)
      .and(row(page, longest?.id ?? slow.id))
      .waitFor();

    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('textbox', { name: 'Save this view as' }).fill('slow shells');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: 'slow shells' }).waitFor();
    // Another browser with the same key has it, too; another key does not.
    const other = await stage.open('/calls');
    await other.getByRole('button', { name: 'Views' }).click();
    await other.getByRole('link', { name: 'slow shells' }).click();
    await other.waitForURL(/tool=shell&sessionId=narrow&sort=longest/);
    const reader = await stage.open('/calls', { key: READER_KEY });
    await reader.getByRole('button', { name: 'Views' }).click();
    await reader.getByText('A view is a list with its filters').waitFor();
    await other.getByRole('button', { name: 'Views' }).click();
    await other.getByRole('button', { name: 'Remove the view slow shells' }).click();
    await other.getByText('A view is a list with its filters').waitFor();
  });
});

describe('a list by risk', () => {
  it('begins a list by risk with the highest risk, also behind a hundred newer calls of lower risk', async () => {
    const inSession = { sessionId: 'by-risk' };
    const risky = await stage.agent.run('shell', { command: 'rm -rf old' }, inSession);
    expect(risky.risk).toBe('high');
    const harmless = await Promise.all(Array.from({ length: 110 }, (_, n) => stage.agent.run('echo', { n }, inSession)));
    const listed = async () => (await stage.agent.request<CallPage>('GET', '/v1/calls?sessionId=by-risk&limit=200')).body.calls.length;
    await eventually(async () => (await listed()) === 111, 'all of them to be listed');
    const page = await stage.open('/calls?sessionId=by-risk');
    await page.getByTestId('row-count').getByText('100 loaded').waitFor();
    const first = page.locator('[role=row][data-call] >> nth=0');
    expect(harmless.map(({ id }) => id)).toContain(await first.getAttribute('data-call'));

    await page.getByRole('button', { name: 'Risk', exact: true }).last().click();
    await page.waitForURL(/sort=risk/);
    await first.and(row(page, risky.id)).waitFor();
    await first.getByText('high', { exact: true }).waitFor();
    await page.getByText('Highest risk first; rows move as events arrive.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

describe('a list by run time', () => {
  it('begins a list by run time with the longest run, also behind a hundred newer calls that ran shorter', async () => {
    const inSession = { sessionId: 'by-run-time' };
    await stage.agent.run('shell', { command: 'sleep 0.5' }, inSession);
    await Promise.all(Array.from({ length: 110 }, (_, n) => stage.agent.run('echo', { n }, inSession)));
    const listed = async () => (await stage.agent.request<CallPage>('GET', '/v1/calls?sessionId=by-run-time&limit=200')).body.calls;
    const calls = await eventually(async () => {
      const found = await listed();
      return found.length === 111 && found.every(({ runMs }) => runMs !== undefined) ? found : undefined;
    }, 'the run times of all of them to be listed');
    // On a busy machine another one may have run longer.
    const [longest] = calls.toSorted((one, other) => (other.runMs ?? 0) - (one.runMs ?? 0));
    const page = await stage.open('/calls?sessionId=by-run-time');
    const count = page.getByTestId('row-count');
    await count.getByText('100 loaded').waitFor();

    await page.getByRole('button', { name: 'Run time', exact: true }).click();
    await page.waitForURL(/sort=longest/);
    await count.getByText('111 calls', { exact: true }).waitFor();
    await page
      .locator('[role=row][data-call] >> nth=0')
      .and(row(page, longest?.id ?? ''))
      .waitFor();
    await page.getByText('Longest run first; rows move as events arrive.').waitFor();
  });
});

describe('the state of a call that waits for its next attempt', () => {
  it('shows a waiting call as retrying after a failure and suspended during a sleep, before and after a reload', async () => {
    const overloaded = createServer((_request, response) => response.writeHead(503).end('come back later'));
    overloaded.listen(0, '127.0.0.1').unref();
    await once(overloaded, 'listening');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on TCP has such an address
    const { port } = overloaded.address() as AddressInfo;
    const witness = await stage.open('/calls');
    await live(witness);
    const retry = { maxAttempts: 2, backoffMs: 600_000, maxBackoffMs: 600_000 };
    const fetching = await stage.agent.submit('web_fetch', { url: `http://127.0.0.1:${port}/` }, { retry });
    const sleeping = await stage.agent.submit('sleep', { duration_ms: 600_000 });
    const shows = async (page: Page) => {
      await row(page, fetching.body.id).and(page.locator('[data-state=retrying]')).getByText('HTTP 503').waitFor();
      await row(page, sleeping.body.id).and(page.locator('[data-state=suspended]')).waitFor();
    };
    await shows(witness);
    await eventually(async () => {
      const { body } = await stage.agent.get<{ calls: { id: string; retrying: boolean; suspended?: true }[] }>('/v1/calls');
      const [slept, fetched] = [sleeping, fetching].map(({ body: { id } }) => body.calls.find((call) => call.id === id));
      return fetched?.retrying === true && slept?.suspended === true && !slept.retrying;
    }, 'the list to tell the two apart');
    const latecomer = await stage.open('/calls');
    await shows(latecomer);
    await latecomer.goto(`${stage.url}/calls/${fetching.body.id}`);
    await latecomer.locator('main [data-state=retrying]').waitFor();
    await latecomer
      .getByRole('region', { name: 'Timeline' })
      .getByText(/Pause of .* before attempt 2/)
      .waitFor();
    overloaded.close();
  });
});

describe('the live page', () => {
  it('shows a row for each agent on Live with its command, its last line and the question that waits', async () => {
    await stage.agent.request('PUT', '/v1/sessions/agent', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const page = await stage.open('/live');
    await live(page);
    const { command, open } = stage.gated(['echo "line of output"', 'true']);
    const running = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS }, { sessionId: 'agent-running', agentId: 'coder' });
    const asking = await stage.agent.submit('shell', { command: 'touch asked' }, { sessionId: 'agent', agentId: 'coder' });
    open(0);
    await page.locator('[data-agent-row=agent-running] [data-last-line]').getByText('line of output').waitFor();
    const agent = page.locator('[data-agent-row=agent]');
    await agent.getByText('$ touch asked').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await agent.getByRole('button', { name: 'Allow once' }).click();
    await agent.getByRole('button', { name: 'Undo' }).click();
    await agent.getByRole('button', { name: 'Allow once' }).click();
    await page.getByRole('button', { name: 'Now' }).click();
    await agent.locator('[data-state=completed]').waitFor();
    expect((await stage.agent.ended(asking.body.id)).outcome).toBe('completed');
    open(1);
    await stage.agent.ended(running.body.id);
    await page.locator('[data-agent-row=agent-running] [data-state=completed]').waitFor();
  });

  it('freezes the paused live page, counts the new calls, and continues', async () => {
    await stage.agent.request('PUT', '/v1/sessions/paused', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const asking = await stage.agent.submit('shell', { command: 'touch paused' }, { sessionId: 'paused', agentId: 'coder' });
    const page = await stage.open('/live');
    await live(page);
    const agent = page.locator('[data-agent-row=paused]');
    await agent.getByRole('button', { name: 'Deny' }).waitFor();
    const waiting = page.locator('[data-tile="Need approval"]');
    await waiting.getByText('1', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await stage.agent.run('echo', { text: 'meanwhile' }, { sessionId: 'while-paused', agentId: 'coder' });
    await page.getByText('1 new call').waitFor();
    await stage.agent.request('POST', `/v1/calls/${asking.body.id}/decision`, { decision: 'deny' });
    await agent.getByText('Decided since the pause.').waitFor();
    expect(await agent.locator('[data-state=waiting_approval]').count()).toBe(1);
    expect(await agent.getByRole('button').count()).toBe(0);
    expect(await page.locator('[data-agent-row=while-paused]').count()).toBe(0);
    expect(await waiting.getByText('1', { exact: true }).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('[data-agent-row=while-paused] [data-state=completed]').waitFor();
    await agent.locator('[data-state=denied]').waitFor();
    await waiting.getByText('0', { exact: true }).waitFor();
  });

  it('updates the figures of Live with calls of another client', async () => {
    const page = await stage.open('/live');
    await live(page);
    const tile = (name: string, value: string) => page.locator(`[data-tile="${name}"]`).getByText(value, { exact: true }).waitFor();
    await tile('Worker slots used', '0 of 136');
    await tile('Running', '0');
    // Requests fail from here on: all further changes of the page come from events.
    await page.route(/\/v1\/(stats|queues|workers)/, (route) => route.abort());
    const { command, open } = stage.gated(['true']);
    const { body } = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS });
    await tile('Running', '1');
    await tile('Worker slots used', '1 of 136');
    await page.getByRole('row', { name: /^shell 0 . 1 / }).waitFor();
    open(0);
    await stage.agent.ended(body.id);
    await tile('Running', '0');
  });
});

describe('all calls of a filter', () => {
  it('counts all calls of a filter first, then cancels them', async () => {
    const submitted = [1, 2, 3].map((n) =>
      stage.agent.submit('shell', { command: `sleep 60${n}`, timeout_ms: LONG_MS }, { sessionId: 'bulk' }),
    );
    const ids = (await Promise.all(submitted)).map(({ body }) => body.id);
    const page = await stage.open('/calls?sessionId=bulk');
    for (const id of ids) await row(page, id).waitFor();
    await eventually(
      async () => (await stage.agent.get<{ count: number }>('/v1/calls:count?sessionId=bulk&status=queued,running')).body.count === 3,
      'the count to know all three calls',
    );
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await page.getByTestId('bulk-count').getByText('3').waitFor();
    await page.getByRole('button', { name: 'Cancel 3' }).click();
    await page.getByTestId('bulk-done').getByText('3 cancelled.').waitFor();
    for (const id of ids) expect((await stage.agent.ended(id)).outcome).toBe('cancelled');
  });
});

describe('failures', () => {
  it('shows commands that ended with an error among the failures, grouped by their exit', async () => {
    const page = await stage.open('/failures');
    await page.locator('[data-connection=live]').waitFor();
    for (const n of [1, 2]) await stage.agent.run('shell', { command: `echo ${n}; exit 9` }, { sessionId: 'exits' });
    const group = page.locator('[data-fingerprint]').filter({ hasText: 'exit 9' });
    await group.getByRole('cell', { name: '2', exact: true }).waitFor();
    await group.getByText('error result').waitFor();
    await group.locator('[data-subject]').getByText('echo 2; exit 9').waitFor();
    await group.getByRole('link', { name: '2', exact: true }).click();
    await page.waitForURL(/\/calls\?/);
    await eventually(async () => (await page.locator('[role=row][data-call][data-state=error]').count()) === 2, 'both calls');
  });

  it('finds kinds of failures by their words, orders them, and shows beside them whom a kind hit and what its last call said', async () => {
    for (const [n, of] of ['one', 'one', 'two'].entries())
      await stage.agent.run(
        'shell',
        { command: `printf 'can%s find ${of}' not >&2; exit 11 # ${n}` },
        { sessionId: 'kinds', agentId: `hit-${of}` },
      );
    const page = await stage.open('/failures?window=1h');
    await page
      .getByRole('region', { name: 'All failures' })
      .getByText(/calls failed in/)
      .waitFor();
    const kinds = page.locator('[data-fingerprint]');
    await page.getByRole('textbox', { name: 'Search failures' }).fill('CANNOT find hit-');
    await page.waitForURL(/q=/);
    await eventually(async () => (await kinds.count()) === 2, 'the two kinds');
    const first = () => kinds.first().innerText();
    expect(await first()).toContain('cannot find one');
    await page.getByRole('combobox', { name: 'Order' }).selectOption('last');
    await eventually(async () => (await first()).includes('cannot find two'), 'the last failure to come first');
    await kinds.getByRole('link', { name: /cannot find one/ }).click();
    const kind = page.getByRole('region', { name: 'Kind of failure' });
    await kind.getByRole('link', { name: 'hit-one' }).waitFor();
    await kind.getByRole('link', { name: 'Show 2 calls' }).waitFor();
    const last = page.getByRole('complementary', { name: 'Call beside the list' });
    await last.getByText('exit 11 # 1').first().waitFor();
    await last.getByText('cannot find one').last().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await kind.waitFor({ state: 'detached' });

    // On a phone the kind takes the place of the list.
    await page.setViewportSize({ width: 375, height: 2400 });
    await kinds.getByRole('link', { name: /cannot find one/ }).click();
    await kinds.first().waitFor({ state: 'hidden' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'All failures' }).click();
    await kinds.first().waitFor();
  });

  it('groups similar failures, live, and replays a group as a whole', async () => {
    const page = await stage.open('/failures');
    await page.locator('[data-connection=live]').waitFor();
    for (const n of [1, 2]) await stage.agent.run('file_read', { path: `missing-${n}.txt` }, { sessionId: 'failing' });
    const group = page.locator('[data-fingerprint]').filter({ hasText: 'file_read' });
    await group.getByRole('cell', { name: '2', exact: true }).waitFor();
    await group.getByRole('button', { name: 'Replay all' }).click();
    await page.getByTestId('bulk-count').getByText('2').waitFor();
    await page.getByRole('button', { name: 'Replay 2' }).click();
    await page.getByTestId('bulk-done').getByText('2 replayed.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    await group.getByRole('cell', { name: '4', exact: true }).waitFor();
  });
});

describe('a page without a key', () => {
  it('asks for a key on a page without one, and refuses a wrong one', async () => {
    const page = await stage.browser.page();
    await page.goto(`${stage.url}/calls`);
    await page.getByLabel('API key').fill('not-the-key-of-anybody');
    await page.getByRole('button', { name: 'Open the dashboard' }).click();
    await page.getByRole('alert').getByText('Not let in').waitFor();
  });

  it('reads the key from an address on a page without a key, also in an open tab, and removes it there', async () => {
    const page = await stage.browser.page();
    await page.goto(`${stage.url}/calls`);
    await page.getByLabel('API key').waitFor();
    await page.goto(`${stage.url}/calls#key=${TEST_KEY}`);
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    expect(page.url()).not.toContain(TEST_KEY);
  });
});
