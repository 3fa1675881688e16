// Records 40 seconds of a terminal and of the pages while `toolyard demo` runs, as an animated SVG for the README: `npm run recording`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictures, withDemoInstallation } from './demo-installation.mjs';

const [WIDTH, HEIGHT] = [1200, 700];
const MOST_BYTES = 2_000_000;
const QUALITY = 0.62;

/** Shots as WebP in base64, each with the time for which it is shown. */
const frames = [];

await withDemoInstallation(async ({ browser, url, key, toolyard }) => {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme: 'light', reducedMotion: 'reduce' });
  const screen = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
  const converter = await browser.newPage();
  page.setDefaultTimeout(180_000);

  /** Adds a shot of the page, shown for so long. The same shot again is shown longer. */
  const shoot = async (ms, of = page) => {
    const png = (await of.screenshot()).toString('base64');
    const webp = await converter.evaluate(
      async ([source, quality]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${source}`;
        await image.decode();
        const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
        canvas.getContext('2d').drawImage(image, 0, 0);
        return canvas.toDataURL('image/webp', quality).split(',')[1];
      },
      [png, QUALITY],
    );
    const last = frames.at(-1);
    if (last?.webp === webp) last.ms += ms;
    else frames.push({ webp, ms });
  };
  /** A shot each second. */
  const watch = async (seconds) => {
    for (let second = 0; second < seconds; second++) {
      await page.mouse.move(0, 0);
      await shoot(1_000);
      await page.waitForTimeout(1_000);
    }
  };
  /** A command as it is typed, and its text. */
  const type = async (command) => {
    for (let length = 0; length <= command.length; length += 6) await shoot(120, await terminal(screen, command.slice(0, length)));
  };

  await type('toolyard demo');
  let begun;
  const first = new Promise((resolve) => (begun = resolve));
  const ended = toolyard(['demo'], (text) => text.includes('\n') && begun(text));
  await shoot(2_500, await terminal(screen, 'toolyard demo', await first));

  await page.goto(`${url}/live#key=${key}`);
  await page.locator('html[data-pages=loaded]').waitFor();
  await page.locator('[data-agent-row]').first().waitFor();
  await watch(9);
  await page.goto(`${url}/calls`);
  await page.locator('[role=row][data-call]').first().waitFor();
  await watch(3);
  await ended;

  await page.goto(`${url}/approvals`);
  await page.getByText('rm -rf dist node_modules').first().click();
  // The question is complete: its buttons stay where they are.
  await page.locator('[data-call][aria-current]').filter({ hasText: 'rm -rf dist node_modules' }).waitFor();
  await page.getByRole('region', { name: 'Before this in the session' }).waitFor();
  await page.locator('[data-takes-keys=true]').waitFor();
  await shoot(3_000);
  await page.getByRole('button', { name: 'Edit and allow' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'command' }).fill('rm -rf dist');
  await shoot(1_500);
  await page.getByRole('region', { name: 'Your changes' }).getByRole('table').scrollIntoViewIfNeeded();
  await shoot(2_500);

  await page.goto(`${url}/failures`);
  await page.locator('[data-fingerprint]').first().waitFor();
  await shoot(1_500);
  await page.locator('[data-fingerprint]').first().getByRole('link').first().click();
  await page.locator('[data-failure-pane] [data-preview]').waitFor();
  await page.waitForLoadState('networkidle');
  await shoot(3_000);
  await page.goto(`${url}/calls?result=error&q=build.sh`);
  await page.locator('[role=row][data-call] [data-open]').first().click();
  await page
    .getByText(/error TS2551/)
    .last()
    .waitFor();
  await page.mouse.move(0, 0);
  await shoot(3_500);
  await page.goto(`${url}/sessions/flaky-cart-test`);
  await page.locator('[data-row][data-call]').filter({ hasText: 'investigate' }).waitFor();
  await shoot(3_000);
  const call = await page.locator('[data-row][data-call]').filter({ hasText: 'investigate' }).getAttribute('data-call');
  await page.goto(`${url}/calls/${call}`);
  await page.locator('[data-turn]').first().waitFor();
  await shoot(3_000);

  await type('toolyard usage');
  await shoot(3_000, await terminal(screen, 'toolyard usage', await toolyard(['usage'])));
});

const svg = svgOf(frames);
if (svg.length > MOST_BYTES) throw new Error(`Expected at most ${MOST_BYTES} bytes, made ${svg.length}`);
writeFileSync(join(pictures, 'recording.svg'), svg);
console.log(`${frames.length} pictures, ${frames.reduce((sum, { ms }) => sum + ms, 0) / 1000} s, ${Math.round(svg.length / 1000)} kB`);

/** The page as a terminal with a command and its text. */
async function terminal(screen, command, text = '') {
  await screen.setContent(`<body style="margin:0;background:#14171c;color:#d5dae1"><pre></pre>`);
  await screen.addStyleTag({ content: 'pre{margin:28px 32px;font:17px/1.6 monospace;white-space:pre-wrap}' });
  await screen.locator('pre').evaluate((pre, shown) => (pre.textContent = shown), `$ ${command}${text === '' ? '▏' : `\n${text}`}`);
  return screen;
}

/** All pictures in one column, which jumps up by one at a time. */
function svgOf(shots) {
  const wholeMs = shots.reduce((sum, { ms }) => sum + ms, 0);
  let at = 0;
  const steps = shots.map(({ ms }, index) => {
    const step = `${((100 * at) / wholeMs).toFixed(3)}%{transform:translateY(${-index * HEIGHT}px)}`;
    at += ms;
    return step;
  });
  const images = shots.map(
    ({ webp }, index) => `<image y="${index * HEIGHT}" width="${WIDTH}" height="${HEIGHT}" href="data:image/webp;base64,${webp}"/>`,
  );
  const style = `@keyframes play{${steps.join('')}}g{animation:play ${wholeMs}ms step-end infinite}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"><style>${style}</style><g>${images.join('')}</g></svg>\n`;
}
