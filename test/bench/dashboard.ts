import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { ToolyardClient } from '#client';
import { endProcess } from './processes.js';
import { freePort, isReady, KEY, startApp } from './toolyard.contender.js';

interface Submission {
  readonly tool: string;
  readonly arguments: Record<string, string>;
}

const CALLS = 5000;
const LINES = 1_000_000;
const BATCH = 10;
const SESSION = 'bench';
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

interface Step {
  readonly name: string;
  readonly frames: number;
  /** Frames that took longer than 50 ms, as the browser reports them ("long animation frames"). */
  readonly long: number;
  readonly longestMs: number;
}

/**
 * Opens the dashboard on a session of 5,000 calls and on a log of 1,000,000 lines, does what a person does there, and counts the
 * frames that took longer than 50 ms. `npm run bench:dashboard`.
 */
async function main(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'toolyard-bench-dashboard-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { TOOLYARD_DATA: data, GATEWAY_PORT: String(port), TOOLYARD_API_KEY: KEY, SANDBOX: 'host', LOG_LEVEL: 'error' };
  const standalone = startApp('standalone', { ...process.env, ...env });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    await isReady(standalone, url);
    const client = new ToolyardClient({ baseUrl: url, apiKey: KEY });
    await fillSession(client);
    const log = await writeLog(client);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const open = (path: string) => page.goto(`${url}${path}#key=${KEY}`);
    await watchSession(page, client, open);
    await readLog(page, log, open);
  } finally {
    await browser.close();
    await endProcess(standalone);
    rmSync(data, { recursive: true, force: true });
  }
}

async function fillSession(client: ToolyardClient): Promise<void> {
  const turn = (index: number) =>
    client.batches.submit({
      sessionId: SESSION,
      agentId: 'coder',
      calls: Array.from({ length: BATCH }, (_, at): Submission =>
        at === 3 && index % 7 === 0
          ? { tool: 'file_read', arguments: { path: `missing-${index}.txt` } }
          : { tool: 'echo', arguments: { text: `step ${index}.${at}` } },
      ),
    });
  for (let index = 0; index < CALLS / BATCH; index++) {
    const { id } = await turn(index);
    if (index % 20 === 19) await client.batches.wait(id);
  }
  for (let stored = 0; stored < CALLS;) {
    ({ count: stored } = await client.calls.count({ sessionId: SESSION, status: ['ended'] }));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Lines that are empty but for the last: a tool keeps a megabyte. */
async function writeLog(client: ToolyardClient): Promise<string> {
  const { id } = await client.calls.run({ tool: 'shell', arguments: { command: `yes '' | head -n ${LINES - 1}; echo the last line` } });
  return id;
}

type Open = (path: string) => Promise<unknown>;

async function watchSession(page: Page, client: ToolyardClient, open: Open): Promise<Step[]> {
  await open(`/sessions/${SESSION}`);
  const list = page.getByRole('list', { name: 'Calls of the session' });
  const loading = await measured(page, 'session: load', () => list.locator('[data-row]').first().waitFor({ timeout: 120_000 }));
  await list.hover();
  const scrolling = await measured(page, 'session: scroll', () => wheel(page, 100));
  const live = await measured(page, 'session: 100 calls arrive', async () => {
    for (let index = 0; index < 100; index++) await client.calls.run({ tool: 'echo', arguments: { text: 'live' }, sessionId: SESSION });
  });
  const fold = await measured(page, 'session: fold and unfold batches', async () => {
    for (let index = 0; index < 4; index++) await page.getByRole('button', { name: 'Fold batches' }).click();
  });
  const box = (await page.locator('[data-minimap]').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const map = await measured(page, 'session: drag the minimap', async () => {
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 5, box.y + box.height - 5, { steps: 60 });
    await page.mouse.up();
  });
  const drawer = await measured(page, 'session: open 5 calls beside it', async () => {
    for (let index = 0; index < 5; index++)
      await list
        .locator('[data-call] a')
        .nth(10 + index)
        .click();
  });
  return [loading, scrolling, live, fold, map, drawer];
}

async function readLog(page: Page, id: string, open: Open): Promise<Step[]> {
  await open(`/calls/${id}`);
  const log = page.getByRole('log');
  const loading = await measured(page, 'log: open', () => log.first().waitFor({ timeout: 120_000 }));
  const whole = page.getByRole('button', { name: 'Load the whole output' });
  const all = await measured(page, 'log: load all lines', async () => {
    await whole.click();
    await whole.waitFor({ state: 'detached', timeout: 120_000 });
  });
  await log.first().hover();
  const scrolling = await measured(page, 'log: scroll', () => wheel(page, 100));
  const find = await measured(page, 'log: find', async () => {
    await page.getByRole('textbox', { name: 'Find in the output' }).pressSequentially('the last', { delay: 50 });
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await page.locator('[data-found]').waitFor();
  });
  return [loading, all, scrolling, find];
}

async function wheel(page: Page, times: number): Promise<void> {
  for (let index = 0; index < times; index++) {
    await page.mouse.wheel(0, 400);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
}

const COUNT = `
  window.long = []; window.frames50 = 0;
  new PerformanceObserver((list) => window.long.push(...list.getEntries().map((it) => it.duration))).observe({ type: 'long-animation-frame' });
  const each = () => { window.frames50 += 1; requestAnimationFrame(each); };
  requestAnimationFrame(each);`;

/** Measurements of the browser while `act` runs. */
async function measured(page: Page, name: string, act: () => Promise<unknown>): Promise<Step> {
  const isCounting = await page.evaluate<boolean>('"long" in window');
  if (!isCounting) await page.evaluate(COUNT);
  await page.evaluate('window.long.length = 0; window.frames50 = 0; 0');
  await act();
  await page.evaluate('new Promise((done) => setTimeout(done, 300))');
  const [frames, long] = await page.evaluate<[number, number[]]>('[window.frames50, window.long]');
  const step = { name, frames, long: long.length, longestMs: Math.round(Math.max(0, ...long)) };
  process.stdout.write(`${JSON.stringify(step)}\n`);
  return step;
}

await main();
