import { describe, expect, it } from '@jest/globals';
import { FairTurns, sizeLeft } from './fair-turns.service.js';

describe('FairTurns', () => {
  it('runs one piece of work in a turn of the event loop, tenant after tenant, and other requests between them', async () => {
    const turns = new FairTurns();
    const happened: string[] = [];
    const work = async (tenant: string, name: string) => {
      await turns.next(tenant);
      happened.push(name);
    };
    const all = Promise.all([...['a1', 'a2', 'a3'].map((name) => work('a', name)), work('b', 'b1'), work('c', 'c1')]);
    const others = async () => {
      for (let n = 0; n < 5; n++) await new Promise<void>((resolve) => setImmediate(resolve)).then(() => happened.push('other'));
    };
    await Promise.all([all, others()]);
    expect(happened.filter((name) => name !== 'other')).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
    expect(happened.join(' ').replaceAll('other', '-')).toBe('a1 - b1 - c1 - a2 - a3 -');
  });

  it('gives turns again after all turns of a tick were used', async () => {
    const turns = new FairTurns();
    for (let n = 0; n < 3; n++) await turns.next('a');
  });
});

describe('sizeLeft', () => {
  it('measures the characters of texts and names up to the given limit', () => {
    expect(sizeLeft({ text: 'x'.repeat(90), list: [1, null, true] }, 1_000)).toBe(1_000 - 98 - 6 * 4);
    const looked: number[] = [];
    const list = Array.from({ length: 1_000 }, (_, n) => Object.defineProperty({}, 'a', { enumerable: true, get: () => looked.push(n) }));
    expect(sizeLeft(list, 100)).toBeLessThan(0);
    expect(looked.length).toBeLessThan(20);
  });
});
