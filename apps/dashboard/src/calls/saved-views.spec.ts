import { describe, expect, it } from '@jest/globals';
import { parseViews, withView } from './saved-views.js';

describe('saved views', () => {
  it('saves views with filters, order and columns, and replaces one of the same name', () => {
    const first = withView([], 'failing', { result: 'error', since: '24h', sort: 'longest', peek: '07-x' });
    expect(first).toEqual([{ name: 'failing', search: { result: 'error', since: '24h', sort: 'longest' } }]);
    const second = withView(withView(first, 'mine', { agentId: 'coder' }), 'failing', { result: 'error' });
    expect(second.map(({ name }) => name)).toEqual(['failing', 'mine']);
    expect(parseViews(JSON.stringify(second))).toEqual(second);
  });

  it('ignores saved views that cannot be read', () => {
    for (const text of [undefined, '', '{', '{}', '[{"name":""}]', '[{"name":"x","search":{"tool":7}}]'])
      expect(parseViews(text)).toEqual([]);
  });
});
