import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ToolContext } from '#tool-sdk';
import { IMAGES } from '../../testing/images.js';
import { detailsFrom, textFrom } from '../../testing/outputs.js';
import { pdfOf } from '../../testing/pdf.js';
import { testWorkspace, type TestWorkspace } from '../../testing/test-workspace.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { FileReadTool } from '../file-read.tool.js';

const tool = new FileReadTool();
let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());
afterAll(() => tool.onApplicationShutdown());

type Args = Parameters<FileReadTool['run']>[0];
const read = (args: Args) => textFrom(tool.run(args, ctx));

describe('lines with numbers', () => {
  it('shows lines with numbers below a header with their count', async () => {
    await workspace.put('a', 'a\r\nb\n');
    await workspace.put('empty', '');
    expect(await read({ path: 'a', line_numbers: true })).toBe('[2 lines]\n   1 | a\n   2 | b');
    expect(await read({ path: 'a', line_numbers: true, offset: 2 })).toBe('[Lines 2-2 of 2]\n   2 | b');
    expect(await read({ path: 'empty', line_numbers: true })).toBe('[0 lines]');
  });
});

describe('a PDF file', () => {
  it('reads a PDF file as the text of its pages, by lines', async () => {
    await workspace.put('a.pdf', pdfOf('Hello PDF', 'Second page'));
    expect(await read({ path: 'a.pdf' })).toBe('[Page 1 of 2]\nHello PDF\n[Page 2 of 2]\nSecond page\n');
    expect(await read({ path: 'a.pdf', offset: 4 })).toBe('[Lines 4-4 of 4]\nSecond page\n');
  });

  it('fails for a damaged PDF file with a clear error', async () => {
    await workspace.put('bad.pdf', '%PDF-1.4\nnothing of a PDF');
    expect(await read({ path: 'bad.pdf' })).toBe('Cannot read bad.pdf as PDF: it is damaged.');
  });
});

describe('an image', () => {
  const damaged = 'Cannot read i as an image: it is damaged, or its end is missing. Make or fetch it again.';
  const readBytes = async (bytes: Buffer) => {
    await workspace.put('i', bytes);
    return read({ path: 'i' });
  };

  // Excludes bmp, whose header has the size of the file: a truncated one is taken for another binary file.
  it.each(['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const)(
    'fails for an image that ends early wherever it ends: %s',
    async (type) => {
      const whole = IMAGES[type];
      for (let length = 12; length < whole.length; length += 1) expect(await readBytes(whole.subarray(0, length))).toBe(damaged);
      expect(await readBytes(whole)).toBe('<image>');
      expect(await readBytes(Buffer.concat([whole, Buffer.from('more')]))).toBe('<image>');
    },
  );

  it('fails for an image with a changed byte in a PNG chunk', async () => {
    const bytes = Buffer.from(IMAGES['image/png']);
    bytes.writeUInt8(bytes.readUInt8(45) ^ 1, 45);
    expect(await readBytes(bytes)).toBe(damaged);
  });
});

describe('a notebook', () => {
  const notebook = {
    cells: [
      { cell_type: 'markdown', id: 'c1', metadata: {}, source: ['# T\n', 'x'] },
      {
        cell_type: 'code',
        source: 'print(1)',
        outputs: [
          { output_type: 'stream', text: ['1\n'] },
          { output_type: 'display_data', data: { 'image/png': 'AA==' } },
          { output_type: 'error', ename: 'ValueError', evalue: 'no' },
        ],
      },
    ],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  };

  it('reads a notebook as its cells with their outputs, or as its source', async () => {
    await workspace.put('n.ipynb', JSON.stringify(notebook));
    expect(await read({ path: 'n.ipynb' })).toBe(
      '[cell 0 c1 markdown]\n# T\nx\n[cell 1 cell-1 code]\nprint(1)\n[output]\n1\n[output]\n(image/png)\n[output]\nValueError: no\n',
    );
    expect(await read({ path: 'n.ipynb', raw: true })).toBe(JSON.stringify(notebook));
  });

  it.each(['{', '{"cells":[]}', '{"cells":[],"nbformat":3}'])('explains why a file is no notebook: %s', async (text) => {
    await workspace.put('n.ipynb', text);
    expect(await read({ path: 'n.ipynb' })).toMatch(/^Cannot read n\.ipynb as a notebook: it is not .*raw/);
  });
});

describe('several operations', () => {
  it('fails several operations together, and names each failure', async () => {
    await workspace.put('a', 'a');
    const operations: Args['operations'] = [
      { mode: 'lines', path: 'none' },
      { mode: 'lines', path: 'a' },
      { mode: 'image', path: 'a' },
      { mode: 'lines', path: '../x' },
    ];
    expect(await read({ operations })).toMatch(
      /^File not found: none\..*, Cannot read a as an image: it is none of .*, Path not allowed: \.\.\/x\./,
    );
  });

  it('returns at most 30 MB of several operations together', async () => {
    await workspace.put('big.png', Buffer.concat([IMAGES['image/png'], Buffer.alloc(12 * 1_048_576)]));
    const big = { mode: 'image', path: 'big.png' } as const;
    expect(await read({ operations: [big] })).toBe('<image>');
    expect(await read({ operations: [big, big, big] })).toBe('big.png is too much with the files before it: read it in a call of its own');
  });

  it('accepts several operations in place of a path', async () => {
    expect(await read({})).toBe("Missing 'path' parameter: give the path of a file, or operations for several.");
    expect(await read({ path: 'a', operations: [{ mode: 'lines', path: 'a' }] })).toBe('Give either path or operations, not both.');
  });
});

describe('a folder', () => {
  const list = (more: object = {}) => read({ operations: [{ mode: 'directory', path: '.', ...more }] });

  it('lists a folder newest first, without excluded and rarely needed entries', async () => {
    await workspace.put('old', 'xx');
    await workspace.put('src/deep/a', '');
    await workspace.put('node_modules/m/index.js', '');
    await utimes(join(workspace.root, 'old'), 1, 1);
    expect(await list()).toMatch(/^drwx[-rwx]{6} +\d+ \d{4}-\d\d-\d\d \d\d:\d\d (?:src|node_modules)\/\n/);
    expect(await list()).toMatch(/\n-rw-[-rwx]{6} {9}2 1970-01-01 00:00 old$/);
    const names = async (more: object) => (await list(more)).split('\n').map((line) => line.slice(line.lastIndexOf(' ') + 1));
    expect((await names({ max_depth: 5 })).sort()).toEqual(['node_modules/', 'old', 'src/', 'src/deep/', 'src/deep/a']);
    expect((await names({ max_depth: 5, exclude: ['deep', 'n*'] })).sort()).toEqual(['old', 'src/']);
  });

  it('states the number of entries of a folder with more than 1,000', async () => {
    await Promise.all(Array.from({ length: 1_001 }, (_item, index) => workspace.put(`f${index}`, '')));
    const lines = (await list()).split('\n');
    expect(lines[0]).toBe('Directory at . was truncated (has total 1001 entries)');
    expect(lines).toHaveLength(1_001);
    const details = await detailsFrom(tool.run({ operations: [{ mode: 'directory', path: '.' }] }, ctx));
    expect(details).toEqual({ operations: [{ path: '.', entries: 1_000, total: 1_001, truncated: true }] });
  });
});
