import type { BrowserContext, Page, Request } from 'playwright-core';
import { EgressProxy, type EgressPolicy } from '#sandbox';
import { ToolError } from '#tool-sdk';
import type { BrowserEngine } from './browser-engine.js';

/** Most bytes from servers for one action. */
const MOST_BYTES = 100 * 1_048_576;
/** Time for a page to show that it is responsive. */
const ANSWER_MS = 3_000;
/** An action ends by itself, unless the page is stuck. */
const STUCK_MS = 2 * ANSWER_MS;
const MOST_POPUPS = 20;
const MOST_NOTES = 10;
const VIEWPORT = { width: 1_280, height: 800 };

/** The one page of a session, in a context of its own: cookies and storage are of no other session. */
export class BrowserSession {
  private readonly notes: string[] = [];
  private navigation: { readonly url: string; readonly status?: number; readonly failure?: string } | undefined;
  private popups = 0;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  /** Time of the last use, by `performance.now()`. */
  usedAt = performance.now();
  closed = false;

  private constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly proxy: EgressProxy,
    readonly actionMs: number,
  ) {
    this.watchNavigations();
    this.context.on('page', (popup) => this.onPopup(popup));
    this.page.on('dialog', (dialog) => {
      // Accepts the dialog, since dismissing it would keep the page, and no other could be opened.
      if (dialog.type() === 'beforeunload') return void dialog.accept().catch(() => undefined);
      this.addNote(`a dialog was dismissed: ${dialog.message().slice(0, 200)}`);
      dialog.dismiss().catch(() => undefined);
    });
    this.page.on('download', (download) => this.addNote(`a download was refused: ${download.url().slice(0, 200)}`));
    this.page.on('crash', () => void this.close());
    this.context.on('close', () => void this.close());
  }

  static async open(engine: BrowserEngine, policy: EgressPolicy, actionMs: number): Promise<BrowserSession> {
    const browser = await engine.browser();
    const proxy = new EgressProxy(policy, MOST_BYTES);
    try {
      const server = await proxy.listen();
      const context = await browser.newContext({
        acceptDownloads: false,
        serviceWorkers: 'block',
        permissions: [],
        viewport: VIEWPORT,
        // Chromium bypasses a proxy for loopback unless configured otherwise.
        proxy: { server, username: proxy.username, password: proxy.password, bypass: '<-loopback>' },
      });
      context.setDefaultTimeout(actionMs);
      return new BrowserSession(context, await context.newPage(), proxy, actionMs);
    } catch (error) {
      await proxy.close();
      if (error instanceof ToolError) throw error;
      throw new ToolError('unavailable', 'browser is not available: Chromium ended.', { retryable: true, cause: error });
    }
  }

  get busy(): boolean {
    return this.waiting > 0;
  }

  /**
   * Runs actions one after the other; `policy` applies to all later requests of the page. An abort closes the page, with
   * anything that the action left running.
   */
  async run<T>(action: () => Promise<T>, policy: EgressPolicy, signal: AbortSignal): Promise<T> {
    const before = this.last;
    this.waiting += 1;
    const mine = before.then(async () => {
      signal.throwIfAborted();
      if (this.closed) throw pageClosed();
      this.popups = 0;
      this.proxy.allow(policy);
      return this.untilAborted(action(), signal);
    });
    this.last = mine.catch(() => undefined);
    return mine.finally(() => {
      this.waiting -= 1;
      this.usedAt = performance.now();
    });
  }

  /** Notes since the last call, each returned once. */
  takeNotes(): string[] {
    const notes = this.notes.splice(0);
    return this.proxy.exhausted
      ? [...notes, `the page loaded more than ${MOST_BYTES.toLocaleString('en')} bytes: its connections were cut`]
      : notes;
  }

  /** Reason why the last document of the page could not be loaded; undefined if it was loaded, or is loading. */
  navigationFault(): { readonly blocked: boolean; readonly message: string } | undefined {
    const { url, status, failure } = this.navigation ?? {};
    if (url === undefined || !URL.canParse(url)) return undefined;
    const refusal = this.proxy.refusalOf(new URL(url).host);
    if (refusal !== undefined && (failure !== undefined || (status ?? 0) >= 400)) return refusal;
    return failure === undefined ? undefined : { blocked: false, message: `The page could not be loaded: ${failure}` };
  }

  /** False for a page whose scripts run without end; closes it. */
  async answers(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ANSWER_MS)));
    const answered = this.page.evaluate('true').then(
      () => true,
      () => false,
    );
    const alive = await Promise.race([answered, late]).finally(() => clearTimeout(timer));
    if (!alive) await this.close();
    return alive;
  }

  /** Called after a timeout. @throws ToolError for a page that is stuck */
  async assertAnswers(): Promise<void> {
    if (!(await this.answers())) throw pageStuck();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.proxy.close(), this.context.close().catch(() => undefined)]);
  }

  private watchNavigations(): void {
    const ofDocument = (request: Request): boolean => request.isNavigationRequest() && request.frame() === this.page.mainFrame();
    this.page.on('request', (request) => {
      if (ofDocument(request)) this.navigation = { url: request.url() };
    });
    this.page.on('response', (response) => {
      if (ofDocument(response.request())) this.navigation = { url: response.url(), status: response.status() };
    });
    this.page.on('requestfailed', (request) => {
      const failure = request.failure()?.errorText ?? '';
      if (ofDocument(request) && !failure.includes('ERR_ABORTED')) this.navigation = { url: request.url(), failure };
    });
  }

  private async untilAborted<T>(action: Promise<T>, signal: AbortSignal): Promise<T> {
    const stuck = AbortSignal.timeout(this.actionMs + STUCK_MS);
    const ended = AbortSignal.any([signal, stuck]);
    let onEnded = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onEnded = () => reject(stuck.aborted ? pageStuck() : asError(signal.reason));
      ended.addEventListener('abort', onEnded, { once: true });
    });
    try {
      return await Promise.race([action, aborted]);
    } catch (error) {
      action.catch(() => undefined);
      if (ended.aborted) void this.close();
      throw error;
    } finally {
      ended.removeEventListener('abort', onEnded);
    }
  }

  private onPopup(popup: Page): void {
    if (popup === this.page) return;
    this.popups += 1;
    const url = popup.url();
    this.addNote(`a popup was closed: open its address instead${/^https?:/.test(url) ? `: ${url.slice(0, 200)}` : ''}`);
    if (this.popups > MOST_POPUPS) void this.close();
    else popup.close().catch(() => undefined);
  }

  private addNote(note: string): void {
    if (this.notes.length < MOST_NOTES && !this.notes.includes(note)) this.notes.push(note);
  }
}

/** Error for a page whose scripts run without end. */
function pageStuck(): ToolError {
  return new ToolError('tool_failed', 'The page does not answer and was closed. Use the action open to open another.', {
    retryable: false,
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

function pageClosed(): ToolError {
  return new ToolError('tool_failed', 'The page was closed. Use the action open first.', { retryable: false });
}
