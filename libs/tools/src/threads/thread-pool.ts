import { Worker, type ResourceLimits } from 'node:worker_threads';

export interface ThreadSettings {
  /**
   * CommonJS source of the thread: it answers each message with one message. Given as text, so that it is the same in compiled and
   * in tested code.
   */
  readonly source: string;
  readonly workerData: unknown;
  readonly limits: ResourceLimits;
}

const MAX_THREADS = 2;

/**
 * Runs parsers of foreign content in at most two threads, which are kept for the next task: such work must never run on the loop that
 * renews leases. A task that takes longer than `timeoutMs` or too much memory costs its thread and rejects; so does an abort.
 */
export class ThreadPool<I extends object, O> {
  private readonly idle: Worker[] = [];
  private readonly waiting: (() => void)[] = [];
  private busy = 0;

  constructor(private readonly settings: ThreadSettings) {}

  async run(task: I, timeoutMs: number, signal: AbortSignal): Promise<O> {
    await this.acquireSlot();
    const thread = this.idle.pop() ?? this.newThread();
    try {
      signal.throwIfAborted();
      const answer = await answerOf<O>(thread, task, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      this.idle.push(thread);
      return answer;
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
