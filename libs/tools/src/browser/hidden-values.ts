import type { Frame, Page } from 'playwright-core';

/** Replacement for values shown as dots to people. */
export const HIDDEN_VALUE = '[REDACTED]';

/** A shorter value is replaced only where it is a word of its own. */
const LONG_VALUE = 4;

/** Text of a page without the values of its password fields, including those of frames. The values may change while `read` runs. */
export async function withoutPasswords(page: Page, read: () => Promise<string>): Promise<string> {
  const before = await passwordsOf(page);
  const text = await read();
  const values = new Set([...before, ...(await passwordsOf(page))].flatMap(formsOf));
  // The longest first: one may be part of another.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  return ordered.length === 0
    ? text
    : text
        .split('\n')
        .map((line) => hideIn(line, ordered))
        .join('\n');
}

async function passwordsOf(page: Page): Promise<string[]> {
  return (await Promise.all(page.frames().map((frame) => passwordsOfFrame(frame)))).flat();
}

/** Reads a frame again if its document changes meanwhile, `tries` times. */
async function passwordsOfFrame(frame: Frame, tries = 3): Promise<string[]> {
  try {
    return await frame
      .locator('input[type=password]')
      // Runs in the page.
      .evaluateAll((fields: readonly { value?: unknown }[]) => fields.map(({ value }) => (typeof value === 'string' ? value : '')));
  } catch (error) {
    if (frame.isDetached()) return [];
    if (tries > 1 && isNavigation(error)) return passwordsOfFrame(frame, tries - 1);
    throw error;
  }
}

function isNavigation(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Execution context was destroyed');
}

/** Forms of a value in a snapshot: white space becomes one blank, and some characters are escaped. */
function formsOf(value: string): string[] {
  const shown = value.replaceAll(/\s+/g, ' ').trim();
  return shown === '' ? [] : [shown, JSON.stringify(shown).slice(1, -1)];
}

/** The role at the beginning of a line is no text of the page. */
function hideIn(line: string, values: readonly string[]): string {
  const [role = ''] = /^\s*- '?[\w/]+/.exec(line) ?? [];
  return role + values.reduce(hideValue, line.slice(role.length));
}

function hideValue(text: string, value: string): string {
  if (value.length >= LONG_VALUE) return text.replaceAll(value, HIDDEN_VALUE);
  return text.replaceAll(value, (found, at: number) => (isPart(text[at - 1]) || isPart(text[at + value.length]) ? found : HIDDEN_VALUE));
}

/** True for a character of a longer word, or of a reference such as `[ref=e5]`. */
function isPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}=]/u.test(character);
}
