import { createRequire } from 'node:module';
import { ThreadPool } from '../threads/thread-pool.js';

export type TextStyle = 'markdown' | 'text';

export interface Conversion {
  readonly title: string;
  readonly text: string;
}

/** The converter's time grows with the square of a page's depth and length. */
const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const { NodeHtmlMarkdown } = require(workerData.library);
const never = [/(?!)/g, ''];
const apart = { surroundingNewlines: 2 };
const styles = {
  markdown: new NodeHtmlMarkdown({ bulletMarker: '-' }),
  text: new NodeHtmlMarkdown(
    { bulletMarker: '-', globalEscape: never, lineStartEscape: never },
    { a: {}, code: {}, 'strong,b': {}, 'em,i': {}, 'del,s,strike': {}, img: { ignore: true }, blockquote: apart, 'h1,h2,h3,h4,h5,h6': apart, pre: { ...apart, preserveWhitespace: true } },
  ),
};
parentPort.on('message', ({ html, title, style }) => {
  parentPort.postMessage({ title: styles.text.translate('<p>' + title + '</p>'), text: styles[style].translate(html) });
});`;

const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 };

/** Turns HTML into Markdown or text. */
export class HtmlWorkerPool {
  private readonly threads = new ThreadPool<{ html: string; title: string; style: TextStyle }, Conversion>({
    source: SOURCE,
    workerData: { library: createRequire(import.meta.url).resolve('node-html-markdown') },
    limits: LIMITS,
  });

  convert(page: { html: string; title: string; style: TextStyle }, timeoutMs: number, signal: AbortSignal): Promise<Conversion> {
    return this.threads.run(page, timeoutMs, signal);
  }

  /** Ends the idle threads. Idempotent. */
  async close(): Promise<void> {
    await this.threads.close();
  }
}
