import { describe, expect, it } from '@jest/globals';
import { ListPages } from './list-pages.js';

describe('pages of lists of tools', () => {
  it('reads two lists to their ends that are read at the same time with the same cursors', () => {
    const pages = new ListPages();
    pages.asks('a1', undefined);
    pages.asks('b1', undefined);
    expect(pages.next('a1', 'c1')).toBe('c1');
    pages.asks('a2', 'c1');
    expect(pages.next('b1', 'c1')).toBe('c1');
    pages.asks('b2', 'c1');
    for (const id of ['a2', 'b2']) expect([pages.next(id, undefined), pages.fault]).toEqual([undefined, undefined]);
  });

  it('ends a list whose cursors lead round in a circle, or that has no end', () => {
    const circle = new ListPages();
    circle.asks('1', undefined);
    expect(circle.next('1', 'a')).toBe('a');
    circle.asks('2', 'a');
    expect([circle.next('2', 'a'), circle.fault]).toEqual([undefined, expect.stringContaining('repeats itself')]);
    const endless = new ListPages();
    endless.asks('0', undefined);
    let read = 0;
    for (; endless.next(String(read), `c${read}`) !== undefined; read += 1) endless.asks(String(read + 1), `c${read}`);
    expect([read, endless.fault]).toEqual([499, expect.stringContaining('more than 500 pages')]);
  });
});
