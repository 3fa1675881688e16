// Takes the pictures of the README from an installation of its own, which `toolyard demo` fills: `npm run pictures`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = join(root, 'apps/dashboard/pictures');
const data = mkdtempSync(join(tmpdir(), 'toolyard-pictures-'));
const url = `http://127.0.0.1:${await freePort()}`;
const env = { ...process.env, TOOLYARD_DATA: data, TOOLYARD_SETUP: 'no', GATEWAY_PORT: new URL(url).port };

const standalone = spawn(process.execPath, [join(root, 'dist/apps/standalone/src/main.js')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  await started();
  await takeAll();
} finally {
  await browser.close();
  standalone.kill('SIGINT');
  if (standalone.exitCode === null) await once(standalone, 'exit');
  rmSync(data, { recursive: true, force: true });
}

async function started() {
  const up = new Promise((resolve) => standalone.stdout.on('data', (piece) => String(piece).includes('Toolyard is up') && resolve()));
  const ended = once(standalone, 'exit').then(([code]) => Promise.reject(new Error(`The installation ended with ${code}`)));
  await Promise.race([up, ended]);
  ended.catch(() => undefined);
}

async function takeAll() {
  const page = await browser.newPage({ viewport: { width: 1200, height: 700 }, reducedMotion: 'reduce', colorScheme: 'light' });
  page.setDefaultTimeout(180_000);
  const take = async (name) => {
    // No row or bar shows what it shows under the pointer.
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  };
  const key = readFileSync(join(data, 'key'), 'utf8').trim();
  await page.goto(`${url}/live#key=${key}`);
  await page.locator('html[data-pages=loaded]').waitFor();
  const demo = spawn(process.execPath, [join(root, 'apps/cli/toolyard.mjs'), '--url', url, 'demo'], { env, stdio: 'inherit' });
  const ended = once(demo, 'exit');

  // Live while calls run and others wait for an answer, which can be given.
  const question = page.locator('[data-agent-row="release-2.14.0"]');
  await question.getByRole('button', { name: 'Allow once', disabled: false }).first().waitFor();
  await page.locator('[data-agent-row] [data-state=running]').first().waitFor();
  await take('live');
  const [code] = await ended;
  if (code !== 0) throw new Error(`toolyard demo ended with ${code}`);

  // The question about `rm`, with fewer folders.
  await page.setViewportSize({ width: 1200, height: 940 });
  await page.goto(`${url}/approvals`);
  await page.getByText('rm -rf dist node_modules').first().click();
  await page.getByRole('button', { name: 'Edit and allow' }).click();
  const command = page.getByRole('dialog').getByRole('textbox', { name: 'command' });
  await command.fill('rm -rf dist');
  await page.getByRole('region', { name: 'Your changes' }).getByRole('table').waitFor();
  await take('approval');
  await page.setViewportSize({ width: 1200, height: 700 });

  await page.goto(`${url}/calls?result=error&q=build.sh`);
  await page.locator('[role=row][data-call] [data-open]').first().click();
  await page
    .getByText(/error TS2551/)
    .last()
    .waitFor();
  await take('failed-build');

  // A sub-agent among the calls of the agent that asked it.
  await page.goto(`${url}/sessions/flaky-cart-test`);
  await page.locator('[data-row][data-call]').filter({ hasText: 'investigate' }).waitFor();
  await take('session');
}

/** A port that nothing listens on now. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
