import { describe, expect, it } from '@jest/globals';
import type { NameRules } from '#contracts';
import { acceptOffer, type OfferedTool } from './offered-tool.js';
import { renameTool } from './rename-tool.js';

const tool = (rawName: string): OfferedTool => ({ rawName, input: { type: 'object' } });
const offered = (names: NameRules, ...rawNames: string[]) =>
  acceptOffer(rawNames.map(tool), { name: 'api', kind: 'mcp', trust: false, names });

describe('names of tools by the rules of their source', () => {
  it('limits the length of a name, for any replacements', () => {
    const replace = Array.from({ length: 50 }, () => ({ from: 'a', to: 'a'.repeat(64) }));
    expect(renameTool('a', { replace })).toHaveLength(256);
    expect(renameTool('_'.repeat(10_000_000), { replace: [{ from: '_', to: '-' }], prefix: 'x' })).toBe(`x${'-'.repeat(256)}`);
  });

  it('keeps the decisions of a person if only names change by rules', () => {
    const digests = (names?: NameRules) => {
      const list = [tool('get.user'), { ...tool('send'), label: 'Send' }];
      return acceptOffer(list, { name: 'api', kind: 'mcp', trust: false, names }).tools.map(({ digest }) => digest);
    };
    expect(digests({ replace: [], prefix: 'x_' })).toEqual(digests());
    // Another digest would make the tools of all sources wait.
    expect(digests().map((it) => it.slice(0, 8))).toEqual(['b2f224ab', '53454614']);
  });

  it('gives the name to the preferred one of two tools that rules rename alike', () => {
    const names = { replace: [{ from: '-', to: '_' }] };
    const wanted = (exclude: string[]) =>
      acceptOffer(['get_user', 'get-user'].map(tool), { name: 'api', kind: 'mcp', trust: false, names, exclude });
    expect(wanted(['get-user'])).toMatchObject({ tools: [{ rawName: 'get_user' }], problems: [] });
    expect(wanted([]).tools).toEqual([]);
  });

  it('leaves out all tools that the rules give one name, whichever is listed first', () => {
    const rules = { replace: [{ from: 'v2_', to: '' }] };
    for (const names of [
      ['send', 'v2_send', 'other'],
      ['v2_send', 'send', 'other'],
    ]) {
      const { tools, problems } = offered(rules, ...names);
      expect(tools.map(({ rawName }) => rawName)).toEqual(['other']);
      expect(problems).toEqual(names.slice(0, 2).map((name) => expect.stringMatching(`"${name}": .*the name send, too`)));
    }
  });
});
