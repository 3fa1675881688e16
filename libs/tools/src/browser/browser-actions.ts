import type { Locator, Page } from 'playwright-core';
import type { Content } from '#contracts';
import { ToolError } from '#tool-sdk';
import type { BrowserArguments } from './browser-arguments.js';
import type { BrowserSession } from './browser-session.js';
import { HIDDEN_VALUE, withoutPasswords } from './hidden-values.js';

/** Largest height of a screenshot; a page may be longer. */
const SCREENSHOT_PIXELS = 8_000;
const DEFAULT_SCROLL = 600;
const DEFAULT_WAIT_MS = 1_000;
/** Most characters of a text from the page, before it is truncated for the model. */
const MOST_CHARACTERS = 1_000_000;
/** Most options of a list in an error. */
const MOST_OPTIONS = 20;

type Answer = string | Content;
type Action = (page: Page, args: BrowserArguments, session: BrowserSession) => Promise<Answer>;
export type PageAction = Exclude<BrowserArguments['action'], 'close'>;

/** Implementations of the actions. Values required for an action are present. */
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
    const snapshot = await withoutPasswords(page, () => page.ariaSnapshot({ mode: 'ai', ...(depth === undefined ? {} : { depth }) }));
    const lines = snapshot
      .split('\n')
      .filter((line) => !(interactive_only && !INTERACTIVE.test(line)) && !(compact && NEEDLESS.test(line)));
    const shown = lines.map((line) => (interactive_only ? line.trim() : line)).join('\n');
    return `URL: ${page.url()}\n${shown.replaceAll(/\[ref=(\w+)\]/g, '[@$1]')}`;
  },
  click: async (page, { selector = '' }, session) => {
    await (await elementOf(page, selector)).click();
    return settled(page, session, `Clicked ${selector}`);
  },
  fill: async (page, { selector = '', value = '' }) => {
    await fill(await elementOf(page, selector), value);
    return `Filled ${selector}`;
  },
  type: async (page, { selector = '', text = '' }) => {
    await (await elementOf(page, selector)).pressSequentially(text);
    return `Typed ${text.length} characters into ${selector}`;
  },
  press: async (page, { key = '', selector }, session) => {
    await (selector === undefined ? page.keyboard.press(key) : (await elementOf(page, selector)).press(key));
    return settled(page, session, `Pressed ${key}`);
  },
  hover: async (page, { selector = '' }) => {
    await (await elementOf(page, selector)).hover();
    return `The pointer is over ${selector}`;
  },
  get_text: async (page, { selector }) => textOf(await elementOf(page, selector ?? 'body')),
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
        await fill(found, fill_value);
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
  const ref = refOf(selector);
  return ref === undefined ? page.locator(selector) : page.getByRef(ref);
}

function refOf(selector: string): string | undefined {
  return /^@?(f?\d*e\d+)$/.exec(selector)?.[1];
}

/** Element of a selector. @throws ToolError for an element of the last snapshot that is gone, since it does not return */
async function elementOf(page: Page, selector: string): Promise<Locator> {
  const element = locatorOf(page, selector);
  if (refOf(selector) === undefined || (await element.count()) > 0) return element;
  throw new ToolError(
    'tool_failed',
    `${selector} is not on the page, or not in its last snapshot. Use the action snapshot to see what is.`,
    {
      retryable: false,
    },
  );
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

/** Content of an element: the value of a field, else its text. For a password field only whether it is empty. */
async function textOf(locator: Locator): Promise<string> {
  // Runs in the page. Buttons have a value, too, which differs from their label.
  return locator.evaluate<string, { most: number; hidden: string }>(
    (element: { tagName: string; type?: unknown; value?: unknown; innerText?: string; textContent: string | null }, { most, hidden }) => {
      if (typeof element.value !== 'string' || !/^(?:input|textarea|select)$/i.test(element.tagName))
        return (element.innerText ?? element.textContent ?? '').slice(0, most);
      return element.type === 'password' && element.value !== '' ? hidden : element.value.slice(0, most);
    },
    { most: MOST_CHARACTERS, hidden: HIDDEN_VALUE },
  );
}

/** Fills a field; in a list, selects the option with this value or text. @throws ToolError if the list has no such option */
async function fill(locator: Locator, value: string): Promise<void> {
  // Runs in the page.
  const options = await locator.evaluate<string[] | undefined, RegExp>(
    (element: { tagName: string; options?: Iterable<{ value: string; label: string }> }, list) =>
      list.test(element.tagName) ? [...(element.options ?? [])].flatMap((it) => [it.value, it.label]) : undefined,
    /^select$/i,
  );
  if (options === undefined) return locator.fill(value);
  if (!options.includes(value)) {
    const known = [...new Set(options)].slice(0, MOST_OPTIONS).map((it) => JSON.stringify(it.slice(0, 100)));
    throw new ToolError(
      'tool_failed',
      `The list has no option ${JSON.stringify(value.slice(0, 100))}. Its options are ${known.join(', ')}.`,
      {
        retryable: false,
      },
    );
  }
  await locator.selectOption(value);
}

/** An action may have begun a navigation. */
async function settled(page: Page, session: BrowserSession, done: string): Promise<string> {
  await page.waitForLoadState('domcontentloaded').catch(() => undefined);
  assertLoaded(session);
  return `${done}. The page is ${page.url()}`;
}

/** @throws ToolError if the requested document could not be loaded */
function assertLoaded(session: BrowserSession): void {
  const fault = session.navigationFault();
  if (fault !== undefined) throw new ToolError(fault.blocked ? 'policy_denied' : 'tool_failed', fault.message, { retryable: false });
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
