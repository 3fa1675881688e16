import { afterEach, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';

const stage = dashboardHarness();
const PHONE = { width: 390, height: 2400 };
const DESK = { width: 1280, height: 1400 };

const asked: string[] = [];
afterEach(async () => {
  for (const id of asked.splice(0)) await stage.agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'deny' });
});

/** A call that waits for a person until the test is over. */
async function ask(sessionId: string, command = 'git push origin main'): Promise<string> {
  await stage.agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  const { id } = (await stage.agent.submit('shell', { command }, { sessionId, agentId: 'coder' })).body;
  asked.push(id);
  return id;
}

const deny = (page: Page) => page.locator('main').getByRole('button', { name: /^Deny/ });
const refusal = (page: Page) => page.getByText('Moved or changed a moment ago: press again.');
const held = (page: Page) => page.locator('[data-held]');

/** Stops the clock of the page; from then on only tests advance it. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

/** Lets the page draw until something holds. */
const drawUntil = (page: Page, holds: () => Promise<boolean>, what: string) =>
  eventually(async () => {
    await page.clock.runFor(20);
    return await holds();
  }, what);

async function placeOf(button: Locator) {
  const box = await button.boundingBox();
  if (box === null) throw new Error('the button is not shown');
  return box;
}

/** A click that waits for nothing. */
async function click(page: Page, button: Locator): Promise<void> {
  const { x, y, width, height } = await placeOf(button);
  await page.mouse.click(x + width / 2, y + height / 2);
}

it('keeps both answers of a question on Live in place while it loads, and ignores clicks for 500 ms', async () => {
  const id = await ask('slow-question');
  const page = await stage.open('/sessions');
  let load = () => {};
  const loaded = new Promise<void>((resolve) => (load = resolve));
  await page.route(`**/v1/calls/${id}`, async (route) => {
    await loaded;
    await route.continue();
  });
  await page.goto(`${stage.url}/live`);
  const allow = page.locator('[data-agent-row=slow-question]').getByRole('button', { name: 'Allow once' });
  await deny(page).waitFor();
  expect(await allow.count()).toBe(1);
  expect([await deny(page).isEnabled(), await allow.isEnabled()]).toEqual([false, false]);
  const before = [await placeOf(deny(page)), await placeOf(allow)];
  expect(before[0]!.x + before[0]!.width).toBeLessThanOrEqual(before[1]!.x);

  await stopClock(page);
  load();
  await drawUntil(page, async () => (await page.getByText('The command changes things (git).').count()) === 1, 'the question');
  expect([await placeOf(deny(page)), await placeOf(allow)]).toEqual(before);
  await click(page, allow);
  await refusal(page).waitFor();
  await page.clock.runFor(100);
  expect(await held(page).count()).toBe(0);
  await page.clock.runFor(500);
  await click(page, deny(page));
  await page.clock.runFor(100);
  expect(await held(page).getByText('Deny shell').count()).toBe(1);
});

it('shows on Live a call with further effects with Allow once disabled in its place', async () => {
  await ask('two-lines', 'git push\ngit tag v1');
  const page = await stage.open('/live');
  await page.getByText('The command changes things (git).').waitFor();
  await deny(page).click({ trial: true });
  const allow = page.locator('[data-agent-row=two-lines]').getByRole('button', { name: 'Allow once' });
  expect([await allow.count(), await allow.isEnabled()]).toEqual([1, false]);
});

it.each([
  ['Approvals', '/approvals/', DESK],
  ['the call on a phone', '/calls/', PHONE],
] as const)(
  'draws the answers of %s once, in their places, while the catalog and earlier calls load slowly',
  async (_name, path, viewport) => {
    const session = `slow-parts-${viewport.width}`;
    const before = await ask(session, 'git fetch');
    await stage.agent.request('POST', `/v1/calls/${before}/decision`, { decision: 'deny' });
    const id = await ask(session);
    const page = await stage.open('/settings', { viewport });
    const open: Record<string, () => void> = {};
    for (const name of ['tools', 'calls']) {
      const opened = new Promise<void>((resolve) => (open[name] = resolve));
      await page.route(new RegExp(`/v1/${name}(\\?|$)`), async (route) => {
        await opened;
        await route.continue();
      });
    }
    await page.goto(`${stage.url}${path}${id}`);
    await page.getByRole('region', { name: 'Decision' }).waitFor();
    expect(await page.locator('[data-decides]').count()).toBe(0);
    open['tools']!();
    await deny(page).click({ trial: true });
    const places = async () => Promise.all((await page.locator('[data-decides]').all()).map(placeOf));
    const drawn = await places();
    expect(drawn.length).toBeGreaterThan(3);
    open['calls']!();
    await page.getByRole('region', { name: 'Before this in the session' }).getByText('git fetch').waitFor();
    expect(await places()).toEqual(drawn);
  },
);

