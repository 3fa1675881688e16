import { describe, expect, it } from '@jest/globals';
import { listing } from './table.js';
import { wrapLine } from './wrap-line.js';

describe('a list of calls', () => {
  const rows = [
    ['MSWNFSST', 'waiting_approval', 'shell', '20s ago', '$ rm -rf dist node_modules'],
    ['590X03QM', 'failed', 'file_read', '3m ago', 'README.md'],
  ];

  it('shows a call in a line where the terminal is wide', () => {
    expect(listing(rows, 100)).toEqual([
      'MSWNFSST  waiting_approval  shell      20s ago  $ rm -rf dist node_modules',
      '590X03QM  failed            file_read  3m ago   README.md',
    ]);
  });

  it('shows what calls do on a line of its own where the terminal is narrow', () => {
    expect(listing(rows, 60)).toEqual([
      'MSWNFSST  waiting_approval  shell      20s ago',
      '    $ rm -rf dist node_modules',
      '590X03QM  failed            file_read  3m ago',
      '    README.md',
    ]);
  });

  it('leaves no blank line below a call of which nothing is known', () => {
    expect(listing([['MSWNFSST', 'waiting_approval', 'shell', '']], 40)).toEqual(['MSWNFSST  waiting_approval  shell']);
  });
});

describe('a long line', () => {
  it('breaks a long line at blanks, with the lines after the first indented', () => {
    expect(wrapLine('  Why: a rule asks a person', 16)).toEqual(['  Why: a rule', '    asks a', '    person']);
    expect(wrapLine('[e]dit  change its arguments', 20, 8)).toEqual(['[e]dit  change its', '        arguments']);
  });

  it('breaks a long word at any place, and keeps a word whole that fits on a line', () => {
    expect(wrapLine('abcdefgh', 5)).toEqual(['abcde', '  fgh']);
    expect(wrapLine('abc', 5)).toEqual(['abc']);
  });

  it('wraps a line even if the indent leaves no room', () => expect(wrapLine('ab cd', 2, 8)).toEqual(['ab', ' c', ' d']));
});
