import { describe, expect, it } from '@jest/globals';
import { noteOf } from './result-note.js';

const result = (text: string, details?: Record<string, string | number | null>) => ({
  content: [{ type: 'text' as const, text }],
  isError: true,
  ...(details === undefined ? {} : { details }),
});

describe('the note of an error result', () => {
  it('says how the program ended', () => {
    expect(noteOf(result('boom', { exitCode: 2, signal: null }))).toBe('exit 2');
    expect(noteOf(result('boom', { exitCode: -1, signal: 'SIGSEGV' }))).toBe('signal SIGSEGV');
  });

  it('is the first line of the text of any other tool, cut to 80 characters and never within a character', () => {
    expect(noteOf(result('\n  No such page  \nmore', { exitCode: 0 }))).toBe('No such page');
    expect(noteOf({ content: [], isError: true })).toBeUndefined();
    const long = noteOf(result(`${'x'.repeat(78)}\u{1F600}\u{1F600}`));
    expect(long).toBe(`${'x'.repeat(78)}…`);
  });

  it('is what a hook had against a result that was none', () => {
    const remarks = { denied: true, runs: [], text: 'Hook feedback (denied):\nnot on Fridays' };
    expect(noteOf({ ...result('fine'), isError: false }, remarks)).toBe('not on Fridays');
  });
});
