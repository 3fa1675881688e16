import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { eventually } from './eventually.js';
import { TEST_KEY } from './test-cluster.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A real browser, its pages, and what went wrong in them. */
export interface TestBrowser {
  readonly browser: Browser;
  /** Texts of errors that pages threw or wrote to the console, refused requests left out. */
  readonly faults: string[];
  /** A page of its own (own storage), without an address. On it, answers are held until a test sends them or takes them back. */
  page(options?: BrowserContextOptions): Promise<Page>;
  /** The same, logged in by the address as `npm start` prints it. */
  open(url: string, options?: BrowserContextOptions, key?: string): Promise<Page>;
  close(): Promise<void>;
}

/** HOLD_MS of the dashboard. */
const HOLD_MS = 5000;

/** Makes the time for which the dashboard holds an answer as long as a timer can be. */
const HOLDS_ANSWERS = `
  const timer = window.setTimeout.bind(window);
  window.setTimeout = (run, ms, ...args) => timer(run, ms === ${HOLD_MS} ? 2 ** 31 - 1 : ms, ...args);
`;

export async function startBrowser(): Promise<TestBrowser> {
  if (!existsSync(CHROMIUM))
    throw new Error(`There is no browser at ${CHROMIUM}: install it (apt-get install chromium) or set CHROMIUM to where it is`);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const faults: string[] = [];
  const newPage = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(180_000);
    await page.addInitScript(HOLDS_ANSWERS);
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(message.text())) faults.push(message.text());
    });
    return page;
  };
  return {
    browser,
    faults,
    page: newPage,
    open: async (url, options, key = TEST_KEY) => {
      const page = await newPage(options);
      await page.goto(`${url}#key=${key}`);
      return page;
    },
    close: () => browser.close(),
  };
}

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
  }[];
}

/** On pages that follow the colour scheme of the browser or a choice of the person; others have no such attribute. */
const SCHEME_IS_SHOWN = `(() => {
  const shown = document.documentElement.dataset.mantineColorScheme;
  const chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
  const asked = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  return shown === undefined || shown === (chosen === 'auto' ? asked : chosen);
})()`;

/** An element whose colour is inherited begins its transition when that of its parent ends: one transition may follow another. */
const TRANSITIONS_ENDED = `(async () => {
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  const ends = ({ effect }) => effect.getComputedTiming().endTime !== Infinity;
  await frame();
  do await frame();
  while (document.getAnimations().some(ends));
})()`;

/** The rules of axe whose answers depend on colours. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Findings of axe against WCAG 2.2 A and AA and its own best practices: one line a fault, none if the page is clean. `only` contains
 * names of rules.
 */
export async function accessibilityFaults(page: Page, only?: readonly string[]): Promise<string[]> {
  // Colours on their way from one theme to the other have no contrast to speak of: the page hears of a new scheme a little after its
  // background.
  await eventually(() => page.evaluate<boolean>(SCHEME_IS_SHOWN), 'the page to show the colour scheme');
  await page.evaluate(TRANSITIONS_ENDED);
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const runOnly = only ?? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  // Without the elements that pass, whose selectors take most of the time.
  const options = { runOnly, resultTypes: ['violations'] };
  const { violations } = await page.evaluate<Found>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id} ${JSON.stringify(node.target)} ${node.failureSummary ?? ''}`));
}
