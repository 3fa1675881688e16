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

describe('a patch', () => {
  it('takes sections under the name of their agent, with files that may be executed', async () => {
    await write('a', 'one\ntwo\n', 'sections');
    await write('gone', 'x\n', 'sections');
    const sections =
      '*** Begin Patch\n*** Add File: hello.txt\n+hi\n*** Update File: a\n*** Move to: b\n@@ one\n-two\n+2\n*** Delete File: gone\n*** End Patch';
    expect(textOf(await run('apply_patch', { patch: sections }, 'sections'))).toBe(
      'Created hello.txt\nRenamed a to b, and changed it\nDeleted gone',
    );
    expect(textOf(await run('file_list', {}, 'sections'))).toBe('b\nhello.txt');
    const script = 'diff --git a/go.sh b/go.sh\nnew file mode 100755\n--- /dev/null\n+++ b/go.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo hi\n';
    expect(textOf(await run('file_patch', script, 'sections'))).toBe('Created go.sh');
    expect(textOf(await run('shell', { command: './go.sh' }, 'sections'))).toContain('hi');
  });

  it('evaluates a patch by the paths in it, which the call then has among its arguments', async () => {
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

  it('leaves byte order marks, permissions and other cells of a notebook as they are', async () => {
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
    const cell = (id: string, source: string) =>
      `  {"cell_type": "code", "id": "${id}", "metadata": {"n": 1.0}, "outputs": [], "source": ["${source}"]}`;
    const notebook = (first: string) =>
      `{\n  "cells": [\n${cell('c1', first)},\n${cell('c2', 'b')}\n  ],\n  "metadata": {},\n  "nbformat": 4, "nbformat_minor": 5\n}`;
    await write('n.ipynb', notebook('a'), 'kept');
    await run('notebook_edit', { path: 'n.ipynb', cell_id: 'c1', new_source: 'print(2)' }, 'kept');
    expect(textOf(await run('file_read', { path: 'n.ipynb', raw: true }, 'kept'))).toBe(notebook('print(2)'));
  });

  it('names the character in which its text only looks like the file', async () => {
    await write('near', 'the task list in\u00a0current\n', 'kept');
    const args = { path: 'near', old_text: 'the task list in current', new_text: 'x' };
    expect((await run('file_edit', args, 'kept')).error?.message).toContain('U+00A0 at column 17');
  });
});
