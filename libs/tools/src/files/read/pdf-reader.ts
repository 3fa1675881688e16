import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ToolError } from '#tool-sdk';
import { ThreadPool } from '../../threads/thread-pool.js';

interface PdfText {
  readonly pages: readonly string[];
  readonly totalPages: number;
}

/** Pages in their order, until there are so many characters. */
const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const textOf = ({ items }) => items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\\n' : '') : '')).join('');
async function read({ bytes, mostPages, mostCharacters }) {
  const { getDocumentProxy } = await import(workerData.library);
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const pages = [];
  let left = mostCharacters;
  for (let number = 1; number <= document.numPages && number <= mostPages && left > 0; number += 1) {
    const text = textOf(await (await document.getPage(number)).getTextContent());
    pages.push(text.slice(0, left));
    left -= text.length;
  }
  const { numPages: totalPages } = document;
  await document.loadingTask.destroy();
  return { pages, totalPages };
}
const faultOf = (error) => ({ fault: error?.name === 'PasswordException' ? 'it needs a password' : 'it is damaged' });
parentPort.on('message', async (task) => parentPort.postMessage(await read(task).catch(faultOf)));`;

const LIMITS = { maxOldGenerationSizeMb: 512, stackSizeMb: 8 };
const TIMEOUT_MS = 20_000;
const MOST_PAGES = 500;
const MOST_CHARACTERS = 4_000_000;

export function isPdf(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 5) === '%PDF-';
}

/** The text of PDF files, by pdf.js in a thread of its own. */
export class PdfReader {
  private readonly threads = new ThreadPool<object, PdfText | { readonly fault: string }>({
    source: SOURCE,
    workerData: { library: pathToFileURL(createRequire(import.meta.url).resolve('unpdf')).href },
    limits: LIMITS,
  });

  /** Each page below a line with its number. @throws ToolError for a file that is damaged, locked or too complex */
  async read(bytes: Buffer, shown: string, signal: AbortSignal): Promise<string> {
    const task = { bytes: new Uint8Array(bytes), mostPages: MOST_PAGES, mostCharacters: MOST_CHARACTERS };
    const answer = await this.threads.run(task, TIMEOUT_MS, signal).catch(() => {
      signal.throwIfAborted();
      return { fault: 'it is too complex to read here' };
    });
    if ('fault' in answer) throw new ToolError('tool_failed', `Cannot read ${shown} as PDF: ${answer.fault}.`);
    const { pages, totalPages } = answer;
    const texts = pages.map((text, index) => `[Page ${index + 1} of ${totalPages}]\n${text.trimEnd()}\n`);
    const more = pages.length < totalPages ? [`[The text of ${totalPages - pages.length} more pages is left out]\n`] : [];
    return [...texts, ...more].join('');
  }

  /** Ends the idle threads. Idempotent. */
  async close(): Promise<void> {
    await this.threads.close();
  }
}
