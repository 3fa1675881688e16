import { describe, expect, it } from '@jest/globals';
import { sortedTools, toolGroups } from './tool-order.js';

describe('the order of tools', () => {
  it('orders tools by name, calls, failures or run time; tools without a call come last', () => {
    const tools = ['c', 'a', 'd', 'b'].map((name) => ({ name }));
    const stats = new Map([
      ['a', { calls: 1, errorRate: 0.5, run: { p95: 10 } }],
      ['b', { calls: 9, errorRate: 0, run: { p95: 30 } }],
      ['d', { calls: 5, errorRate: 1, run: {} }],
    ]);
    const names = (order: 'name' | 'calls' | 'failing' | 'slow') =>
      sortedTools(tools, stats, order)
        .map(({ name }) => name)
        .join('');
    expect([names('name'), names('calls'), names('failing'), names('slow')]).toEqual(['abcd', 'bdac', 'dabc', 'bacd']);
  });

  it('lists tools grouped by source, built-in tools last', () => {
    const tools = ['builtin', 'pets', 'builtin', 'files', 'pets'].map((source, n) => ({ source, n }));
    expect(toolGroups(tools).map(([source, list]) => [source, list.map(({ n }) => n)])).toEqual([
      ['pets', [1, 4]],
      ['files', [3]],
      ['builtin', [0, 2]],
    ]);
  });
});
