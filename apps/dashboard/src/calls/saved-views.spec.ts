import { expect, it } from '@jest/globals';
import { fieldsOfView, searchOfView } from './saved-views.js';

it('saves filters, order and columns of a list, and not the call beside it', () => {
  const search = { result: 'error', since: '24h', sort: 'longest' } as const;
  expect(fieldsOfView({ ...search, peek: '07-x' })).toEqual(search);
  expect(searchOfView({ search: fieldsOfView(search) })).toEqual(search);
});

it('leaves out fields of a saved view that the page does not know', () => {
  expect(searchOfView({ search: { tool: 'shell', sort: 'oldest', surprise: 'x' } })).toEqual({ tool: 'shell' });
});
