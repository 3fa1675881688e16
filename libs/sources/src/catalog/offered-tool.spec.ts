import { describe, expect, it } from '@jest/globals';
import { acceptOffer } from './offered-tool.js';

describe('acceptOffer', () => {
  const rules = { name: 'x', kind: 'mcp', trust: false } as const;
  const offered = Array.from({ length: 6_000 }, (_, index) => ({ rawName: `t${index}`, input: { type: 'object' } }));

  it('chooses by include among all tools that a source offers, before it counts them', () => {
    const { tools, problems } = acceptOffer(offered, { ...rules, include: ['t5999', 't1'] });
    expect(tools.map(({ rawName }) => rawName)).toEqual(['t1', 't5999']);
    expect(problems).toEqual([]);
    const all = acceptOffer(offered, rules);
    expect([all.tools.length, all.problems]).toEqual([5_000, ['the source offers 6000 tools, of which 5000 are taken; use `include`']]);
  });
});
