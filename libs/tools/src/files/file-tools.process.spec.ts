import { chmod, mkdir, readdir, readFile, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findExecutable } from '#sandbox';
import { type FileForm, type ToolContext, ToolError } from '#tool-sdk';
import { IMAGES } from '../testing/images.js';
import { detailsFrom as details, textFrom as text } from '../testing/outputs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { SECRET, startSwapper, testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import { FileEditTool } from './file-edit.tool.js';
import { FileListTool } from './file-list.tool.js';
import { FileReadTool } from './file-read.tool.js';
import { FileSearchTool } from '../search/file-search.tool.js';
import { FileWriteTool } from './file-write.tool.js';
import { GlobTool } from '../search/glob.tool.js';
import { SleepTool } from '../basics/sleep.tool.js';

let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());

const content = (path: string): Promise<string> => readFile(join(workspace.root, path), 'utf8');

describe('file_read', () => {
  const tool = new FileReadTool();

  it('returns a text unchanged by file_read, and a range of lines below a header [TB-20, TB-21]', async () => {
    await workspace.put('a.txt', 'one\ntwo\nthree\n');
    expect(await text(tool.run({ path: 'a.txt' }, ctx))).toBe('one\ntwo\nthree\n');
    expect(await text(tool.run({ path: 'a.txt', offset: 2, limit: 1 }, ctx))).toBe('[Lines 2-2 of 3]\ntwo\n');
    expect(await text(tool.run({ path: 'a.txt', offset: 2 }, ctx))).toBe('[Lines 2-3 of 3]\ntwo\nthree\n');
    expect(await text(tool.run({ path: 'a.txt', offset: 1, limit: 99 }, ctx))).toBe('one\ntwo\nthree\n');
    expect(await text(tool.run({ path: 'a.txt', offset: 4 }, ctx))).toBe('offset 4 is past the end: a.txt has 3 lines.');
    expect(await details(tool.run({ path: 'a.txt', offset: 2, limit: 1 }, ctx))).toEqual({
      path: 'a.txt',
      startLine: 2,
      numLines: 1,
      totalLines: 3,
    });
  });

  it('refuses, cuts and reads a file by the limits of the answer’s form [EX-45]', async () => {
    const as = (files: FileForm) => fakeToolContext({ workspace, answers: { files } });
    const mib = 1_048_576;
    const whole = { whole: { bytes: mib, hint: 'Use offset/limit for partial reads.' } };
    const note = (first: number, last: number, total: number) => `\n${first}-${last} of ${total}`;
    const parts = { image: { bytes: 10 * mib, hint: 'Only smaller ones.' }, cut: { bytes: 256_000, note } };
    await workspace.put('mib', 'a'.repeat(mib));
    await workspace.put('more', 'a\n'.repeat(mib / 2) + 'b');
    expect((await text(tool.run({ path: 'mib' }, as(whole)))).length).toBe(mib);
    expect(await text(tool.run({ path: 'more' }, as(whole)))).toBe(
      'File too large: more has 1,048,577 bytes, at most 1,048,576 are allowed. Use offset/limit for partial reads.',
    );
    expect(await text(tool.run({ path: 'more', offset: mib / 2 + 1 }, as(whole)))).toBe(`[Lines 524289-524289 of 524289]\nb`);
    expect((await text(tool.run({ path: 'more' }, as({})))).length).toBe(mib + 1);

    await workspace.put('kept', 'a'.repeat(256_000));
    await workspace.put('cut', 'a'.repeat(256_001));
    expect((await text(tool.run({ path: 'kept' }, as(parts)))).length).toBe(256_000);
    expect((await text(tool.run({ path: 'cut' }, as(parts)))).slice(255_999)).toBe('a\n1-1 of 1');

    await workspace.put('picture', Buffer.concat([IMAGES['image/png'], Buffer.alloc(10 * mib)]));
    expect(await text(tool.run({ path: 'picture' }, as(parts)))).toContain('File too large');
    expect(await text(tool.run({ path: 'picture' }, as(whole)))).toBe('<image>');
  });

  it('reads an empty file as an empty text', async () => {
    await workspace.put('empty', '');
    expect(await text(tool.run({ path: 'empty' }, ctx))).toBe('');
    expect(await text(tool.run({ path: 'empty', offset: 1, limit: 5 }, ctx))).toBe('');
  });

  it.each(Object.entries(IMAGES))('returns %s as an image, byte for byte, for any name [CC-34]', async (mimeType, bytes) => {
    await workspace.put('picture.txt', bytes);
    expect(await tool.run({ path: 'picture.txt' }, ctx)).toMatchObject({
      content: [{ type: 'image', mimeType, data: bytes.toString('base64') }],
    });
  });

  it('refuses other binary files, missing files and folders, with their kind [TB-20]', async () => {
    await workspace.put('b', Buffer.from([1, 0, 2]));
    await workspace.put('latin', Buffer.from([0x67, 0xe9]));
    expect(await text(tool.run({ path: 'b' }, ctx))).toBe('Cannot read b: it is a binary file (3 bytes), not UTF-8 text.');
    await workspace.put('wide', Buffer.from('\ufeffhi', 'utf16le'));
    expect(await text(tool.run({ path: 'latin' }, ctx))).toMatch(/text in an older encoding, which .* "iconv .* not UTF-8 text/);
    expect(await text(tool.run({ path: 'wide' }, ctx))).toMatch(/^Cannot read wide: it is UTF-16 text, which .* "iconv -f UTF-16/);
    expect(await text(tool.run({ path: 'nope' }, ctx))).toBe('File not found: nope. Use file_list or glob to see what is there.');
    expect(await text(tool.run({ path: '.' }, ctx))).toContain('it is a directory');
  });

  it('refuses text over 10 MB and images over 20 MB [TB-20]', async () => {
    await workspace.put('text', Buffer.alloc(10 * 1_048_576 + 1, 'x'));
    await workspace.put('most', Buffer.alloc(10 * 1_048_576, 'x'));
    await workspace.put('image', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20 * 1_048_576)]));
    expect(await text(tool.run({ path: 'text' }, ctx))).toBe(
      'File too large: text has 10,485,761 bytes, at most 10,485,760 are allowed. ' +
        'Use file_search with this path to find the lines you need, or cut a part out with a command such as "sed -n 100,200p".',
    );
    await workspace.put('huge', Buffer.alloc(20 * 1_048_576 + 1, 'x'));
    expect(await text(tool.run({ path: 'huge' }, ctx))).toContain('cut a part out with a command');
    expect(await text(tool.run({ path: 'most' }, ctx))).toHaveLength(10_485_760);
    expect(await text(tool.run({ path: 'image' }, ctx))).toContain('at most 20,971,520');
  });
});

