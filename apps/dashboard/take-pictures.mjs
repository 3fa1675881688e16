// Takes the pictures of the README from an installation of its own, which `toolyard demo` fills: `npm run pictures`.
import { join } from 'node:path';
import { pictures, withDemoInstallation } from './demo-installation.mjs';

await withDemoInstallation(async ({ browser, url, key, toolyard }) => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 700 }, reducedMotion: 'reduce', colorScheme: 'light' });
  page.setDefaultTimeout(180_000);
  const take = async (name) => {
    // No row or bar shows what it shows under the pointer.
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  };
  await page.goto(`${url}/live#key=${key}`);
  await page.locator('html[data-pages=loaded]').waitFor();
  const ended = toolyard(['demo']);

  // Live while calls run and others wait for an answer, which can be given.
  const question = page.locator('[data-agent-row="release-2.14.0"]');
  await question.getByRole('button', { name: 'Allow once', disabled: false }).first().waitFor();
  await page.locator('[data-agent-row] [data-state=running]').first().waitFor();
  await take('live');
  await ended;

  // The question about `rm`, with fewer folders.
  await page.setViewportSize({ width: 1200, height: 940 });
  await page.goto(`${url}/approvals`);
  await page.getByText('rm -rf dist node_modules').first().click();
  // The question is complete: its buttons stay where they are.
  await page.locator('[data-call][aria-current]').filter({ hasText: 'rm -rf dist node_modules' }).waitFor();
  await page.getByRole('region', { name: 'Before this in the session' }).waitFor();
  await page.locator('[data-takes-keys=true]').waitFor();
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
});
