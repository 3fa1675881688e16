import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startProgress } from './start-progress.js';

describe('the progress of a start', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('reports every four seconds what a step of the start waits for', async () => {
    const lines: string[] = [];
    const ready = new EventTarget();
    const step = startProgress((line) => lines.push(line))(
      'Redis, which loads its data',
      () => new Promise((resolve) => ready.addEventListener('ready', resolve)),
    );
    await jest.advanceTimersByTimeAsync(9_000);
    expect(lines).toEqual(['Waiting for Redis, which loads its data … 4 s', 'Waiting for Redis, which loads its data … 8 s']);
    ready.dispatchEvent(new Event('ready'));
    await step;
    await jest.advanceTimersByTimeAsync(20_000);
    expect(lines).toHaveLength(2);
  });

  it('reports nothing for a quick step of the start, or after a failed one', async () => {
    const lines: string[] = [];
    const progress = startProgress((line) => lines.push(line));
    await progress('Redis', () => Promise.resolve());
    await expect(progress('Redis', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    await jest.advanceTimersByTimeAsync(20_000);
    expect(lines).toEqual([]);
  });
});
