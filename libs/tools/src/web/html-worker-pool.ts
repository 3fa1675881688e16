import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ThreadPool } from '../threads/thread-pool.js';

export type TextStyle = 'markdown' | 'text';

export interface Page {
  readonly html: string;
  /** Base of relative links, unless the page declares another. */
  readonly url: string;
  /** Written as XML. */
  readonly isXml?: boolean;
  /** `bare`: the words alone, by a reader that takes any page. */
  readonly style: TextStyle | 'bare';
}

export interface Conversion {
  readonly title: string;
  readonly text: string;
  /** The page was too long to be converted whole. */
  readonly isCut: boolean;
}

const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 };

/** Turns HTML into Markdown or text. The converter's time grows with the square of a page's depth and length. */
export class HtmlWorkerPool {
  private readonly threads = new ThreadPool<Page, Conversion>({
    source: 'require(require("node:worker_threads").workerData.script)',
    workerData: settings(),
    limits: LIMITS,
  });

  convert(page: Page, timeoutMs: number, signal: AbortSignal): Promise<Conversion> {
    return this.threads.run(page, timeoutMs, signal);
  }

  /** Ends the idle threads. Idempotent. */
  async close(): Promise<void> {
    await this.threads.close();
  }
}

function settings(): object {
  const { resolve } = createRequire(import.meta.url);
  return {
    script: fileURLToPath(new URL('./html.thread.cjs', import.meta.url)),
    converter: resolve('node-html-markdown'),
    parser: pathToFileURL(resolve('parse5')).href,
  };
}
