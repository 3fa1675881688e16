import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ToolName } from '#contracts';
import { catalogNames, mappedName, type NamedTool } from './tool-names.js';

const source = fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/);
const alike = fc.stringMatching(/^a[-_][ab][-_]?$/);
const tools = fc
  .uniqueArray(fc.record({ source, rawName: fc.oneof(fc.string({ minLength: 1, maxLength: 128 }), alike) }), {
    maxLength: 30,
    selector: (it) => JSON.stringify(it),
  })
  .map((list) => list.map((it): NamedTool => ({ source: it.source, name: mappedName(it.source, it.rawName) })));

describe('names of tools of sources', () => {
  it('makes valid names for tools of sources, also with the source in front, and keeps valid names', () => {
    fc.assert(
      fc.property(source, fc.string({ minLength: 1, maxLength: 200 }), (from, rawName) => {
        const name = mappedName(from, rawName);
        expect(ToolName.safeParse(name).success && ToolName.safeParse(`${from}__${name}`).success).toBe(true);
        expect(mappedName(from, rawName)).toBe(name);
      }),
    );
    expect(mappedName('github', 'create_issue')).toBe('create_issue');
    expect(mappedName('github', 'issues.create')).not.toBe(mappedName('github', 'issues/create'));
  });

  it('makes unique names for tools of sources, and takes none from others', () => {
    fc.assert(
      fc.property(tools, fc.array(fc.constantFrom('shell', 'echo', 'file_read')), (list, builtin) => {
        const unique = list.filter(
          (it, index) => list.findIndex((other) => other.source === it.source && other.name === it.name) === index,
        );
        const catalog = catalogNames(unique, new Set(builtin));
        const names = catalog.map(({ name }) => name);
        expect(new Set(names.map((it) => it.replaceAll('-', '_'))).size).toBe(names.length);
        for (const { name, aliases } of catalog)
          for (const it of [name, ...aliases]) expect([it, ToolName.safeParse(it).success]).toEqual([it, true]);
        for (const name of builtin) expect(names).not.toContain(name);
      }),
    );
  });

  it('puts the source in front of names that two sources, or a built-in tool, have', () => {
    const named = (...list: [string, string][]) => list.map(([from, name]) => ({ source: from, name }));
    expect(
      catalogNames(named(['a', 'x'], ['b', 'x'], ['b', 'y'], ['b', 'shell'], ['b', 'a__z']), new Set(['shell'])).map(({ name }) => name),
    ).toEqual(['a__x', 'b__x', 'y', 'b__shell', 'b__a__z']);
  });

  it('keeps tool names distinct for clients that write _ for -, and resolves the names of policies as aliases', () => {
    const tools = ['get-user', 'get_user', 'add-user'].map((name) => ({ source: 'a', name }));
    expect(catalogNames(tools, new Set(['add_user']))).toEqual([
      { name: expect.stringMatching(/^a__get-user_[0-9a-f]{8}$/), aliases: ['a__get-user'] },
      { name: 'a__get_user', aliases: [] },
      { name: 'a__add-user', aliases: [] },
    ]);
  });
});
