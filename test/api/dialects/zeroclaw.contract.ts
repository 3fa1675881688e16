import { describe, expect, it } from '@jest/globals';
import type { ToolDescriptor } from '#contracts';
import { textOf } from '../../support/policy-case.js';
import { type DialectInstallation, speakerOf } from './speaker.js';

/** Contract: output for a model with the dialect zeroclaw. */
export function zeroclawContract(started: DialectInstallation): void {
  describe('zeroclaw', () => {
    const run = speakerOf(started, 'zeroclaw');

    it('lists a catalog with zeroclaw’s own names, schemas and descriptions [RP-02]', async () => {
      const { body } = await started().agent.get<{ tools: ToolDescriptor[] }>('/v1/tools?dialect=zeroclaw');
      const shell = body.tools.find(({ name }) => name === 'shell');
      expect(shell).toMatchObject({ canonicalName: 'shell', aliases: [], input: { required: ['command'] } });
      expect(Object.keys(shell?.input['properties'] ?? {})).toEqual(['command', 'approved']);
      expect(body.tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['file_read', 'file_write', 'http_request', 'shell', 'web_fetch']),
      );
      expect(body.tools.some(({ name }) => name === 'file_edit')).toBe(false);
    });

    it('answers a command by success, output and error as zeroclaw does [K-12, CC-30, TB-01, TB-02]', async () => {
      const silent = await run('shell', { cmd: 'exit 3' });
      expect([silent.result?.structuredContent, textOf(silent), silent.result?.isError]).toEqual([
        { success: false, output: '', error: 'Exit code: 3' },
        'Exit code: 3',
        true,
      ]);
      const both = await run('shell', { command: 'echo a; echo b >&2' });
      expect(both.result?.structuredContent).toEqual({ success: true, output: 'stdout:\na\n\n\nstderr:\nb\n' });
    });

    it('names a missing parameter as zeroclaw does [VA-10, TB-02, TB-20, TB-30]', async () => {
      for (const [tool, missing] of [
        ['shell', 'command'],
        ['file_read', 'path'],
        ['file_write', 'path'],
      ] as const) {
        const call = await run(tool, {});
        expect([call.error?.code, textOf(call)]).toEqual(['invalid_arguments', `Missing '${missing}' parameter`]);
      }
      expect(textOf(await run('file_write', { path: 'x' }))).toBe("Missing 'content' parameter");
    });

    it('puts refusals of the policy in the words of zeroclaw [TB-20, TB-30, PP-10]', async () => {
      expect(textOf(await run('file_read', { path: '../x' }))).toBe('Path not allowed by security policy: ../x');
      expect(textOf(await run('file_write', { path: '../x', content: '' }))).toBe('Path not allowed: ../x');
      const denied = await run('shell', { command: 'nmap host' }, { agentId: 'strict' });
      expect(textOf(denied)).toMatch(/^Security policy violation: Command not in allowlist/);
      expect(textOf(await run('file_write', { path: '../x', content: '' }, { agentId: 'reader' }))).toBe(
        'Read-only mode: cannot write files',
      );
    });

    it('requests and fetches pages as zeroclaw does [TB-56, TB-57]', async () => {
      const posted = await run('http_request', { url: `${started().origin}/`, method: 'POST', body: 'ping' });
      expect(textOf(posted)).toMatch(/Status: 200 OK\nResponse Headers: .*\n\nResponse Body:\nping/);
      const gone = await run('http_request', { url: `${started().origin}/gone` });
      expect(gone.result?.structuredContent).toMatchObject({ success: false, error: 'HTTP 404' });
      expect(textOf(await run('http_request', { url: 'ftp://x' }))).toBe('Only http:// and https:// URLs are allowed');
      expect(textOf(await run('http_request', { url: ' ' }))).toBe('URL cannot be empty');
      expect(textOf(await run('http_request', { url: 'http://127.0.0.1:1/' }))).toMatch(/^Blocked local\/private host: 127\.0\.0\.1/);
      expect(textOf(await run('web_fetch', { url: `${started().origin}/` }))).toContain('Head');
      expect(textOf(await run('web_fetch', { url: `${started().origin}/image` }))).toContain('Unsupported content type: image/png');
      expect(textOf(await run('web_fetch', { url: `${started().origin}/gone` }))).toMatch(/HTTP 404/);
    });
  });
}
