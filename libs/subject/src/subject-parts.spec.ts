import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue, ToolSubject } from '#contracts';
import { subjectParts } from './subject-parts.js';

const PATH: ToolSubject = { kind: 'path', argument: 'path', access: 'write' };

describe('the parts of arguments', () => {
  it('shows the command first among the parts of arguments, with its real lines', () => {
    const args = { timeout_ms: 5000, command: 'git add .\ngit push --force' };
    expect(subjectParts(args, [{ kind: 'command', argument: 'command' }])).toEqual([
      { kind: 'command', name: 'command', text: 'git add .\ngit push --force' },
      { kind: 'value', name: 'timeout_ms', value: 5000 },
    ]);
  });

  it.each([
    ['old_text', 'new_text'],
    ['old_string', 'new_string'],
  ])('shows %s and %s as an edit', (old, replacement) => {
    expect(subjectParts({ path: 'a.ts', [old]: 'x', [replacement]: 'y', replace_all: true }, [PATH])).toEqual([
      { kind: 'path', name: 'path', text: 'a.ts' },
      { kind: 'edit', name: 'change', before: 'x', after: 'y' },
      { kind: 'value', name: 'replace_all', value: true },
    ]);
  });

  it('shows a list of edits one by one, or as a list if an item is no edit', () => {
    const edit = { old_text: 'x', new_text: 'y' };
    expect(subjectParts({ edits: [edit, edit] }, []).map(({ name }) => name)).toEqual(['change 1', 'change 2']);
    const mixed = [edit, { insert_text: 'z', insert_line: 1 }];
    expect(subjectParts({ edits: mixed }, [])).toEqual([{ kind: 'value', name: 'edits', value: mixed }]);
    const more = [{ ...edit, replace_all: true }];
    expect(subjectParts({ edits: more }, [])).toEqual([{ kind: 'value', name: 'edits', value: more }]);
  });

  it('shows a text in the language of its path, or a patch', () => {
    const sections = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch';
    expect(subjectParts({ path: 'a', patch: sections }, [PATH]).slice(1)).toEqual([{ kind: 'patch', name: 'patch', text: sections }]);
    const patch = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
    expect(subjectParts({ path: 'a.py', content: 'a\nb', patch }, [PATH]).slice(1)).toEqual([
      { kind: 'text', name: 'content', text: 'a\nb', path: 'a.py' },
      { kind: 'patch', name: 'patch', text: patch },
    ]);
  });

  it('shows every argument among the parts', () => {
    const subjects: ToolSubject[] = [
      { kind: 'command', argument: 'command' },
      { kind: 'url', argument: 'url' },
      PATH,
      { kind: 'path', argument: 'files', field: 'path', access: 'read' },
    ];
    const name = fc.constantFrom(
      'command',
      'url',
      'path',
      'files',
      'edits',
      'old_text',
      'new_text',
      'old_string',
      'new_string',
      '__proto__',
      'a',
    );
    const edits = fc.array(fc.record({ old_text: fc.string(), new_text: fc.string(), old_string: fc.string() }, { requiredKeys: [] }));
    const value = fc.oneof(fc.string(), fc.array(fc.string()), edits, fc.jsonValue()) as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (args) => {
        const shown = JSON.stringify(subjectParts(args, subjects));
        for (const text of textsOf(args)) expect(shown).toContain(JSON.stringify(text).slice(1, -1));
      }),
    );
  });
});

function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