describe('file_write', () => {
  const tool = new FileWriteTool();

  it('reports the bytes of a written file, creates folders and states whether the file is new [CC-25, TB-30, TB-33]', async () => {
    expect(await text(tool.run({ path: 'a/b/x', content: 'é' }, ctx))).toBe('Wrote 2 bytes to a/b/x');
    expect(await content('a/b/x')).toBe('é');
    expect(await details(tool.run({ path: 'a/b/x', content: '' }, ctx))).toMatchObject({ path: 'a/b/x', bytes: 0, created: false });
  });

  it('keeps the mode of a file that file_write replaces', async () => {
    await workspace.put('run.sh', 'old');
    await chmod(join(workspace.root, 'run.sh'), 0o755);
    await tool.run({ path: 'run.sh', content: 'new' }, ctx);
    expect((await stat(join(workspace.root, 'run.sh'))).mode & 0o777).toBe(0o755);
  });

  it('writes through no link, not even to a file inside [TB-30]', async () => {
    await symlink(join(workspace.outside, 'secret.txt'), join(workspace.root, 'out'));
    await symlink('real', join(workspace.root, 'in'));
    for (const path of ['out', 'in'])
      expect(await text(tool.run({ path, content: 'x' }, ctx))).toMatch(/^Path not allowed: .*symbolic link/);
    expect(await readFile(join(workspace.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(await readdir(workspace.root)).toEqual(['in', 'out']);
  });

  it('leaves no files of a file_write cancelled before it began [EX-26]', async () => {
    const reason = new ToolError('cancelled', 'Cancelled');
    await expect(tool.run({ path: 'new/a', content: 'x' }, fakeToolContext({ workspace, signal: AbortSignal.abort(reason) }))).rejects.toBe(
      reason,
    );
    expect(await readdir(workspace.root)).toEqual([]);
  });
});

describe('file_edit', () => {
  const tool = new FileEditTool();
  const edit = (old_text: string, new_text: string, replace_all = false): Promise<string> =>
    text(tool.run({ path: 'a.txt', old_text, new_text, replace_all }, ctx));

  it('replaces a text that occurs exactly once, character by character [TB-36]', async () => {
    await workspace.put('a.txt', 'one\ntwo\nthree\n');
    expect(await edit('two\n', '$& and\nmore\n')).toBe('Replaced 1 line(s) with 2 line(s) in a.txt');
    expect(await content('a.txt')).toBe('one\n$& and\nmore\nthree\n');
  });

  it('replaces all occurrences in a file on request', async () => {
    await workspace.put('a.txt', 'x y x y x');
    expect(await edit('x', 'z', true)).toBe('Replaced 3 occurrence(s) in a.txt');
    expect(await content('a.txt')).toBe('z y z y z');
  });

  it('changes nothing in file_edit if the text is missing, ambiguous or the same, and explains why [TB-36]', async () => {
    await workspace.put('a.txt', 'if (x) {\n    return  1;\n}\nreturn 2; return 2;\n');
    expect(await edit('return 2;', 'y')).toBe(
      'old_text matches 2 locations in a.txt. Include more surrounding context to make the match unique, or set replace_all.',
    );
    expect(await edit('  return 1;', 'y')).toBe('old_text not found in a.txt.\nDid you mean:\n   2 |     return  1;');
    expect(await edit('zzz', 'y')).toBe(
      'old_text not found in a.txt. Read the file first: old_text must match exactly, including spaces and line breaks.',
    );
    expect(await edit('return 3; return 2;\n}', 'y')).toBe(
      'old_text not found in a.txt.\nDid you mean:\n   4 | return 2; return 2;\n   5 | ',
    );
    expect(await edit('x', 'x')).toBe('No changes (old_text == new_text)');
    expect(await content('a.txt')).toContain('return  1;');
  });

  it('matches line feeds with Windows line ends of a file, and writes no others', async () => {
    await workspace.put('a.txt', 'one\r\ntwo\r\nthree\r\n');
    expect(await edit('one\ntwo', 'ONE\nand\nTWO')).toBe('Replaced 2 line(s) with 3 line(s) in a.txt');
    expect(await edit('three', '3\r\n4\n5')).toMatch(/^Replaced/);
    expect(await content('a.txt')).toBe('ONE\r\nand\r\nTWO\r\n3\r\n4\r\n5\r\n');
    expect(await edit('\r\n', '\n', true)).toBe('Replaced 6 occurrence(s) in a.txt');
    expect(await content('a.txt')).toBe('ONE\nand\nTWO\n3\n4\n5\n');
  });

  it('mentions Windows line ends of a file also in other errors', async () => {
    await workspace.put('a.txt', 'one\r\ntwo\r\nthree\n');
    expect(await edit('one\ntwo', 'y')).toContain('Windows line ends in part');
  });

  it('counts places in file_edit that overlap', async () => {
    await workspace.put('a.txt', 'end\n\n\nstart\n');
    expect(await edit('\n\n', '\n')).toMatch(/^old_text matches 2 locations/);
    expect(await edit('\n\n', '\n', true)).toBe('Replaced 1 occurrence(s) in a.txt');
  });

  it('refuses edits that each double the result of the previous one', async () => {
    await workspace.put('a.txt', 'x');
    const edits = Array.from({ length: 25 }, () => ({ old_text: 'x', new_text: 'xx', replace_all: true }));
    await expect(tool.run({ path: 'a.txt', edits }, ctx)).rejects.toThrow(
      'Edit 24: Replacing 8388608 places would make a.txt 16777216 characters long; expected at most 10485760.',
    );
    expect(await content('a.txt')).toBe('x');
  });

  it('refuses to edit a missing file, and explains how to create it [TB-36]', async () => {
    expect(await edit('a', 'b')).toBe('File not found: a.txt. Use file_write to create it.');
    expect(await readdir(workspace.root)).toEqual([]);
  });

  it('applies all of 20 concurrent edits of one file [TB-41]', async () => {
    await workspace.put('a.txt', Array.from({ length: 20 }, (_item, index) => `line <${index}>\n`).join(''));
    const edits = Array.from({ length: 20 }, (_item, index) =>
      tool.run(
        { path: index % 2 ? 'a.txt' : './a.txt', old_text: `<${index}>`, new_text: `[${index}]`, replace_all: false },
        fakeToolContext({ workspace }),
      ),
    );
    await Promise.all(edits);
    expect(await content('a.txt')).toBe(Array.from({ length: 20 }, (_item, index) => `line [${index}]\n`).join(''));
    expect(await readdir(workspace.root)).toEqual(['a.txt']);
  });
});

describe('file_list', () => {
  const tool = new FileListTool();
  const list = (args: { path?: string; pattern?: string; max_depth?: number } = {}): Promise<string> =>
    text(tool.run({ path: '.', max_depth: 1, ...args }, ctx));

  it('sorts a folder, marks subfolders and reports an empty one [TB-28]', async () => {
    expect(await list()).toBe('no entries found');
    await workspace.put('b/c.ts', '');
    await workspace.put('a', '');
    expect(await list()).toBe('a\nb/');
    expect(await list({ max_depth: 2 })).toBe('a\nb/\nb/c.ts');
    expect(await list({ path: 'nope' })).toMatch(/^File not found: nope/);
    expect(await list({ path: 'a' })).toBe('Not a directory: a');
  });

  it('shows but does not enter node_modules, .git and links in file_list', async () => {
    await workspace.put('node_modules/x/y', '');
    await workspace.put('.git/config', '');
    await symlink(workspace.outside, join(workspace.root, 'out'));
    expect(await list({ max_depth: 3 })).toBe('.git/\nnode_modules/\nout');
  });

  it('lists only files that match a pattern, to the given depth', async () => {
    for (const path of ['src/a.ts', 'src/b.js', 'src/deep/c.ts', 'src/deep/deeper/d.ts']) await workspace.put(path, '');
    expect(await list({ path: 'src', pattern: '*.ts', max_depth: 2 })).toBe('a.ts\ndeep/c.ts');
    expect(await list({ pattern: '*.py', max_depth: 9 })).toBe('no entries found');
    expect(await list({ pattern: '!*.ts' })).toContain('begins with "!"');
  });

  it('reports a folder with more than 1,000 entries', async () => {
    await mkdir(join(workspace.root, 'many'));
    for (let index = 0; index < 1_001; index += 1) await mkdir(join(workspace.root, 'many', `d${index}`));
    const lines = (await list({ path: 'many' })).split('\n');
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toBe('... (1001 entries, showing first 1000)');
  });
});

describe('glob', () => {
  const tool = new GlobTool();
  const glob = (pattern: string, more: { path?: string; limit?: number } = {}): Promise<string> =>
    text(tool.run({ pattern, path: '.', limit: 200, max_depth: 30, ...more }, ctx));

  it('finds files by pattern, newest first, without ignored files', async () => {
    await workspace.put('.gitignore', 'ignored.ts\n/out/\n');
    for (const [index, path] of ['old.ts', 'src/new.ts', 'ignored.ts', 'src/ignored.ts', 'out/x.ts', '.hidden/y.ts', 'z.js'].entries()) {
      await workspace.put(path, '');
      await utimes(join(workspace.root, path), 1_000 + index, 1_000 + index);
    }
    expect(await glob('**/*.ts')).toBe('.hidden/y.ts\nsrc/new.ts\nold.ts');
    expect(await glob('*.ts', { path: 'src' })).toBe('src/new.ts');
    expect(await glob('src/*.ts')).toBe('src/new.ts');
    expect(await glob('*.{js,py}')).toBe('z.js');
    expect(await glob('*.rs')).toBe('No files found for pattern: *.rs');
  });

  it('finds the newest file in any folder, also in long unchanged ones', async () => {
    for (const [path, at] of Object.entries({ 'deep/down/newest.ts': 30, 'late/oldest.ts': 10, 'b.ts': 20, 'a.ts': 20 })) {
      await workspace.put(path, '');
      await utimes(join(workspace.root, path), at, at);
    }
    for (const [folder, at] of Object.entries({ 'deep/down': 1, deep: 1, late: 99 })) await utimes(join(workspace.root, folder), at, at);
    expect(await glob('*.ts')).toBe('deep/down/newest.ts\na.ts\nb.ts\nlate/oldest.ts');
    expect((await glob('*.ts', { limit: 1 })).split('\n')[0]).toBe('deep/down/newest.ts');
  });

  it('reports how many files a glob matches beyond the shown ones', async () => {
    for (let index = 0; index < 21; index += 1) await workspace.put(`f${index}.ts`, '');
    const output = await tool.run({ pattern: '*.ts', path: '.', limit: 20, max_depth: 30 }, ctx);
    expect((await text(output)).split('\n').at(-1)).toBe('... (21 files, showing the 20 newest)');
    expect(await details(output)).toMatchObject({ totalFiles: 21, truncated: true });
  });

  it('explains wrong patterns and paths of glob', async () => {
    await workspace.put('a', '');
    expect(await glob('*', { path: 'a' })).toBe('Path is not a directory: a');
    expect(await glob('[')).toMatch(/^The search is not valid: .*glob/s);
    expect(await glob('*', { path: '../outside' })).toMatch(/^Path not allowed/);
  });

  it('leaves the workspace by no pattern or link of a glob', async () => {
    await symlink(workspace.outside, join(workspace.root, 'out'));
    expect(await glob('../**')).toMatch(/^No files found/);
    expect(await glob('**/secret.txt')).toMatch(/^No files found/);
  });
});

describe('file_search', () => {
  const tool = new FileSearchTool();
  const defaults = { path: '.', literal: false, case_sensitive: false, context: 0, output_mode: 'content', max_results: 200 } as const;
  const search = (args: Partial<Parameters<FileSearchTool['run']>[0]> & { query: string }, context = ctx): Promise<string> =>
    text(tool.run({ ...defaults, ...args }, context));

  beforeEach(async () => {
    await workspace.put('a.ts', 'one\nTwo (2)\nthree\n');
    await workspace.put('src/b.js', 'two\ntwo (2)\n');
    await workspace.put('with:colon.ts', 'four\n');
  });

  it('keeps a bounded part of a searched line, for any number of matches', async () => {
    await workspace.put('long.txt', 'z'.repeat(2_000_000));
    expect(await search({ query: 'z' })).toMatch(/^A line is too long, or has too many matches, to be read\./);
    expect(await search({ query: 'z', output_mode: 'files_with_matches' })).toBe('long.txt');
    expect(await search({ query: 'zz+' })).toContain('long.txt:1:zzz');
  });

  it('shows matching lines of file_search with path and number, by path', async () => {
    expect(await search({ query: 'two' })).toBe('a.ts:2:Two (2)\nsrc/b.js:1:two\nsrc/b.js:2:two (2)');
    expect(await search({ query: 'two', case_sensitive: true, path: 'src' })).toBe('src/b.js:1:two\nsrc/b.js:2:two (2)');
    expect(await search({ query: 'FOUR' })).toBe('with:colon.ts:1:four');
    expect(await search({ query: 'zzz' })).toBe('No matches');
    expect(await search({ query: 'one', path: 'a.ts' })).toBe('a.ts:1:one');
  });

  it('accepts regular expressions or plain text in file_search, and explains a wrong expression', async () => {
    expect(await search({ query: 't[wh]\\w+$', include: '*.ts' })).toBe('a.ts:3:three');
    expect(await search({ query: '(2)', literal: true, include: 'a.*' })).toBe('a.ts:2:Two (2)');
    expect(await search({ query: '(' })).toMatch(/^The search is not valid: regex parse error/);
    expect(await search({ query: 'a\\nb' })).toMatch(
      /^The search is not valid: .* is not allowed in a regex: a match is within one line unless multiline is true$/,
    );
    expect(await search({ query: '--help' })).toBe('No matches');
  });

  it('shows context, file names or counts of file_search on request', async () => {
    expect(await search({ query: 'two', path: 'a.ts', context: 1 })).toBe('a.ts-1-one\na.ts:2:Two (2)\na.ts-3-three');
    expect(await search({ query: 'two', output_mode: 'files_with_matches' })).toBe('a.ts\nsrc/b.js');
    expect(await search({ query: 'two', output_mode: 'count' })).toBe('a.ts:1\nsrc/b.js:2');
  });

  it('honours ignore files of the workspace, also with include and in a folder, and looks into hidden files', async () => {
    await workspace.put('.gitignore', 'ignored*\n');
    await workspace.put('ignored.ts', 'two');
    await workspace.put('src/ignored.js', 'two');
    await workspace.put('.github/x.yml', 'two');
    await workspace.put('.git/config', 'two');
    expect(await search({ query: 'two', output_mode: 'files_with_matches' })).toBe('.github/x.yml\na.ts\nsrc/b.js');
    expect(await search({ query: 'two', output_mode: 'files_with_matches', include: '*.ts' })).toBe('a.ts');
    expect(await search({ query: 'two', output_mode: 'files_with_matches', path: 'src' })).toBe('src/b.js');
  });

  it('cuts long lines and long results of file_search, and reports it', async () => {
    await workspace.put('long', `two${'x'.repeat(600)}\n`);
    expect(await search({ query: 'twox' })).toBe(`long:1:two${'x'.repeat(497)}...[+103 chars]`);
    expect(await search({ query: 'two', max_results: 2 })).toMatch(/\.\.\. \(showing the first 2 matching lines, there are more\)$/);
    expect(await search({ query: 'two', max_results: 1, output_mode: 'count' })).toBe(
      'a.ts:1\n... (showing the first 1 files, there are more)',
    );
    expect(await search({ query: 'one', max_results: 1 })).toBe('a.ts:1:one');
  });

  it('finds nothing outside of the workspace through links or paths in file_search', async () => {
    await symlink(workspace.outside, join(workspace.root, 'out'));
    await symlink(join(workspace.outside, 'secret.txt'), join(workspace.root, 'link.txt'));
    expect(await search({ query: 'SECRET' })).toBe('No matches');
    for (const path of ['out', 'out/secret.txt', 'link.txt', '../outside', '/etc'])
      expect(await search({ query: '.', path })).toMatch(/^Path not allowed/);
  });

  /** A context in which ripgrep is there and bubblewrap is not. */
  async function unconfined(): Promise<ToolContext> {
    const alone = join(workspace.outside, 'bin');
    await mkdir(alone);
    await symlink(findExecutable(['rg']) ?? '', join(alone, 'rg'));
    return fakeToolContext({ workspace, env: { PATH: alone } });
  }

  it('finds the same without bubblewrap', async () => {
    const alone = await unconfined();
    await workspace.put('.gitignore', 'ignored*\n/out\n');
    await workspace.put('src/ignored.js', 'two');
    await workspace.put('src/out/c.js', 'two\r\n\xfftwo\r\n');
    await symlink(join(workspace.outside, 'secret.txt'), join(workspace.root, 'link.txt'));
    expect(await search({ query: 'two', output_mode: 'files_with_matches', path: 'src' }, alone)).toBe('src/b.js\nsrc/out/c.js');
    expect(await search({ query: 'two', output_mode: 'count', path: 'src' }, alone)).toBe('src/b.js:2\nsrc/out/c.js:2');
    expect(await search({ query: 'two', path: 'src' }, alone)).toMatch(
      /^src\/b.js:1:two\nsrc\/b.js:2:two \(2\)\nsrc\/out\/c.js:1:two\nsrc\/out\/c.js:2:/,
    );
    expect(await search({ query: 'SECRET' }, alone)).toMatch(/^No matches\nFiles that .gitignore excludes were not searched/);
  });

  // Limit of five minutes: 90 searches, each a process of its own.
  it.each([true, false])(
    'finds nothing outside while another process keeps swapping a folder for a link (bubblewrap: %s) [PP-32]',
    async (sandboxed) => {
      const searcher = sandboxed ? ctx : await unconfined();
      await workspace.put('d/secret.txt', 'mine');
      const swapper = await startSwapper(workspace, 'd');
      const modes = ['content', 'files_with_matches', 'count'] as const;
      try {
        for (let round = 0; round < 90; round += 1) {
          const found = await search(
            { query: 'SECRET', path: round % 2 ? '.' : 'd', output_mode: modes[round % 3] ?? 'content' },
            searcher,
          );
          expect(found).not.toMatch(/secret\.txt|SECRET/);
        }
      } finally {
        swapper.stop();
      }
    },
    300_000,
  );

  it('reports the limits of file_search without ripgrep', async () => {
    const failure = await tool
      .run({ ...defaults, query: 'x' }, fakeToolContext({ workspace, env: { PATH: '/nonexistent' } }))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: 'ToolError',
      code: 'unavailable',
      message: expect.stringContaining('ripgrep (rg) is not installed'),
    });
  });
});

describe('sleep', () => {
  const tool = new SleepTool();

  it('suspends sleep for the remaining time without a slot [TB-09]', async () => {
    expect(await text(tool.run({ duration_ms: 300 }, ctx))).toBe('suspended for 300');
    expect(await text(tool.run({ duration_ms: 300 }, fakeToolContext({ sinceFirstStartMs: 120 })))).toBe('suspended for 180');
    expect(await text(tool.run({ duration_ms: 300 }, fakeToolContext({ sinceFirstStartMs: 300 })))).toBe('Slept for 300ms');
    expect(await text(tool.run({ duration_ms: 0 }, ctx))).toBe('Slept for 0ms');
  });
});
