import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../support/policy-case.js';
import { type DialectInstallation, jsonOf, speakerOf } from './speaker.js';

/** Contract: output for a model with the dialect claude-code. */
export function claudeCodeContract(started: DialectInstallation): void {
  describe('claude-code', () => {
    const run = speakerOf(started, 'claude-code');

    it('answers commands as JSON as claude-code does [TB-03, EX-28]', async () => {
      expect(jsonOf(await run('bash', { command: 'exit 2' }))).toMatchObject({
        returnCodeInterpretation: 'exit_code:2',
        interrupted: false,
      });
      expect(jsonOf(await run('bash', { command: 'echo a', description: 'says a' }))).toMatchObject({
        stdout: 'a\n',
        returnCodeInterpretation: null,
      });
      expect(jsonOf(await run('bash', { command: 'sleep 20', timeout: 200 }))).toMatchObject({
        stderr: 'Command exceeded timeout of 200 ms',
        interrupted: true,
        returnCodeInterpretation: 'timeout',
      });
    });

    it('reads, writes and edits files as claude-code does [K-02, TB-22, TB-32, TB-35]', async () => {
      const created = jsonOf(await run('write_file', { path: 'c/a', content: 'one\ntwo\ntwo\n' }));
      expect(created).toMatchObject({ type: 'create', filePath: 'c/a', originalFile: null });
      expect(jsonOf(await run('read_file', { path: 'c/a', offset: 1, limit: 1 }))).toEqual({
        type: 'text',
        file: { filePath: 'c/a', content: 'two\n', startLine: 2, numLines: 1, totalLines: 3 },
      });
      const edited = jsonOf(await run('edit_file', { path: 'c/a', old_string: 'two', new_string: 'three' }));
      expect(edited).toMatchObject({
        originalFile: 'one\ntwo\ntwo\n',
        replaceAll: false,
        structuredPatch: [{ lines: expect.arrayContaining(['-two', '+three']) }],
      });
      expect(jsonOf(await run('read_file', { path: 'c/a' }))).toMatchObject({ file: { content: 'one\nthree\ntwo\n' } });
      expect(jsonOf(await run('write_file', { path: 'c/a', content: 'new' }))).toMatchObject({
        type: 'update',
        originalFile: 'one\nthree\ntwo\n',
      });
      expect(textOf(await run('edit_file', { path: 'c/a', old_string: 'q', new_string: 'r' }))).toBe('old_string not found in file');
      expect(textOf(await run('edit_file', { path: 'c/a', old_string: 'q', new_string: 'q' }))).toBe(
        'old_string and new_string must differ',
      );
    });

    it('finds files and lines as claude-code does [TB-50, TB-51]', async () => {
      await run('bash', { command: "mkdir -p g && printf 'a\\nmatch\\nb\\n' > g/1.ts && cp g/1.ts g/2.ts" });
      expect(jsonOf(await run('glob_search', { pattern: 'g/*.ts' }))).toMatchObject({ numFiles: 2, truncated: false });
      const around = jsonOf(await run('grep_search', { pattern: 'MATCH', path: 'g/1.ts', output_mode: 'content', '-C': 1, '-i': true }));
      expect(around).toMatchObject({ mode: 'content', content: 'g/1.ts-1-a\ng/1.ts:2:match\ng/1.ts-3-b', numLines: 3 });
      expect(jsonOf(await run('grep_search', { pattern: 'match', path: 'g', head_limit: 1 }))).toMatchObject({
        filenames: ['g/1.ts'],
        appliedLimit: 1,
      });
    });

    it('fetches, waits, edits notebooks and stores todos as claude-code does [TB-09, TB-39, TB-59, TB-113, K-23]', async () => {
      const page = jsonOf(await run('WebFetch', { url: `${started().origin}/`, prompt: 'What is the title?' }));
      expect(page).toMatchObject({ code: 200, codeText: 'OK', result: `Fetched ${started().origin}/\nTitle: X` });
      expect(jsonOf(await run('Sleep', { duration_ms: 10 }))).toEqual({ duration_ms: 10, message: 'Slept for 10ms' });
      const notebook = {
        cells: [{ cell_type: 'code', id: 'c1', metadata: {}, outputs: [], source: [] }],
        metadata: {},
        nbformat: 4,
        nbformat_minor: 5,
      };
      await run('write_file', { path: 'n.ipynb', content: JSON.stringify(notebook) });
      const inserted = jsonOf(
        await run('NotebookEdit', {
          notebook_path: 'n.ipynb',
          cell_id: 'c1',
          cell_type: 'markdown',
          edit_mode: 'insert',
          new_source: '# x',
        }),
      );
      expect(inserted).toMatchObject({ edit_mode: 'insert', cell_type: 'markdown', language: 'python', notebook_path: 'n.ipynb' });
      const todos = [{ content: 'a', activeForm: 'b', status: 'pending' }];
      expect(jsonOf(await run('TodoWrite', { todos }))).toEqual({ oldTodos: [], newTodos: todos });
      expect(textOf(await run('NotebookEdit', { notebook_path: 'a.txt', new_source: '' }))).toBe(
        'File must be a Jupyter notebook (.ipynb file).',
      );
    });

    it('sets settings, gives structured answers and sends messages as claude-code does [TB-98, TB-99, TB-118]', async () => {
      expect(jsonOf(await run('Config', { setting: 'verbose', value: 'true' }))).toMatchObject({
        success: true,
        operation: 'set',
        newValue: true,
      });
      const unknown = await run('Config', { setting: 'nonsense' });
      expect([jsonOf(unknown), unknown.result?.isError]).toEqual([expect.objectContaining({ success: false }), true]);
      expect(jsonOf(await run('StructuredOutput', { city: 'Berlin' }))).toMatchObject({ structured_output: { city: 'Berlin' } });
      expect(jsonOf(await run('SendUserMessage', { message: 'done', status: 'normal' }))).toMatchObject({ message: 'done' });
      expect(textOf(await run('SendUserMessage', { message: ' ', status: 'normal' }))).toBe('message must not be empty');
    });

    it('refuses names and arguments that claude-code does not have [K-13, CC-46, VA-05, VA-13]', async () => {
      expect(textOf(await run('x', {}))).toBe('unknown tool: x');
      expect(textOf(await run('reed_file', {}))).toBe('unknown tool: reed_file\nDid you mean: read_file?');
      expect(textOf(await run('read_file', { path: 'a', x: 1 }))).toMatch(/unknown parameter 'x'/);
    });

    it('starts background commands, runs code, finds tools and sub-agents by the names of claude-code', async () => {
      const started = jsonOf(await run('bash', { command: 'sleep 60', run_in_background: true }));
      expect(started).toMatchObject({ stdout: '', backgroundTaskId: expect.stringMatching(/^[0-9a-f]+-/) });
      const { backgroundTaskId: task_id } = started as { backgroundTaskId: string };
      expect((await run('shell_stop', { task_id }, { dialect: 'core' })).outcome).toBe('completed');
      expect(textOf(await run('REPL', { code: 'print(1+1)', language: 'py' }))).toContain('2');
      expect(textOf(await run('REPL', { code: ' ', language: 'py' }))).toBe('code must not be empty');
      expect(jsonOf(await run('ToolSearch', { query: 'notebook', max_results: 1 }))).toMatchObject({ matches: ['NotebookEdit'] });
      expect(jsonOf(await run('ToolSearch', { query: 'select:bash,WebFetch,code' }))).toMatchObject({ matches: ['bash', 'WebFetch'] });
      const refused = await run('Agent', { description: 'looks', prompt: 'x', subagent_type: 'Explore' });
      expect(textOf(refused)).toContain("Unknown agent 'explore'. Available agents: none");
    });
  });
}
