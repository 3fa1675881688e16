import { describe, expect, it } from '@jest/globals';
import type { Batch } from '#contracts';
import { IMAGES } from '../../../libs/tools/src/testing/images.js';
import { textOf } from '../../support/policy-case.js';
import { type DialectInstallation, jsonOf, speakerOf } from './speaker.js';

const PNG = IMAGES['image/png'].toString('base64');

/** Contract: output for a model with the dialect kiro. */
export function kiroContract(started: DialectInstallation): void {
  describe('kiro', () => {
    const run = speakerOf(started, 'kiro');

    it('reads several files and folders in one call as kiro does, also by its older names [K-12, CC-14, TB-24, TB-26]', async () => {
      await run('write', { command: 'create', path: 'k/a.txt', content: 'one\ntwo\nthree' });
      await run('shell', { command: `base64 -d <<< ${PNG} > k/p.png` });
      const operations = [
        { mode: 'Line', path: 'k/a.txt', offset: 1, limit: 1 },
        { mode: 'Directory', path: 'k' },
        { mode: 'Image', image_paths: ['k/p.png'] },
      ];
      for (const name of ['read', 'fs_read', 'fsRead']) {
        const call = await run(name, { operations });
        expect([call.tool, call.result?.content.map((item) => item.type)]).toEqual(['file_read', ['text', 'text', 'image']]);
        expect(call.result?.content[0]).toEqual({ type: 'text', text: 'two\n' });
      }
      expect(textOf(await run('ls', { path: 'k' }))).toContain('k/a.txt');
      expect((await run('imageRead', { image_paths: ['k/p.png'] })).result?.content).toMatchObject([
        { type: 'image', mimeType: 'image/png' },
      ]);
      const missing = textOf(
        await run('read', {
          operations: [
            { mode: 'Line', path: 'k/b' },
            { mode: 'Line', path: 'k/c' },
          ],
        }),
      );
      expect(missing).toMatch(/k\/b.*, .*k\/c/s);
    });

    it('continues a long file without a gap as kiro does [EX-45]', async () => {
      const lines = Array.from({ length: 3_000 }, (_unused, n) => `${n} ${'.'.repeat(95)}\n`);
      await run('write', { command: 'create', path: 'long', content: lines.join('') });
      const first = textOf(await run('read', { operations: [{ mode: 'Line', path: 'long' }] }));
      const [note = '', to = '', next = ''] =
        /\n\.\.\.truncated \(showing lines 1-(\d+) of 3000\)\. Use offset: (\d+) to continue reading\.$/.exec(first) ?? [];
      expect(to).toBe(next);
      const rest = textOf(await run('read', { operations: [{ mode: 'Line', path: 'long', offset: Number(next) }] }));
      expect(first.slice(0, first.length - note.length) + rest === lines.join('')).toBe(true);
    });

    it('creates, replaces and inserts files as kiro does [TB-34]', async () => {
      expect(textOf(await run('fs_write', { command: 'create', path: 'w', content: 'a\nb' }))).toBe('Successfully created w (2 lines).');
      expect(textOf(await run('write', { command: 'insert', path: 'w', content: 'c' }))).toBe(
        'Successfully inserted 1 line(s) at end of file in w.',
      );
      expect(textOf(await run('read', { operations: [{ mode: 'Line', path: 'w' }] }))).toBe('a\nb\nc\n');
      expect(textOf(await run('write', { command: 'insert', path: 'w', content: 'x', insertLine: 0 }))).toBe(
        'Successfully inserted 1 line(s) at line 0 in w.',
      );
      expect(textOf(await run('write', { command: 'strReplace', path: 'w', oldStr: 'b', newStr: 'a' }))).toBe(
        'Successfully replaced 1 occurrence(s) in w.',
      );
      expect(textOf(await run('write', { command: 'strReplace', path: 'w', oldStr: 'a', newStr: 'b' }))).toBe(
        '2 occurrences of old_str were found when only 1 is expected',
      );
      expect(textOf(await run('write', { command: 'strReplace', path: 'w', oldStr: 'q', newStr: 'b' }))).toBe(
        'no occurrences of "q" were found',
      );
      expect(textOf(await run('write', { command: 'insert', path: 'w', content: '' }))).toMatch(/Content to insert must not be empty$/);
      expect(textOf(await run('write', { command: 'create', path: '', content: '' }))).toMatch(/Path must not be empty$/);
    });

    it('answers commands as JSON as kiro does [TB-06]', async () => {
      await run('shell', { command: 'mkdir -p sub' });
      const there = jsonOf(await run('execute_bash', { command: 'pwd; exit 2', working_dir: 'sub' }));
      expect(there).toEqual({ exit_status: '2', stdout: expect.stringMatching(/\/sub\n$/), stderr: '' });
      expect(textOf(await run('shell', { command: ' ' }))).toMatch(/Command must not be empty$/);
      expect(textOf(await run('shell', { command: 'ls', working_dir: 'nowhere' }))).toBe('Working directory is not a directory: nowhere');
    });

    it('searches names and contents of files as kiro does [TB-54, TB-55]', async () => {
      await run('shell', { command: 'mkdir -p s && for n in 1 2 3; do echo match > s/$n.txt; done; echo other > s/4.txt' });
      const found = jsonOf(await run('grep', { pattern: 'match', path: 's', max_files: 2, output_mode: 'files_with_matches' }));
      expect(found).toMatchObject({ numFiles: 2, truncated: true, results: [{ file: 's/1.txt' }, { file: 's/2.txt' }] });
      expect(jsonOf(await run('grep', { pattern: 'match"', path: 's', max_files: 1_000 }))).toMatchObject({
        numMatches: 3,
        numFiles: 3,
        truncated: false,
      });
      expect(jsonOf(await run('grep', { pattern: 'zzz' }))).toMatchObject({ message: 'No matches found for pattern: zzz' });
      expect(jsonOf(await run('glob', { pattern: 's/*.txt', limit: 3 }))).toMatchObject({ totalFiles: 4, truncated: true });
      expect(textOf(await run('glob', { pattern: ' ' }))).toMatch(/Glob pattern cannot be empty$/);
    });

    it('distinguishes the three parse failures of kiro, with the context of an error [K-13, CC-47, CC-48, VA-08, VA-13]', async () => {
      expect(textOf(await run('zzz', {}))).toBe(`Failed to parse the tool use: A tool with the name 'zzz' does not exist`);
      expect(textOf(await run('shell', { command: 7 }))).toMatch(
        /^Failed to parse the tool use: The tool input does not match the tool schema: .*command/,
      );
      expect(textOf(await run('grep', { pattern: '(' }))).toMatch(/^Failed to parse the tool use: The tool arguments failed validation: /);
      expect(textOf(await run('read', { operations: [{ mode: 'Line', path: 'k' }] }))).toMatch(/^\S.*: .*directory/);
    });

    it('runs nothing of a batch of kiro with a refused call [RP-27]', async () => {
      const calls = [
        { tool: 'shell', arguments: { command: 'touch ran' } },
        { tool: 'zzz', arguments: {} },
      ].map((call) => ({ ...call, dialect: 'kiro' }));
      const { body } = await started().agent.request<Batch>('POST', '/v1/batches', { sessionId: 'in-kiro', calls }, { prefer: 'wait=30' });
      expect(body.onFailure).toBe('abort');
      expect(textOf(await run('shell', { command: 'ls ran' }))).toContain('No such file');
    });

    it('stores tasks as kiro does [TB-114, K-23]', async () => {
      const tasks = [{ task_description: 'one' }, { task_description: 'two' }];
      const list = jsonOf(await run('todo_list', { command: 'create', task_list_description: 'all', tasks }));
      expect(list).toMatchObject({
        description: 'all',
        tasks: [
          { task_description: 'one', completed: false },
          { task_description: 'two', completed: false },
        ],
      });
      expect(textOf(await run('task', { command: 'add' }))).toMatch(/No tasks were provided$/);
    });
  });
}
