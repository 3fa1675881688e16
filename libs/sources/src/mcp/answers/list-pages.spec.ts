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

  it('ends a list with circular or endless cursors', () => {
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

  it('ends a list at the page that exceeds 32 MiB or 20,000 tools', () => {
    const read = (size: { characters: number; tools: number }) => {
      const pages = new ListPages();
      let count = 0;
      do pages.asks(String(count), count === 0 ? undefined : `c${count}`);
      while (pages.next(String(count), `c${(count += 1)}`, size) !== undefined);
      return [count, pages.fault];
    };
    expect(read({ characters: 8_000_000, tools: 1 })).toEqual([5, expect.stringContaining('larger than 33554432 bytes')]);
    expect(read({ characters: 1, tools: 9_000 })).toEqual([3, expect.stringContaining('more than 20000 tools')]);
  });

  it('ends a list at a page that the server refuses, and keeps the pages before it', () => {
    const pages = new ListPages();
    pages.asks('1', undefined);
    expect(pages.isLater('1')).toBe(false);
    pages.next('1', 'a');
    pages.asks('2', 'a');
    expect(pages.isLater('2')).toBe(true);
    pages.refused('2', 'Invalid cursor');
    expect(pages.fault).toBe('a page of its list of tools cannot be read (Invalid cursor): later pages were left out');
  });
});
