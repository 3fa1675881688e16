import { Worker, type ResourceLimits } from 'node:worker_threads';

export interface ThreadSettings {
  /**
   * CommonJS source of the thread, which answers each message with one message. Given as text, so that compiled and tested code
   * use the same.
   */
  readonly source: string;
  readonly workerData: unknown;
  readonly limits: ResourceLimits;
}

const MAX_THREADS = 2;

/**
 * Runs parsers of foreign content in at most two threads, which are reused: such work must not block the event loop that renews
 * leases. A task that exceeds `timeoutMs` or its memory, or that is aborted, rejects and ends its thread. A task that is
 * aborted while it waits for a thread ends none.
 */
export class ThreadPool<I extends object, O> {
  private readonly idle: Worker[] = [];
  private readonly waiting: (() => void)[] = [];
  private busy = 0;

  constructor(private readonly settings: ThreadSettings) {}

  async run(task: I, timeoutMs: number, signal: AbortSignal): Promise<O> {
    await this.acquireSlot(signal);
    try {
      signal.throwIfAborted();
      return await this.runInThread(task, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    } finally {
      this.busy -= 1;
      this.waiting.shift()?.();
    }
  }

  /** Ends the idle threads. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.idle.splice(0).map((thread) => thread.terminate()));
  }

  private async runInThread(task: I, signal: AbortSignal): Promise<O> {
    const thread = this.idle.pop() ?? this.newThread();
    try {
      const answer = await answerOf<O>(thread, task, signal);
      this.idle.push(thread);
      return answer;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  private async acquireSlot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.busy >= MAX_THREADS) await this.nextTurn(signal);
    this.busy += 1;
  }

  /** Rejects with the reason of `signal`, and then takes no turn. */
  private nextTurn(signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.waiting.splice(this.waiting.indexOf(onTurn), 1);
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
      };
      this.waiting.push(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  private newThread(): Worker {
    const { source, workerData, limits } = this.settings;
    const thread = new Worker(source, { eval: true, workerData, resourceLimits: limits, env: {}, execArgv: [] });
    // An idle thread must not keep the process alive, and its late errors are ignored.
    thread.unref();
    thread.on('error', () => undefined);
    return thread;
  }
}

function answerOf<O>(thread: Worker, task: object, signal: AbortSignal): Promise<O> {
  return new Promise<O>((resolve, reject) => {
    const settle = (done: () => void) => {
      thread.off('message', onMessage).off('error', reject).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      done();
    };
    const onMessage = (answer: O) => settle(() => resolve(answer));
    const onExit = () => settle(() => reject(new Error('the thread ended')));
    const onAbort = () => settle(() => reject(new Error('aborted', { cause: signal.reason })));
    thread.on('message', onMessage).on('error', reject).on('exit', onExit);
    signal.addEventListener('abort', onAbort, { once: true });
    thread.postMessage(task);
  });
}
