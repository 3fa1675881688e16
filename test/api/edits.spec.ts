import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { textOf } from '../support/policy-case.js';

/** An agent that may not touch `secret`. */
const CAREFUL = { policy: { paths: { trusted: [{ tools: ['*'], allowed: [], denied: ['secret'] }] } } };

let tenant: Tenant;
let agent: Agent;
beforeAll(async () => {
  tenant = await useTenant('edits', { settings: { agents: { careful: CAREFUL } } });
  ({ agent } = tenant);
});
afterAll(() => tenant?.close());

const run = (tool: string, args: unknown, sessionId: string, more: object = {}) => agent.run(tool, args, { sessionId, ...more });
const asCareful = { agentId: 'careful' };
const write = async (path: string, content: string, sessionId: string) =>
  expect(await run('file_write', { path, content }, sessionId)).toMatchObject({ ok: true });

/** Contents by path, `x` behind the path where the file may be executed. */
type Files = Readonly<Record<string, string>>;

function put(root: string, files: Files): void {
  mkdirSync(root, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name.replace(/ x$/, ''));
    writeFileSync(path, text);
    chmodSync(path, name.endsWith(' x') ? 0o755 : 0o644);
  }
}
function filesIn(root: string): Files {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
  const paths = entries.map((it) => join(it.parentPath, it.name));
  const nameOf = (path: string) => path.slice(root.length + 1) + ((statSync(path).mode & 0o100) === 0 ? '' : ' x');
  return Object.fromEntries(paths.map((path) => [nameOf(path), readFileSync(path, 'utf8')]));
}

const ABCD = 'a\nb\nc\nd\n';
const B = 'a\nB\nc\nd\n';
const header = '--- a/f\n+++ b/f\n';
const HUNK = ' a\n-b\n+B\n c\n';
const EMPTY = 'diff --git a/pkg/__init__.py b/pkg/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n';
const SCRIPT = 'diff --git a/go.sh b/go.sh\nnew file mode 100755\n--- /dev/null\n+++ b/go.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo hi\n';
const SECTIONS =
  '*** Begin Patch\n*** Add File: hello.txt\n+hi\n*** Update File: f\n*** Move to: g\n@@ a\n-b\n+B\n*** Delete File: gone\n*** End Patch';

const renamed = (from: string, to: string) => `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;

describe('a patch', () => {
  let sessions = 0;

  it.each<[what: string, before: Files, patch: string | object, said: string, after?: Files]>([
    ['an empty file', {}, EMPTY, 'Created pkg/__init__.py', { 'pkg/__init__.py': '' }],
    [
      'an empty file beside a change of another',
      { f: ABCD },
      `${EMPTY}diff --git a/f b/f\n${header}@@ -1,3 +1,3 @@\n${HUNK}`,
      'Created pkg/__init__.py\nChanged f',
      { f: B, 'pkg/__init__.py': '' },
    ],
    [
      'a mode',
      { 'run.sh': 'x\n' },
      'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n',
      'Made run.sh executable',
      { 'run.sh x': 'x\n' },
    ],
    [
      'the deletion of an empty file',
      { 'old.txt': '' },
      'diff --git a/old.txt b/old.txt\ndeleted file mode 100644\nindex e69de29..0000000\n',
      'Deleted old.txt',
      {},
    ],
    [
      'a binary file',
      { 'd.txt': 'x\n' },
      'diff --git a/d.txt b/d.txt\nindex 1..2 100644\nBinary files a/d.txt and b/d.txt differ\n',
      'binary',
    ],
    ['a new file that may be executed', {}, SCRIPT, 'Created go.sh', { 'go.sh x': '#!/bin/sh\necho hi\n' }],
    ['a link', {}, SCRIPT.replace('100755', '120000'), 'a symbolic link'],
    ['wrong counts', { f: ABCD }, `${header}@@ -1,4 +1,4 @@\n${HUNK}`, 'Changed f', { f: B }],
    ['a hunk without numbers', { f: ABCD }, `${header}@@\n${HUNK}`, 'Changed f', { f: B }],
    ['a fence', { f: ABCD }, `\`\`\`diff\n${header}@@ -1,4 +1,4 @@\n${HUNK}\`\`\`\n`, 'Changed f', { f: B }],
    ['a hunk with wrong counts that does not fit', { f: 'x\n' }, `${header}@@ -1,4 +1,4 @@\n${HUNK}`, '3 lines before and 3 after'],
    ['a hunk that changes nothing', { f: ABCD }, `${header}@@ -1,2 +1,2 @@\n a\n b\n`, 'changes nothing of f'],
    [
      'renames of which one takes the name of the next',
      { a: 'A\n', 'b x': 'B\n' },
      `${renamed('a', 'b')}${renamed('b', 'c')}`,
      'Renamed a to b\nRenamed b to c',
      { b: 'A\n', 'c x': 'B\n' },
    ],
    [
      'two files that change places',
      { a: 'A\n', b: 'B\n' },
      `${renamed('b', 'a')}${renamed('a', 'b')}`,
      'Renamed b to a\nRenamed a to b',
      { a: 'B\n', b: 'A\n' },
    ],
    [
      'a file that is deleted and made again',
      { f: ABCD },
      '*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+new\n*** End Patch',
      'Deleted f\nCreated f',
      { f: 'new\n' },
    ],
    ['a file that two renames make', { a: 'A\n', b: 'B\n' }, `${renamed('a', 'c')}${renamed('b', 'c')}`, 'it has c twice'],
    ['a rename onto a file that stays', { a: 'A\n', b: 'B\n' }, renamed('a', 'b'), 'which is there already'],
    [
      'sections under the name of their agent',
      { f: ABCD, gone: 'x\n' },
      { patch: SECTIONS },
      'Created hello.txt\nRenamed f to g, and changed it\nDeleted gone',
      { g: B, 'hello.txt': 'hi\n' },
    ],
  ])('does what a patch says, or refuses all of it: %s', async (_what, before, patch, said, after = before) => {
    const sessionId = `patched-${(sessions += 1)}`;
    const root = tenant.workspaceOf(sessionId);
    put(root, before);
    const call = await run('apply_patch', patch, sessionId);
    const text = call.error?.message ?? textOf(call);
    expect({ text, files: filesIn(root) }).toEqual({ text: after === before ? expect.stringContaining(said) : said, files: after });
  });

  it('creates a file that a command can start', async () => {
    await run('file_patch', { patch: SCRIPT, paths: ['go.sh'] }, 'started');
    expect(textOf(await run('shell', { command: './go.sh' }, 'started'))).toBe('hi\n');
  });

  it('evaluates a patch by the paths in it, which become arguments of the call', async () => {
    const patch = '*** Begin Patch\n*** Add File: free\n+x\n*** Update File: a\n*** Move to: secret/b\n*** End Patch';
    const denied = await run('apply_patch', { patch }, 'careful', asCareful);
    expect(denied).toMatchObject({ outcome: 'denied', attempt: 0 });
    const { body } = await agent.request<{ arguments: unknown }>('GET', `/v1/calls/${denied.id}`);
    expect(body.arguments).toEqual({ patch, paths: ['free', 'a', 'secret/b'] });
    const copy = 'diff --git a/secret/b b/c\ncopy from secret/b\ncopy to c\n';
    expect(await run('apply_patch', { patch: copy }, 'careful', asCareful)).toMatchObject({ outcome: 'denied', attempt: 0 });
  });
});

