import { chromium } from 'playwright-core';
import { readFileSync } from 'node:fs';
const key = readFileSync('/tmp/uxs/data/key', 'utf8').trim();
const base = 'http://127.0.0.1:7811';
const [, , width = '1280', scheme = 'light', ...paths] = process.argv;
const api = async (p) => (await fetch(base + p, { headers: { authorization: `Bearer ${key}` } })).json();
const calls = (await api('/v1/calls?limit=100')).calls;
const find = (f) => calls.find(f)?.id;
const named = {
  failed: find((c) => c.isError && c.outcome === 'completed'),
  running: find((c) => c.status === 'running'),
  waiting: find((c) => c.status === 'waiting_approval'),
  missing: find((c) => c.outcome === 'failed'),
  ok: find((c) => c.ok),
  timeout: find((c) => c.outcome === 'timed_out'),
};
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const ctx = await browser.newContext({
  viewport: { width: +width, height: width === '390' ? 844 : 820 },
  colorScheme: scheme,
  reducedMotion: 'reduce',
});
const page = await ctx.newPage();
page.on('console', (m) => m.type() === 'error' && console.log('console', m.text()));
await page.goto(`${base}/live#key=${key}`);
for (const p of paths) {
  const path = p.replace(/@(\w+)/, (_, n) => named[n]);
  await page.goto(base + path);
  await page.waitForTimeout(3500);
  const name = `/tmp/uxs/${p.replace(/\W+/g, '_')}-${width}-${scheme}.png`;
  await page.screenshot({ path: name });
  console.log(name);
}
await browser.close();
