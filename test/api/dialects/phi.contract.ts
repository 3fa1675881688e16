import { describe, expect, it } from '@jest/globals';
import { ToolFactories, ToolyardClient } from '#client';
import { textOf } from '../../support/policy-case.js';
import { type DialectInstallation, speakerOf } from './speaker.js';

/** Contract: output for a model with the dialect phi. */
export function phiContract(started: DialectInstallation): void {
  describe('phi', () => {
    const run = speakerOf(started, 'phi');

    it('gives a loop of phi its tools from factories by name, later ones replacing earlier ones, without unknown names [RP-09]', async () => {
      const sessionId = 'phi-factories';
      const client = new ToolyardClient({ baseUrl: started().agent.url, apiKey: started().agent.key });
      await client.sessions.put(sessionId, { dialect: 'phi' });
      const factories = await ToolFactories.withDefaults(client, { sessionId });
      expect([factories.size, factories.contains('bash'), factories.contains('nope')]).toEqual([6, true, false]);
      const [bash, ...others] = factories.resolve(['bash', 'nope']);
      expect([bash?.declaration.name, others]).toEqual(['bash', []]);
      expect(await bash?.run('{"command":"echo made"}', 'call_made')).toContain('made');
      const declaration = { name: 'bash', parameters: { type: 'object' } };
      const [own] = factories.register('bash', () => ({ declaration, run: async () => 'own' })).resolve(['bash']);
      expect([await own?.run('{}'), factories.size]).toEqual(['own', 6]);
    });

    it('answers a command by exit code and streams as phi does, and a non-zero one is no error [TB-04, K-11]', async () => {
      const failed = await run('bash', { command: 'false' });
      expect([failed.result?.isError ?? false, textOf(failed)]).toEqual([false, 'Exit code: 1\n']);
      expect(failed.result?.details).toMatchObject({ exit_code: 1, success: false });
      expect(textOf(await run('bash', { command: 'echo a; echo b >&2' }))).toBe('Exit code: 0\nSTDOUT:\na\n\nSTDERR:\nb\n');
      const long = textOf(await run('bash', { command: "head -c 300000 /dev/zero | tr '\\0' ." }));
      expect(long).toBe(`Exit code: 0\n${'.'.repeat(262_144)}\n... (output truncated)`);
    });

    it('reads, writes, edits, lists and searches as phi does [K-02, TB-23, TB-27, TB-33, TB-36, TB-52]', async () => {
      const written = await run('write_file', { path: 'p/a.txt', content: 'a\nb' });
      expect([textOf(written), written.result?.details]).toEqual([
        'Wrote 3 bytes to p/a.txt',
        expect.objectContaining({ path: 'p/a.txt', bytes: 3 }),
      ]);
      expect(textOf(await run('read_file', { path: 'p/a.txt' }))).toBe('[2 lines]\n   1 | a\n   2 | b');
      expect(textOf(await run('read_file', { path: 'p/a.txt', offset: 2 }))).toBe('[Lines 2-2 of 2]\n   2 | b');
      expect(textOf(await run('edit_file', { path: 'p/a.txt', old_text: 'a\n', new_text: 'x\ny\n' }))).toBe(
        'Replaced 1 line(s) with 2 line(s) in p/a.txt',
      );
      expect(textOf(await run('edit_file', { path: 'p/none', old_text: 'a', new_text: 'b' }))).toBe(
        'File not found: p/none. Use write_file to create it.',
      );
      expect(textOf(await run('edit_file', { path: 'p/b.txt', old_text: 'a', new_text: 'b' }))).toBe(
        'File not found: p/b.txt. Use write_file to create it. Did you mean p/a.txt?',
      );
      expect(textOf(await run('list_files', { path: 'p' }))).toBe('a.txt\n(1 files)');
      for (const path of ['nowhere', 'P'])
        expect(textOf(await run('list_files', { path }))).toBe(`Directory not found: ${path}. Check the path and try again.`);
      expect(textOf(await run('search', { pattern: 'Y', path: 'p' }))).toBe('p/a.txt:2:y\n1 matches');
      const none = await run('search', { pattern: 'zzz' });
      expect([none.result?.isError ?? false, textOf(none)]).toEqual([false, "No matches found for 'zzz'"]);
      expect(textOf(await run('search', { pattern: '(' }))).toMatch(/^Search error: /);
      await run('bash', { command: 'yes | head -c 1200000 > large' });
      expect(textOf(await run('read_file', { path: 'large' }))).toBe(
        'File too large (1200000 bytes, max 1048576). Use offset/limit for partial reads.',
      );
    });

    it('lists 200 files as phi does, in order, with the total [TB-27]', async () => {
      await run('bash', { command: 'mkdir -p many/target many/deep/.git && cd many && touch target/a deep/.git/b $(seq -w 1 201)' });
      const many = await run('list_files', { path: 'many' });
      const names = Array.from({ length: 200 }, (_, index) => String(index + 1).padStart(3, '0'));
      expect(textOf(many).split('\n')).toEqual([...names, '... (201 files, showing first 200)']);
      expect(many.result?.details).toMatchObject({ total: 201, truncated: true });
      expect(textOf(await run('list_files', { path: 'many', pattern: '20*' }))).toBe('200\n201\n(2 files)');
    });

    it('names faults as phi does [K-13, CC-41, CC-42, VA-13]', async () => {
      expect(textOf(await run('nope', {}))).toBe('Tool not found: nope');
      expect(textOf(await run('read_file', {}))).toBe("Invalid arguments: missing 'path' parameter");
    });
  });
}
