import { describe, expect, it } from '@jest/globals';
import { allDialects } from './dialects.js';
import { renderRefusal } from './render.js';

type Name = ReturnType<typeof allDialects>[number]['name'];
const worded = (dialect: Name, name: string, message: string) =>
  renderRefusal({ dialect, name }, { code: 'tool_failed', message, kind: 'run', started: true });

describe('an error with advice', () => {
  it.each([
    [
      'File not found: a.txt. Use file_list or glob to see what is there. Did you mean b.txt?',
      'File not found: a.txt. Use glob_search to see what is there. Did you mean b.txt?',
    ],
    ['File not found: a.txt. Use file_write to create it.', 'File not found: a.txt. Use write_file to create it.'],
    ['Cannot use src: it is a directory: use file_list to see what is in it', 'Cannot use src: it is a directory'],
    ['Folder not found: x. Check the path with file_list.', 'Folder not found: x.'],
    ['Too large. Use file_search with this path, or cut a part out.', 'Too large. Use grep_search with this path, or cut a part out.'],
    ['It is on the host build. Use shell there: cat, sed.', 'It is on the host build. Use bash there: cat, sed.'],
  ])('names the tools that the model of the dialect has: %s', (message, expected) => {
    expect(worded('claude-code', 'read_file', message)).toBe(expected);
  });

  it.each([
    'File not found: file_list.',
    'Cannot use glob: it is not a regular file',
    'The command ended with code 3',
    'File not found: a. Use file_list.txt or another.',
    'Failed.\nUse file_list to see.',
  ])('keeps words of an error that are no advice: %s', (message) => {
    expect(worded('claude-code', 'read_file', message)).toBe(message);
  });

  it.each(allDialects().map(({ name }) => name))('names no tool that %s does not have', (dialect) => {
    const own = allDialects().find(({ name }) => name === dialect)?.tools ?? [];
    const names = new Set(own.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
    for (const tool of new Set(allDialects().flatMap(({ tools }) => tools.map((it) => it.tool)))) {
      const said = worded(dialect, 'none', `It failed. Use ${tool} to see more.`);
      const [, named] = /Use (\w+) to/.exec(said) ?? [];
      expect([tool, named === undefined || names.has(named)]).toEqual([tool, true]);
      expect([tool, said.startsWith('It failed') || said.includes('It failed')]).toEqual([tool, true]);
    }
  });
});
