import { HtmlWorkerPool, type Conversion, type Page, type TextStyle } from './html-worker-pool.js';

export interface ReadPage {
  readonly title?: string;
  readonly text: string;
  /** Note if the text is less than the page. */
  readonly note?: string;
}

const TIMEOUT_MS = 5_000;
const CUT = 'only the first 300,000 characters of HTML were converted';
const BARE = 'the page is too complex to convert: bare text without structure';
const UNREAD = 'the page is too complex to read; output_format raw shows its source';

/** HTML for a model: Markdown with absolute links, or plain text. A page the converter cannot take in time comes as bare text. */
export class HtmlReader {
  constructor(private readonly threads = new HtmlWorkerPool()) {}

  async read(html: string, style: TextStyle, { url, isXml }: Pick<Page, 'url' | 'isXml'>, signal: AbortSignal): Promise<ReadPage> {
    const page = await this.converted({ html, url, style, ...(isXml === true && { isXml }) }, signal);
    const isEmpty = page?.isCut === true && page.text.trim() === '';
    if (page !== undefined && !isEmpty) return { ...titled(page), text: page.text, ...(page.isCut ? { note: CUT } : {}) };
    const bare = await this.converted({ html, url, style: 'bare' }, signal);
    return bare === undefined ? { text: '', note: UNREAD } : { ...titled(bare), text: bare.text, note: BARE };
  }

  async close(): Promise<void> {
    await this.threads.close();
  }

  private async converted(page: Parameters<HtmlWorkerPool['convert']>[0], signal: AbortSignal): Promise<Conversion | undefined> {
    return this.threads.convert(page, TIMEOUT_MS, signal).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
  }
}

function titled({ title }: Conversion): { title?: string } {
  const oneLine = title.replaceAll(/\s+/g, ' ').trim();
  return oneLine === '' ? {} : { title: oneLine.slice(0, 1_000) };
}
