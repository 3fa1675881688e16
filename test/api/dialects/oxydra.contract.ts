import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../support/policy-case.js';
import { type DialectInstallation, jsonOf, speakerOf } from './speaker.js';

/** Contract: output for a model with the dialect oxydra. */
export function oxydraContract(started: DialectInstallation): void {
  describe('oxydra', () => {
    const run = speakerOf(started, 'oxydra');

    it('answers with plain texts as oxydra does [K-12, CC-32, TB-21, TB-28, TB-31, TB-37, TB-38, TB-40, TB-53]', async () => {
      expect(textOf(await run('file_write', { path: 'o/a', content: 'one\ntwo' }))).toBe('wrote 7 bytes to o/a');
      expect((await run('file_read', { path: 'o/a' })).result?.content).toEqual([{ type: 'text', text: 'one\ntwo' }]);
      expect(textOf(await run('file_edit', { path: 'o/a', old_text: 'two', new_text: 'three' }))).toBe('updated o/a');
      expect(textOf(await run('file_list', { path: 'o' }))).toBe('a');
      expect(textOf(await run('file_search', { path: 'o', query: 'three' }))).toBe('o/a:2:three');
      expect(textOf(await run('file_search', { path: 'o', query: 'none' }))).toBe('no matches found');
      expect(textOf(await run('vault_copyto', { source_path: 'o/a', destination_path: 'copy' }))).toBe('copied 9 bytes to copy');
      expect(textOf(await run('file_delete', { path: 'copy' }))).toBe('deleted file copy');
      expect(textOf(await run('file_delete', { path: 'o' }))).toBe('deleted directory o');
    });

    it('wraps errors for the model of oxydra [K-13, CC-45, VA-06, VA-13, TB-21, TB-37]', async () => {
      await run('file_write', { path: 'errors', content: 'aa' });
      const texts = [
        ['file_read', { path: 7 }, /^Tool execution failed: invalid arguments for tool file_read: .*path/],
        ['file_read', {}, "Tool execution failed: invalid arguments for tool file_read: missing required field 'path' in arguments"],
        [
          'file_read',
          { path: 'none' },
          /^Tool execution failed: tool execution failed for file_read: failed to read `none`: File not found/,
        ],
        ['file_edit', { path: 'errors', old_text: '', new_text: 'b' }, /old_text must not be empty$/],
        ['file_edit', { path: 'errors', old_text: 'x', new_text: 'b' }, /old_text was not found in target file$/],
        ['file_edit', { path: 'errors', old_text: 'a', new_text: 'b' }, /old_text matched 2 locations; provide a more specific snippet$/],
        ['file_search', { path: '.', query: '' }, /query must not be empty$/],
        ['zzz', {}, 'Tool execution failed: tool execution failed for zzz: unknown tool `zzz`'],
      ] as const;
      for (const [tool, args, text] of texts)
        expect([tool, textOf(await run(tool, args))]).toEqual([tool, typeof text === 'string' ? text : expect.stringMatching(text)]);
    });

    it('runs commands of oxydra in the shell of the session [TB-05]', async () => {
      expect(textOf(await run('shell_exec', { command: 'mkdir -p deep && cd deep' }))).toBe('command completed with no output');
      expect(textOf(await run('shell_exec', { command: 'pwd' }))).toMatch(/\/deep\n$/);
      expect(textOf(await run('shell_exec', { command: 'echo a; exit 3' }))).toMatch(/command exited with status 3: a\n$/);
    });

    it('answers a page as JSON as oxydra does [TB-58]', async () => {
      const page = jsonOf(await run('web_fetch', { url: `${started().origin}/image` }));
      expect(page).toMatchObject({
        mode: 'metadata_only',
        note: 'binary content omitted to reduce token usage',
        output_format: 'auto',
        body: null,
      });
    });
  });
}
