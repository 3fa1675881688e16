import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { everyMs } from './every-ms.js';

describe('everyMs', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('runs the work at each tick until it is unsubscribed', async () => {
    const work = jest.fn();
    const ticking = everyMs(10, work);
    await jest.advanceTimersByTimeAsync(30);
    ticking.unsubscribe();
    await jest.advanceTimersByTimeAsync(30);
    expect(work).toHaveBeenCalledTimes(3);
  });

  it('skips ticks during a running task', async () => {
    let end = () => {};
    const work = jest.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const ticking = everyMs(10, work);
    await jest.advanceTimersByTimeAsync(50);
    expect(work).toHaveBeenCalledTimes(1);
    end();
    await jest.advanceTimersByTimeAsync(10);
    expect(work).toHaveBeenCalledTimes(2);
    ticking.unsubscribe();
  });

  it('reports a failure and runs again at the next tick', async () => {
    const failures: unknown[] = [];
    let calls = 0;
    const work = () => {
      calls += 1;
      if (calls === 1) throw new Error('thrown');
      return calls === 2 ? Promise.reject(new Error('rejected')) : undefined;
    };
    const ticking = everyMs(10, work, (error) => failures.push((error as Error).message));
    await jest.advanceTimersByTimeAsync(30);
    ticking.unsubscribe();
    expect([calls, failures]).toEqual([3, ['thrown', 'rejected']]);
  });
});
