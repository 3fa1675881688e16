import { afterEach, describe, expect, it } from '@jest/globals';
import { ThreadPool } from './thread-pool.js';

const TIMEOUT_MS = 60_000;
/** Answers with its id, unless it is to keep its thread. */
const source = `
  const { parentPort, threadId } = require('node:worker_threads');
  parentPort.on('message', ({ keep }) => keep || parentPort.postMessage(threadId));
`;
const never = new AbortController().signal;
let pool: ThreadPool<{ readonly keep: boolean }, number>;
afterEach(() => pool.close());

describe('a pool of threads', () => {
  it('rejects an aborted waiting task, and gives its turn to the next', async () => {
    pool = new ThreadPool({ source, workerData: {}, limits: {} });
    const [first, others, waiting] = [new AbortController(), new AbortController(), new AbortController()];
    const kept = [first, others].map(({ signal }) => expect(pool.run({ keep: true }, TIMEOUT_MS, signal)).rejects.toThrow('aborted'));
    const aborted = pool.run({ keep: false }, TIMEOUT_MS, waiting.signal);
    const next = pool.run({ keep: false }, TIMEOUT_MS, never);
    waiting.abort(new Error('cancelled'));
    await expect(aborted).rejects.toThrow('cancelled');
    first.abort();
    expect(await next).toEqual(expect.any(Number));
    others.abort();
    await Promise.all(kept);
  });

  it('keeps the thread of a pool when a task is aborted before it has one', async () => {
    pool = new ThreadPool({ source, workerData: {}, limits: {} });
    const thread = await pool.run({ keep: false }, TIMEOUT_MS, never);
    await expect(pool.run({ keep: false }, TIMEOUT_MS, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
    expect(await pool.run({ keep: false }, TIMEOUT_MS, never)).toBe(thread);
  });
});
