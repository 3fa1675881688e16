import { describe, expect, it } from '@jest/globals';
import { dashboardHarness, LONG_MS } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();

const ATTEMPT = 'Output of attempt 1';

describe('the log of a call', () => {
  it('marks lines of a log that a command wrote to its standard error', async () => {
    const { id } = await stage.agent.run('shell', { command: 'echo fine; echo oops >&2' });
    const page = await stage.open(`/calls/${id}`);
    const log = page.getByRole('log', { name: ATTEMPT });
    await log.locator('[data-stderr]').getByText('oops').waitFor();
    expect(await log.locator('[data-stderr]').allInnerTexts()).toEqual(['oops']);
    expect(await log.locator('[data-index]:not([data-stderr])').allInnerTexts()).toEqual(['fine']);
  });

  it.each([
    ['a command', 'shell', { command: 'for f in *.txt; do echo "$f"; done' }, 'for'],
    ['a written file', 'file_write', { path: 'a.py', content: 'def f():\n    return 1\n' }, 'def'],
  ])('highlights the words of %s by its language on the page of its call', async (_title, tool, args, word) => {
    const { id } = await stage.agent.run(tool, args);
    const page = await stage.open(`/calls/${id}?tab=arguments`);
    await page.locator('main [data-token=keyword]').getByText(word, { exact: true }).first().waitFor();
  });

  it('wraps long lines of a log, and shows them unwrapped on request', async () => {
    const { id } = await stage.agent.run('shell', { command: `printf 'x%.0s' $(seq 2000); echo` });
    const page = await stage.open(`/calls/${id}`);
    const log = page.getByRole('log', { name: ATTEMPT });
    await log.getByText('xxx').waitFor();
    const overflows = () => log.evaluate((screen: { scrollWidth: number; clientWidth: number }) => screen.scrollWidth > screen.clientWidth);
    const wrap = page.getByRole('button', { name: 'Wrap long lines' });
    expect([await wrap.getAttribute('aria-pressed'), await overflows()]).toEqual(['true', false]);
    await wrap.click();
    await eventually(overflows, 'the line to go on to the right');
    expect(await wrap.getAttribute('aria-pressed')).toBe('false');
  });

  it('follows the output of a running call until a person scrolls up, and again on request', async () => {
    const { command, open } = stage.gated(['seq -f "early %.0f" 200', 'echo middle', 'echo late; sleep 600']);
    const { body } = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS });
    const page = await stage.open(`/calls/${body.id}`);
    open(0);
    const log = page.getByRole('log', { name: ATTEMPT });
    await log.getByText('early 200', { exact: true }).waitFor();
    await log.evaluate((screen: { scrollTop: number }) => void (screen.scrollTop = 0));
    await log.getByText('early 1', { exact: true }).waitFor();
    const follow = page.getByRole('button', { name: 'Follow the output' });
    await follow.waitFor();
    const heightOf = () => log.evaluate((screen: { scrollHeight: number }) => screen.scrollHeight);
    const before = await heightOf();
    open(1);
    await eventually(async () => (await heightOf()) > before, 'the next line to come');
    expect([await log.getByText('early 1', { exact: true }).count(), await log.getByText('middle').count()]).toEqual([1, 0]);
    await follow.click();
    await log.getByText('middle').waitFor();
    open(2);
    await log.getByText('late').waitFor();
    expect(await follow.count()).toBe(0);
  });

  it('loads earlier lines of a running call that the browser did not keep', async () => {
    const parts = [0, 1, 2, 3, 4, 5].map((n) => `seq ${n * 1_000 + 1} ${(n + 1) * 1_000}`);
    const { command, open } = stage.gated([...parts, 'sleep 600']);
    const { body } = await stage.agent.submit('shell', { command, timeout_ms: LONG_MS });
    const page = await stage.open(`/calls/${body.id}`);
    const log = page.getByRole('log', { name: ATTEMPT });
    for (const n of parts.keys()) {
      open(n);
      await log.getByText(`${(n + 1) * 1_000}`, { exact: true }).waitFor();
    }
    await page.getByText('1,000 earlier lines are not kept in the browser.').waitFor();
    await page.getByRole('button', { name: 'Load earlier lines' }).click();
    await page.getByText('not kept in the browser').waitFor({ state: 'detached' });
    await page.getByLabel('Find in the output').fill('17');
    await log.locator('[data-found]').getByRole('link', { name: 'Line 17', exact: true }).waitFor();
  });
});
