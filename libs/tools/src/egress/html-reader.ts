import { bareText, titleOf, withoutNoise } from './html-noise.js';
import { HtmlThreads, type TextStyle } from './html-thread.js';

export interface ReadPage {
  readonly title?: string;
  readonly text: string;
  /** Said when the text is less than the page. */
  readonly note?: string;
}

/** Of HTML without scripts and styles; more than five times what a model is given by default. */
const MAX_HTML_CHARS = 300_000;
const TIMEOUT_MS = 5_000;

/** HTML for a model: Markdown with absolute links, or plain text. A page the converter cannot take in time comes as bare text. */
export class HtmlReader {
  constructor(private readonly threads = new HtmlThreads()) {}

  async read(html: string, style: TextStyle, base: string, signal: AbortSignal): Promise<ReadPage> {
    const clean = withoutNoise(html);
    const part = clean.slice(0, MAX_HTML_CHARS);
    const cutNote =
      part.length < clean.length ? { note: `only the first ${MAX_HTML_CHARS.toLocaleString('en')} characters of HTML were converted` } : {};
    const rawTitle = titleOf(html)?.trim();
    try {
      const { title, text } = await this.threads.convert({ html: part, title: rawTitle ?? '', style }, TIMEOUT_MS, signal);
      return { ...titled(title), text: style === 'markdown' ? withAbsoluteLinks(text, base) : text, ...cutNote };
    } catch {
      signal.throwIfAborted();
      return { ...titled(rawTitle), text: bareText(part), note: 'the page is too complex to convert: bare text without structure' };
    }
  }

  async close(): Promise<void> {
    await this.threads.close();
  }
}

function titled(title: string | undefined): { title?: string } {
  const oneLine = title?.replaceAll(/\s+/g, ' ').trim() ?? '';
  return oneLine === '' ? {} : { title: oneLine };
}

/** Root-relative links get their host; others are rare and stay as they are. */
function withAbsoluteLinks(markdown: string, base: string): string {
  return markdown.replaceAll(/\]\((\/[^)\s]{0,2048})\)/g, (link, path: string) =>
    URL.canParse(path, base) ? `](${new URL(path, base).href})` : link,
  );
}
