import { describe, expect, it } from '@jest/globals';
import { MicroBatcher } from './micro-batcher.js';

describe('MicroBatcher', () => {
  it('runs the items of one turn of the event loop together, and answers each', async () => {
    const runs: number[][] = [];
    const batcher = new MicroBatcher<number, number>(async (items) => {
      runs.push([...items]);
      return items.map((item) => item * 10);
    }, 100);
    expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([10, 20, 30]);
    expect(runs).toEqual([[1, 2, 3]]);
  });

  it('adds no item to a running batch, and runs one batch at a time', async () => {
    const started: (() => void)[] = [];
    const seen: number[][] = [];
    const batcher = new MicroBatcher<number, number>(async (items) => {
      seen.push([...items]);
      await new Promise<void>((resolve) => started.push(resolve));
      return items;
    }, 100);
    const first = batcher.add(1);
    await new Promise(setImmediate);
    const later = [batcher.add(2), batcher.add(3)];
    await new Promise(setImmediate);
    expect(seen).toEqual([[1]]);
    started[0]?.();
    await first;
    while (started.length < 2) await new Promise(setImmediate);
    started[1]?.();
    expect(await Promise.all(later)).toEqual([2, 3]);
    expect(seen).toEqual([[1], [2, 3]]);
  });

  it('splits too large a batch in order', async () => {
    const sizes: number[] = [];
    const batcher = new MicroBatcher<number, number>(async (items) => {
      sizes.push(items.length);
      return items;
    }, 4);
    const answers = Array.from({ length: 10 }, (_unused, item) => batcher.add(item));
    await batcher.idle();
    expect(sizes).toEqual([4, 4, 2]);
    expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('rejects the items of a failed batch, and continues with the next', async () => {
    let fail = true;
    const batcher = new MicroBatcher<number, number>(async (items) => {
      if (fail) throw new Error('no connection');
      return items;
    }, 100);
    await expect(batcher.add(1)).rejects.toThrow('no connection');
    fail = false;
    expect(await batcher.add(2)).toBe(2);
  });
});
