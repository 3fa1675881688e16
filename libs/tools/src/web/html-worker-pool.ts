import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

export type TextStyle = 'markdown' | 'text';

export interface Conversion {
  readonly title: string;
  readonly text: string;
}

/**
 * What runs in the thread; given as text, so that it is the same in compiled and in tested code. The converter's time
 * grows with the square of a page's depth and length, so it must never run on the loop that renews leases.
 */
const THREAD = `
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

const MAX_THREADS = 2;
const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 };

/**
 * Turns HTML into Markdown or text in at most two threads, which are kept for the next page. A page that takes longer
 * than `timeoutMs` or too much memory costs its thread and rejects; so does an abort.
 */
export class HtmlWorkerPool {
  private readonly idle: Worker[] = [];
  private readonly waiting: (() => void)[] = [];
  private busy = 0;

  async convert(page: { html: string; title: string; style: TextStyle }, timeoutMs: number, signal: AbortSignal): Promise<Conversion> {
    await this.acquireSlot();
    const thread = this.idle.pop() ?? newThread();
    try {
      signal.throwIfAborted();
      const conversion = await runConversion(thread, page, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      this.idle.push(thread);
      return conversion;
    } catch (error) {
      await thread.terminate();
      throw error;
    } finally {
      this.busy -= 1;
      this.waiting.shift()?.();
    }
  }

  /** Ends the idle threads. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.idle.splice(0).map((thread) => thread.terminate()));
  }

  private async acquireSlot(): Promise<void> {
    while (this.busy >= MAX_THREADS) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.busy += 1;
  }
}

function newThread(): Worker {
  const library = createRequire(import.meta.url).resolve('node-html-markdown');
  const thread = new Worker(THREAD, { eval: true, workerData: { library }, resourceLimits: LIMITS, env: {}, execArgv: [] });
  // An idle thread must not keep the process alive, and its late errors are ignored.
  thread.unref();
  thread.on('error', () => undefined);
  return thread;
}

function runConversion(thread: Worker, page: object, signal: AbortSignal): Promise<Conversion> {
  return new Promise<Conversion>((resolve, reject) => {
    const settle = (done: () => void) => {
      thread.off('message', onMessage).off('error', reject).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      done();
    };
    const onMessage = (conversion: Conversion) => settle(() => resolve(conversion));
    const onExit = () => settle(() => reject(new Error('the thread ended')));
    const onAbort = () => settle(() => reject(new Error('aborted', { cause: signal.reason })));
    thread.on('message', onMessage).on('error', reject).on('exit', onExit);
    signal.addEventListener('abort', onAbort, { once: true });
    thread.postMessage(page);
  });
}
