import { describe, expect, it } from '@jest/globals';
import { metaText, parseMeta } from './call-meta.js';

const textOf = (n: number) => metaText({ tenantId: 'many', tool: `tool-${n}`, sessionId: `session-${n}` });

describe('the facts of a call that every event repeats', () => {
  it('parses the stored common facts of a call unchanged', () => {
    const meta = { tenantId: 'a "b"', tool: 'shell', agentId: 'c', sessionId: 'd', traceparent: 'e', parentCallId: 'f' };
    expect(parseMeta(metaText(meta))).toEqual(meta);
    expect(parseMeta(metaText({ tenantId: 'a', tool: 'b' }))).toEqual({ tenantId: 'a', tool: 'b' });
  });

  it('caches the common facts of calls in use, and evicts others one by one', () => {
    const [used, idle] = [parseMeta(textOf(-1)), parseMeta(textOf(-2))];
    const forgotten = Array.from({ length: 5_000 }, (_unused, n) => n).filter((n) => {
      const isAgain = parseMeta(textOf(n)) === parseMeta(textOf(n));
      return !isAgain || parseMeta(textOf(-1)) !== used;
    });
    expect(forgotten).toEqual([]);
    expect(parseMeta(textOf(-2))).not.toBe(idle);
  });
});
