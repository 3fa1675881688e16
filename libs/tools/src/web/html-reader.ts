import { withAbsoluteLinks } from './html-links.js';
import { toPlainText, titleOf, stripBoilerplate } from './html-boilerplate.js';
import { HtmlWorkerPool, type TextStyle } from './html-worker-pool.js';

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
  constructor(private readonly threads = new HtmlWorkerPool()) {}

  async read(html: string, style: TextStyle, base: string, signal: AbortSignal): Promise<ReadPage> {
    const clean = stripBoilerplate(html);
    const part = clean.slice(0, MAX_HTML_CHARS);
    const cut =
      part.length < clean.length ? [`only the first ${MAX_HTML_CHARS.toLocaleString('en')} characters of HTML were converted`] : [];
    const linked = style === 'markdown' ? withAbsoluteLinks(part, base) : part;
    const rawTitle = titleOf(html)?.trim();
    try {
      const { title, text } = await this.threads.convert({ html: linked, title: rawTitle ?? '', style }, TIMEOUT_MS, signal);
      return { ...titled(title), text, ...noted(cut) };
    } catch {
      signal.throwIfAborted();
      return {
        ...titled(rawTitle),
        text: toPlainText(part),
        ...noted([...cut, 'the page is too complex to convert: bare text without structure']),
      };
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

function noted(notes: readonly string[]): { note?: string } {
  return notes.length === 0 ? {} : { note: notes.join('; ') };
}
