import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ToolContext } from '#tool-sdk';
import { detailsFrom, textFrom } from '../testing/outputs.js';
import { testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { NotebookEditTool } from './notebook-edit.tool.js';
import { NotebookText } from './notebook-text.js';

let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());

const FIRST = `  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "c1",
   "metadata": {"x": 1.0},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\\n"]}],
   "source": [
    "print(1)"
   ]
  }`;
const SECOND = `  {
   "source": "x = '\\u00e9\\/'", "cell_type": "code",
   "metadata": {"n": 12345678901234567890, "f": 1e5, "g": 1.10},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\\n", "b\\n"]}],
   "execution_count": null, "id": "c2"
  }`;
const END = ` ],
 "nbformat_minor": 5,
 "metadata": {},
 "nbformat": 4
}`;
const NOTEBOOK = `{\n "cells": [\n${FIRST},\n${SECOND}\n${END}`;

const edited = async (before: string, args: object): Promise<string> => {
  await workspace.put('n.ipynb', before);
  const said = await textFrom(new NotebookEditTool().run({ path: 'n.ipynb', edit_mode: 'replace', ...args }, ctx));
  const after = await readFile(join(workspace.root, 'n.ipynb'), 'utf8');
  return after === before ? said : after;
};

describe('notebook_edit', () => {
  const REPLACED = FIRST.replace('"execution_count": 3', '"execution_count": null')
    .replace(/"outputs": .*,/, '"outputs": [],')
    .replace('"print(1)"', '"print(2)\\n",\n    "# é"');

  it.each([
    ['spaces', (text: string) => text],
    ['two spaces', (text: string) => text.replaceAll(/^ +/gm, (indent) => indent + indent)],
    ['tabs', (text: string) => text.replaceAll(/^ +/gm, (indent) => '\t'.repeat(indent.length))],
    ['Windows line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['a line end at the end', (text: string) => `${text}\n`],
  ])('keeps every other byte of a notebook with %s', async (_name, form) => {
    const after = await edited(form(NOTEBOOK), { cell_id: 'c1', new_source: 'print(2)\n# é' });
    expect(after).toBe(form(NOTEBOOK.replace(FIRST, () => REPLACED)));
  });

  it('shows the diff of the cell alone', async () => {
    await workspace.put('n.ipynb', NOTEBOOK);
    const args = { path: 'n.ipynb', edit_mode: 'replace' as const, cell_id: 'c1', new_source: 'print(2)' };
    const { diff } = (await detailsFrom(new NotebookEditTool().run(args, ctx))) as { diff: { added: number; removed: number } };
    expect(diff).toMatchObject({ added: 3, removed: 3 });
  });

  it('adds and removes the fields of code cells when the kind changes, and no others', async () => {
    const markdown = await edited(NOTEBOOK, { cell_id: 'c2', new_source: 'T', cell_type: 'markdown' });
    expect(markdown).toContain(
      '   "source": [\n    "T"\n   ], "cell_type": "markdown",\n   "metadata": {"n": 12345678901234567890, "f": 1e5, "g": 1.10},\n   "id": "c2"\n',
    );
    const code = await edited(markdown, { cell_id: 'c2', new_source: 'T', cell_type: 'code' });
    expect(JSON.parse(code).cells[1]).toMatchObject({ cell_type: 'code', outputs: [], execution_count: null });
  });

  it('inserts and deletes a cell between others, which stay unchanged', async () => {
    const inserted = await edited(NOTEBOOK, { edit_mode: 'insert', cell_id: 'c1', cell_type: 'markdown', new_source: '# T' });
    const [cell = ''] =
      /  \{\n   "cell_type": "markdown",\n   "id": "[0-9a-f]{8}",\n   "metadata": \{\},\n   "source": \[\n    "# T"\n   \]\n  \}/.exec(
        inserted,
      ) ?? [];
    expect(inserted).toBe(NOTEBOOK.replace(`${FIRST},\n`, () => `${FIRST},\n${cell},\n`));
    expect(await edited(inserted, { edit_mode: 'delete', cell_id: 'cell-1' })).toBe(NOTEBOOK);
    expect(await edited(NOTEBOOK, { edit_mode: 'delete', cell_id: 'c2' })).toBe(`{\n "cells": [\n${FIRST}\n${END}`);
    const none = await edited(`{\n "cells": [\n${FIRST}\n${END}`, { edit_mode: 'delete', cell_id: 'c1' });
    expect(none).toBe(`{\n "cells": []${END.slice(2)}`.replace('"cells": []', '"cells": []'));
    expect(JSON.parse(await edited(none, { edit_mode: 'insert', new_source: 'x' })).cells).toHaveLength(1);
  });

  it('keeps a one-line notebook on one line', async () => {
    const line = '{"cells":[{"cell_type":"markdown","metadata":{},"source":["a"]}],"metadata":{},"nbformat":4,"nbformat_minor":2}';
    expect(await edited(line, { cell_id: 'cell-0', new_source: 'b\nc' })).toBe(line.replace('["a"]', '["b\\n","c"]'));
    expect(await edited(line, { edit_mode: 'insert', cell_type: 'markdown', new_source: 'z' })).toBe(
      line.replace('}],', '},{"cell_type":"markdown","metadata":{},"source":["z"]}],'),
    );
  });

  it('keeps numbers that Python writes and JSON lacks', async () => {
    const odd = NOTEBOOK.replace('"x": 1.0', '"x": [NaN, -Infinity, "NaN \\" Infinity"]').replace('"f": 1e5', '"f": Infinity');
    const after = await edited(odd, { cell_id: 'c2', new_source: 'y' });
    const [first = '', second = ''] = odd.split(`${FIRST.split('\n').at(-1)},\n`);
    expect(after.startsWith(first)).toBe(true);
    expect(after).toContain('"f": Infinity, "g": 1.10');
    expect(second).toContain('Infinity');
    expect(after).toContain('"y"');
  });

  it.each([
    ['{"worksheets":[{"cells":[]}],"metadata":{},"nbformat":3,"nbformat_minor":0}', /it is not of format 4 but of 3; "jupyter nbconvert/],
    [NOTEBOOK.replace('"c2"', '"c1"'), /^2 cells have the id c1\. Name the cell by its place: "cell-0" is the first\.$/],
    [NOTEBOOK.slice(0, -1), /is not valid JSON/],
  ])('refuses to edit a notebook: %s', async (before, message) =>
    expect(await edited(before, { cell_id: 'c1', new_source: 'x' })).toMatch(message),
  );

  it.each([
    ['"id": "c2"', '"id": null', 'cell-1'],
    ['"id": "c2"', '"id": 7', '7'],
    ['"outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\\n", "b\\n"]}]', '"outputs": null', 'c2'],
    ['"text": ["a\\n", "b\\n"]', '"text": null', 'c2'],
    [`"source": "x = '\\u00e9\\/'"`, '"source": null', 'c2'],
    [' "nbformat_minor": 5,', ' "nbformat_minor": null,', 'c2'],
    [' "metadata": {},', ' "metadata": null,', 'c2'],
    ['"metadata": {},\n "nbformat": 4', '"metadata": {}', 'c2'],
  ])('edits a notebook that has %s as %s', async (written, odd, cell) => {
    expect(NOTEBOOK).toContain(written);
    const before = NOTEBOOK.replace(written, odd);
    const after = await edited(before, { cell_id: cell, new_source: 'new' });
    expect([after.includes('"new"'), after.startsWith(before.slice(0, 200))]).toEqual([true, true]);
  });

  it('asks which of several cells to replace or delete', async () => {
    for (const edit_mode of ['replace', 'delete'])
      expect(await edited(NOTEBOOK, { edit_mode, new_source: 'x' })).toBe(
        'cell_id is required for replace and delete. Its cells are c1, c2.',
      );
    expect(await edited(`{\n "cells": [\n${FIRST}\n${END}`, { new_source: 'x' })).toContain('"x"');
  });

  it('reads text of a cell exactly, also after its colons', () => {
    const text = '{"cells":[{"cell_type":"raw","metadata":{"":[["\\": "]]},"source":""}],"nbformat":4}';
    expect(new NotebookText(text).change(0, { source: ['a', 'b'] })).toBe(text.replace('"source":""', '"source":["a","b"]'));
  });

  it('leaves other cells of a notebook unchanged, whatever they contain', () => {
    const cell = fc.record({
      cell_type: fc.constant('raw'),
      metadata: fc.dictionary(fc.string(), fc.jsonValue()),
      source: fc.oneof(fc.string(), fc.array(fc.string())),
    });
    const form = fc.constantFrom(undefined, 1, 2, '\t');
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 4 }), form, fc.nat(), (cells, unit, seed) => {
        const text = JSON.stringify({ cells, nbformat: 4 }, undefined, unit);
        const at = seed % cells.length;
        const source = ['new\n', 'lines'];
        const replaced = cells.map((it, index) => (index === at ? { ...it, source } : it));
        expect(new NotebookText(text).change(at, { source })).toBe(JSON.stringify({ cells: replaced, nbformat: 4 }, undefined, unit));
        const added = { cell_type: 'raw' as const, metadata: {}, source };
        expect(new NotebookText(text).insert(at, added)).toBe(
          JSON.stringify({ cells: cells.toSpliced(at, 0, added), nbformat: 4 }, undefined, unit),
        );
        expect(new NotebookText(text).delete(at)).toBe(JSON.stringify({ cells: cells.toSpliced(at, 1), nbformat: 4 }, undefined, unit));
      }),
    );
  });
});
