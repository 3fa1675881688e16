import { expect, it } from '@jest/globals';
import { withoutDefaults } from './without-defaults.js';

const schema = {
  properties: { command: { type: 'string', default: 'ls' }, persistent: { default: false }, depth: { default: 3 }, list: { default: [] } },
};

it('omits switches and numbers with their defaults, and nothing else', () => {
  expect(withoutDefaults({ command: 'ls', persistent: false, depth: 3, list: [], toString: false }, schema)).toEqual({
    args: { command: 'ls', list: [], toString: false },
    defaults: ['persistent false', 'depth 3'],
  });
  expect(withoutDefaults({ persistent: true, depth: 4 }, schema).defaults).toEqual([]);
  expect(withoutDefaults({ persistent: false }, undefined)).toEqual({ args: { persistent: false }, defaults: [] });
});
