import { expect, it } from '@jest/globals';
import { changedArguments } from './changed-arguments.js';

it('lists the changed arguments: texts unquoted, other values as JSON', () => {
  const asked = { command: 'git push\ngit tag', timeout: 5, env: { a: 1 }, gone: true };
  const edited = { command: 'git push', timeout: 5, env: { a: 2 }, added: 'x' };
  expect(changedArguments(asked, edited)).toEqual([
    { name: 'command', before: 'git push\ngit tag', after: 'git push' },
    { name: 'env', before: '{\n  "a": 1\n}', after: '{\n  "a": 2\n}' },
    { name: 'gone', before: 'true', after: '' },
    { name: 'added', before: '', after: 'x' },
  ]);
});

it('lists no argument with an equal value, but one whose value became a text', () => {
  expect(changedArguments({ a: [1], b: '' }, { b: '', a: [1] })).toEqual([]);
  expect(changedArguments({ a: 1 }, { a: '1' })).toEqual([{ name: 'a', before: '1', after: '1' }]);
  expect(changedArguments({}, { a: '' })).toEqual([{ name: 'a', before: '', after: '' }]);
});
