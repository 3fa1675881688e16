import { describe, expect, it } from '@jest/globals';
import type { JsonValue, Result } from '#contracts';
import { tagUntrusted } from '#redaction';
import { noteOf } from './result-note.js';

const result = (text: string, details?: Result['details']) => ({
  content: [{ type: 'text' as const, text }],
  isError: true,
  ...(details === undefined ? {} : { details }),
});

describe('the note of an error result', () => {
  it('notes of an error result how the program ended', () => {
    expect(noteOf(result('boom', { exitCode: 2, signal: null }))).toBe('exit 2');
    expect(noteOf(result('boom', { exitCode: -1, signal: 'SIGSEGV' }))).toBe('signal SIGSEGV');
    expect(noteOf(result('boom', { exitCode: 2, errorLine: 'error: missing semicolon' }))).toBe('exit 2 · error: missing semicolon');
    expect(noteOf(result('boom', { exitCode: -1, signal: 'SIGABRT', errorLine: ' core\n' }))).toBe('signal SIGABRT · core');
    expect(noteOf(result('boom', { exitCode: 2, errorLine: 'x'.repeat(500) }))).toBe(`exit 2 · ${'x'.repeat(190)}…`);
  });

  it('notes the first line of the text of any other tool, cut to 200 characters and never within a character', () => {
    expect(noteOf(result('\n  No such page  \nmore', { exitCode: 0 }))).toBe('No such page');
    expect(noteOf({ content: [], isError: true })).toBeUndefined();
    const long = noteOf(result(`${'x'.repeat(198)}\u{1F600}\u{1F600}`));
    expect(long).toBe(`${'x'.repeat(198)}…`);
  });

  it('notes the message of a JSON error, in any of its forms', () => {
    const forms: JsonValue[] = [
      { error: 'no such pet' },
      { error: { code: 7, message: 'no such pet' } },
      { statusCode: 404, message: 'no such pet', error: 'Not Found' },
      { statusCode: 400, message: ['no such pet', 'no such name'] },
      { type: 'about:blank', title: 'Not Found', status: 404, detail: 'no such pet' },
      { detail: [{ loc: ['id'], msg: 'no such pet' }] },
      { errors: [{ title: 'no such pet' }] },
      { error: 'invalid_request', error_description: 'no such pet' },
      { error: true, message: ' no such pet\nat line 1' },
    ];
    const answer = (body: string) => noteOf(result(`GET http://a/b → 404\n\n${body}`, { status: 404, method: 'GET' }));
    for (const form of forms) {
      expect(noteOf(result(JSON.stringify(form, null, 1)))).toBe('no such pet');
      expect(noteOf({ content: [{ type: 'json', json: form }], isError: true })).toBe('no such pet');
      expect(answer(JSON.stringify(form))).toBe('404: no such pet');
    }
    expect(noteOf({ ...result('GET http://a/b → 404\n\n{"a":', { status: 404 }), structuredContent: { error: 'long' } })).toBe('404: long');
    expect([answer('no pet\nhere'), answer('<html>'), answer('{"a":1}'), answer('')]).toEqual([
      '404: no pet',
      '404 Not Found',
      '404: {"a":1}',
      '404 Not Found',
    ]);
    expect(noteOf(result('{"ok":false}'))).toBe('{"ok":false}');
  });

  it('leaves out of a note the mark of content from outside', () => {
    const provenance = { trust: 'untrusted', origin: 'pets' } as const;
    const marked = (content: Result['content']) => noteOf({ content: tagUntrusted(content, 'pets'), isError: true, provenance });
    expect(marked([{ type: 'text', text: '{"error":"no such pet"}' }])).toBe('no such pet');
    expect(marked([{ type: 'text', text: 'no such pet' }])).toBe('no such pet');
    expect(marked([{ type: 'json', json: { error: 'no such pet' } }])).toBe('no such pet');
    expect(marked([{ type: 'image', data: 'aGk=', mimeType: 'image/png' }])).toBeUndefined();
  });

  it('notes the feedback of a hook on an invalid result', () => {
    const remarks = { denied: true, runs: [], text: 'Hook feedback (denied):\nnot on Fridays' };
    expect(noteOf({ ...result('fine'), isError: false }, remarks)).toBe('not on Fridays');
  });
});