const DOWN = `document.querySelector('main').style.marginTop = '120px'`;
/** A drawer that is scrolled keeps its content in place when something above it grows. */
const DOWN_IN_DRAWER = `document.querySelector('[data-preview]').style.transform = 'translateY(60px)'`;

/** Pages with the script that moves their buttons, and whether keys answer. */
const PAGES: readonly (readonly [name: string, path: (id: string) => string, size: typeof DESK, move: string, takesKeys: boolean])[] = [
  ['Live', () => '/live', DESK, DOWN, false],
  ['Live on a phone', () => '/live', PHONE, DOWN, false],
  ['Approvals', (id) => `/approvals/${id}`, DESK, DOWN, true],
  ['Approvals on a phone', (id) => `/approvals/${id}`, PHONE, DOWN, true],
  ['the call', (id) => `/calls/${id}`, DESK, DOWN, true],
  ['the call on a phone', (id) => `/calls/${id}`, PHONE, DOWN, true],
  ['the call beside the list', (id) => `/calls?peek=${id}`, DESK, DOWN, true],
  ['the call beside its session', (id) => `/sessions/moves?call=${id}`, DESK, DOWN_IN_DRAWER, true],
];

it.each(PAGES)(
  'ignores answers on the page of %s within 500 ms of a move of its buttons, and explains it',
  async (_name, path, size, move, takesKeys) => {
    const id = await ask('moves');
    const page = await stage.open(path(id), { viewport: size });
    await deny(page).click({ trial: true });
    await stopClock(page);
    await page.clock.runFor(2000);
    const before = await placeOf(deny(page));
    // The page may replace the drawer, and with it what the script has changed.
    const hasMoved = async () => (await placeOf(deny(page))).y > before.y + 40;
    const moved = async () => {
      if (!(await hasMoved())) await page.evaluate(move);
      return hasMoved();
    };
    await drawUntil(page, moved, 'the buttons to move');
    await click(page, deny(page));
    await refusal(page).waitFor();
    await page.clock.runFor(400);
    await (takesKeys ? page.keyboard.press('d') : click(page, deny(page)));
    await page.clock.runFor(50);
    expect([await held(page).count(), await refusal(page).count()]).toEqual([0, 1]);

    await page.clock.runFor(200);
    await (takesKeys ? page.keyboard.press('d') : click(page, deny(page)));
    await page.clock.runFor(50);
    expect([await held(page).getByText('Deny shell').count(), await refusal(page).count()]).toEqual([1, 0]);
  },
);

it('reports a key pressed too early after another call was chosen, and accepts it 500 ms later', async () => {
  const [first, second] = [await ask('keys'), await ask('keys')];
  const page = await stage.open(`/approvals/${first}`);
  await deny(page).click({ trial: true });
  await stopClock(page);
  await page.clock.runFor(2000);
  await page.keyboard.press('j');
  const shown = page.locator(`[data-call="${second}"][aria-current]`);
  await drawUntil(page, async () => (await shown.count()) === 1, 'the other call to be shown');
  await page.keyboard.press('d');
  await refusal(page).waitFor();
  for (let press = 0; press < 8 && (await held(page).count()) === 0; press += 1) {
    await page.clock.runFor(100);
    await page.keyboard.press('d');
    await page.clock.runFor(20);
  }
  expect(await held(page).getByText('Deny shell').count()).toBe(1);
});

it('keeps the answers of a long question in view, and what it says when it takes none', async () => {
  const id = await ask('long-question', Array.from({ length: 60 }, (_, n) => `git push origin branch-${n}`).join('\n'));
  const page = await stage.open(`/approvals/${id}`, { viewport: { width: 1280, height: 700 } });
  const isInView = async (part: Locator) => {
    const { y, height } = await placeOf(part);
    return y >= 0 && y + height <= 700;
  };
  await deny(page).waitFor();
  await eventually(() => isInView(deny(page)), 'the answers to be in view');
  await stopClock(page);
  await page.setViewportSize({ width: 1000, height: 700 });
  await page.clock.runFor(40);
  await click(page, deny(page));
  await refusal(page).waitFor();
  expect(await isInView(refusal(page))).toBe(true);
  expect(await held(page).count()).toBe(0);
});
