import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { subjectText } from './subject-line.js';

const SHELL = [
  { kind: 'command', argument: 'command' },
  { kind: 'path', argument: 'working_dir', access: 'read' },
] as const;
const SEARCH = [{ kind: 'path', argument: 'path', access: 'read' }] as const;

describe('the subject of a call', () => {
  it('shows as subject of a call the command, the path, the pattern in a path, or else the arguments by name', () => {
    expect(subjectText('{"command":"cd app\\n  make","working_dir":"x"}', SHELL)).toBe('$ cd app ⏎ make');
    expect(subjectText('{"path":"src/login.ts"}', SEARCH)).toBe('src/login.ts');
    expect(subjectText('{"pattern":"TODO","path":"src"}', SEARCH)).toBe('TODO in src');
    expect(subjectText('{"n":1,"deep":{"a":[true]}}')).toBe('n: 1  deep: {"a":[true]}');
    expect(subjectText('{}')).toBe('');
  });

  it('reads the subject of a call from a preview cut anywhere', () => {
    const whole = JSON.stringify({ command: 'echo "a\u{1F600}b" \\ c', timeout_ms: 5000 });
    expect(subjectText(whole.slice(0, 20), SHELL)).toBe('$ echo "a');
    for (let end = 0; end <= whole.length; end += 1) expect(typeof subjectText(whole.slice(0, end), SHELL)).toBe('string');
  });

  it('returns a subject text for a call with any arguments', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, cut) => {
        expect(typeof subjectText(JSON.stringify(value).slice(0, cut), SHELL)).toBe('string');
      }),
    );
  });
});
