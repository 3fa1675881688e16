import type { Locator, Page } from 'playwright-core';
import type { Content } from '#contracts';
import { ToolError } from '#tool-sdk';
import type { BrowserArguments } from './browser-arguments.js';
import type { BrowserSession } from './browser-session.js';

/** A page may be longer: what a screenshot shows of it. */
const SCREENSHOT_PIXELS = 8_000;
const DEFAULT_SCROLL = 600;
const DEFAULT_WAIT_MS = 1_000;
/** Of a text that the page gives, before it is cut for the model. */
const MOST_CHARACTERS = 1_000_000;

type Answer = string | Content;
type Action = (page: Page, args: BrowserArguments, session: BrowserSession) => Promise<Answer>;
export type PageAction = Exclude<BrowserArguments['action'], 'close'>;

/** What the actions do. Values that the tool requires for an action are there. */
export const ACTIONS: Readonly<Record<PageAction, Action>> = {
  open: async (page, { url = '' }, session) => {
    const loaded = await page.goto(url, { waitUntil: 'domcontentloaded' }).then(
      () => true,
      (error: unknown) => {
        if (isTimeout(error) && session.navigationFault() === undefined) return false;
        throw error;
      },
    );
    assertLoaded(session);
    if (!loaded) await session.assertAnswers();
    return `Opened ${page.url()}\nTitle: ${await page.title()}${loaded ? '' : '\n[the page is still loading]'}`;
  },
  snapshot: async (page, { depth, interactive_only, compact }) => {
    const snapshot = await page.ariaSnapshot({ mode: 'ai', ...(depth === undefined ? {} : { depth }) });
    const lines = snapshot
      .split('\n')
      .filter((line) => !(interactive_only && !INTERACTIVE.test(line)) && !(compact && NEEDLESS.test(line)));
    const shown = lines.map((line) => (interactive_only ? line.trim() : line)).join('\n');
    return `URL: ${page.url()}\n${shown.replaceAll(/\[ref=(\w+)\]/g, '[@$1]')}`;
  },
  click: async (page, { selector = '' }, session) => {
    await locatorOf(page, selector).click();
    return settled(page, session, `Clicked ${selector}`);
  },
  fill: async (page, { selector = '', value = '' }) => {
    await locatorOf(page, selector).fill(value);
    return `Filled ${selector}`;
  },
  type: async (page, { selector = '', text = '' }) => {
    await locatorOf(page, selector).pressSequentially(text);
    return `Typed ${text.length} characters into ${selector}`;
  },
  press: async (page, { key = '', selector }, session) => {
    await (selector === undefined ? page.keyboard.press(key) : locatorOf(page, selector).press(key));
    return settled(page, session, `Pressed ${key}`);
  },
  hover: async (page, { selector = '' }) => {
    await locatorOf(page, selector).hover();
    return `The pointer is over ${selector}`;
  },
  get_text: async (page, { selector }) => textOf(locatorOf(page, selector ?? 'body')),
  get_title: async (page) => page.title(),
  get_url: async (page) => page.url(),
  is_visible: async (page, { selector = '' }) => String(await locatorOf(page, selector).isVisible()),
  scroll: async (page, { direction = 'down', pixels = DEFAULT_SCROLL }) => {
    const [x, y] = { up: [0, -pixels], down: [0, pixels], left: [-pixels, 0], right: [pixels, 0] }[direction];
    const at = await page.evaluate<number>(`(scrollBy(${x}, ${y}), Math.round(scrollY))`);
    return `Scrolled ${direction}: the page is shown from pixel ${at} on`;
  },
  wait: async (page, { selector, text, ms }) => {
    if (selector !== undefined) await locatorOf(page, selector).waitFor();
    else if (text !== undefined) await page.getByText(text).first().waitFor();
    else await page.waitForTimeout(ms ?? DEFAULT_WAIT_MS);
    return 'Waited';
  },
  screenshot: async (page, { full_page }) => {
    const height = full_page ? await page.evaluate<number>('document.documentElement.scrollHeight') : 0;
    const { width = 0 } = page.viewportSize() ?? {};
    const clip = full_page ? { fullPage: true, clip: { x: 0, y: 0, width, height: Math.min(Math.max(height, 1), SCREENSHOT_PIXELS) } } : {};
    const png = await page.screenshot({ type: 'png', animations: 'disabled', ...clip });
    return { type: 'image', data: png.toString('base64'), mimeType: 'image/png' };
  },
  find: async (page, { by = 'text', value = '', find_action = 'text', fill_value = '' }, session) => {
    const found = locatorBy(page, by, value).first();
    switch (find_action) {
      case 'click':
        await found.click();
        return settled(page, session, `Clicked ${by} ${value}`);
      case 'fill':
        await found.fill(fill_value);
        return `Filled ${by} ${value}`;
      case 'hover':
        await found.hover();
        return `The pointer is over ${by} ${value}`;
      case 'check':
        await found.check();
        return `Checked ${by} ${value}`;
      case 'text':
        return textOf(found);
      default:
        return find_action satisfies never;
    }
  },
};

const INTERACTIVE =
  /^\s*- '?(?:button|link|textbox|checkbox|radio|combobox|listbox|option|menuitem|slider|spinbutton|switch|tab|searchbox|treeitem)\b/;
const NEEDLESS = /^\s*- (?:\/url:|generic(?: \[[^\]]*\])*:?$|img\b)/;

/** `@e1` names an element of the last snapshot; everything else is a selector of CSS or Playwright. */
function locatorOf(page: Page, selector: string): Locator {
  const ref = /^@?(f?\d*e\d+)$/.exec(selector)?.[1];
  return ref === undefined ? page.locator(selector) : page.getByRef(ref);
}

function locatorBy(page: Page, by: NonNullable<BrowserArguments['by']>, value: string): Locator {
  switch (by) {
    case 'role':
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an unknown role finds nothing
      return page.getByRole(value as Parameters<Page['getByRole']>[0]);
    case 'text':
      return page.getByText(value);
    case 'label':
      return page.getByLabel(value);
    case 'placeholder':
      return page.getByPlaceholder(value);
    case 'testid':
      return page.getByTestId(value);
    default:
      return by satisfies never;
  }
}

async function textOf(locator: Locator): Promise<string> {
  // Runs in the page.
  return locator.evaluate<string, number>(
    (element: { value?: unknown; innerText?: string; textContent: string | null }, most) =>
      (typeof element.value === 'string' ? element.value : (element.innerText ?? element.textContent ?? '')).slice(0, most),
    MOST_CHARACTERS,
  );
}

/** An action may have begun a navigation. */
async function settled(page: Page, session: BrowserSession, done: string): Promise<string> {
  await page.waitForLoadState('domcontentloaded').catch(() => undefined);
  assertLoaded(session);
  return `${done}. The page is ${page.url()}`;
}

/** @throws ToolError when the document that was asked for is not there */
function assertLoaded(session: BrowserSession): void {
  const fault = session.navigationFault();
  if (fault !== undefined) throw new ToolError(fault.blocked ? 'policy_denied' : 'tool_failed', fault.message, { retryable: false });
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