describe('an edit', () => {
  const shell = async (command: string) => textOf(await run('shell', { command }, 'kept'));

  it('keeps byte order marks and permissions unchanged', async () => {
    await shell(`printf '\\xEF\\xBB\\xBFusing A;\\r\\nB\\r\\n' > a.cs; printf 'echo hi\\n' > run.sh; chmod 750 run.sh`);
    const read = textOf(await run('file_read', { path: 'a.cs' }, 'kept'));
    await write('a.cs', read, 'kept');
    await run('file_edit', { path: 'a.cs', insert_text: '// x', insert_line: 0 }, 'kept');
    const patch = '--- a/a.cs\n+++ b/a.cs\n@@ -2,2 +2,2 @@\n using A;\n-B\n+C\n';
    expect(textOf(await run('file_patch', { patch }, 'kept'))).toBe('Changed a.cs');
    expect(await shell('od -An -c a.cs | tr -d " \\n"')).toContain('357273277//x\\r\\nusingA;\\r\\nC\\r\\n');
    expect(textOf(await run('file_search', { query: '^//' }, 'kept'))).toBe('a.cs:1:// x');
    await run('file_copy', { source: 'run.sh', destination: 'copy.sh' }, 'kept');
    expect(await shell('stat -c %a copy.sh')).toContain('750');
  });

  it('keeps the other cells of a notebook byte for byte', async () => {
    const OUTPUTS = String.raw`[{"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}]`;
    const cell = (id: string, source: string, outputs: string) =>
      `  {"cell_type": "code", "id": "${id}", "metadata": {"n": 1.0}, "outputs": ${outputs}, "source": ["${source}"]}`;
    const notebook = (first: string) =>
      `{\n  "cells": [\n${cell('c1', first, '[]')},\n${cell('c2', 'b', OUTPUTS)}\n  ],\n  "metadata": {},\n  "nbformat": 4, "nbformat_minor": 5\n}`;
    await write('n.ipynb', notebook('a'), 'kept');
    await run('notebook_edit', { path: 'n.ipynb', cell_id: 'c1', new_source: 'print(2)' }, 'kept');
    expect(textOf(await run('file_read', { path: 'n.ipynb', raw: true }, 'kept'))).toBe(notebook('print(2)'));
  });

  it('names the character in which a text differs invisibly from the file', async () => {
    await write('near', 'the task list in\u00a0current\n', 'kept');
    await write('quoted', 'it\u2019s\n', 'kept');
    const why = async (path: string, old_text: string) =>
      (await run('file_edit', { path, old_text, new_text: 'x' }, 'kept')).error?.message;
    expect(await why('near', 'the task list in current')).toContain('U+00A0 at column 17');
    expect(await why('quoted', "it's")).toContain('U+2019 at column 3');
    expect(await shell('od -An -tx1 quoted')).toBe(' 69 74 e2 80 99 73 0a\n');
  });
});
