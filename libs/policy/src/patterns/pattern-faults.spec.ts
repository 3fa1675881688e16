import { describe, expect, it } from '@jest/globals';
import { ConfigFile } from '#contracts';
import { configPatternFaults, sessionPatternFaults } from './pattern-faults.js';

const faults = (file: object) => configPatternFaults(ConfigFile.parse(file)).map(({ path }) => path.join('.'));
const key = { id: 'a', key: 'sixteen-characters-or-more', tenant: 'acme' };
const hook = { name: 'h', on: 'before', url: 'https://example.com', match: ['!shell'] };

describe('a negated pattern', () => {
  it('accepts a negated pattern among the tools of keys if the negated part is valid', () => {
    expect(faults({ keys: [{ ...key, tools: ['!shell', '!file_[ab]*'] }] })).toEqual([]);
    expect(faults({ keys: [{ ...key, tools: ['!shell', '!file_[!r]*'] }] })).toEqual(['keys.0.tools.1']);
  });

  it('refuses a negated pattern in every other list of tools', () => {
    const policy = { tools: ['*', '!a'], exclude: ['!a'], allowedTools: ['!a'], toolsSettings: { '!a': {} }, deferredTools: ['!a'] };
    expect(faults({ policy: { ...policy, paths: { trusted: [{ tools: ['!a'] }] } }, hooks: [hook] }).toSorted()).toEqual([
      'hooks.0.match.0',
      'policy.allowedTools.0',
      'policy.deferredTools.0',
      'policy.exclude.0',
      'policy.paths.trusted.0.tools.0',
      'policy.tools.1',
      'policy.toolsSettings.!a',
    ]);
    expect(faults({ agents: { bot: { tools: ['*', '!a'] } } })).toEqual(['agents.bot.tools.1']);
    const source = { kind: 'mcp', name: 's', url: 'https://example.com/mcp', include: ['!a'], exclude: ['b', '!c'] };
    expect(faults({ sources: [source] })).toEqual(['sources.0.include.0', 'sources.0.exclude.1']);
    const agent = { kind: 'agent', name: 'w', description: 'x', model: { provider: 'anthropic', name: 'm', url: 'https://example.com' } };
    expect(faults({ sources: [{ ...agent, tools: ['*', '!shell'] }] })).toEqual(['sources.0.tools.1']);
    const webhook = { name: 'w', url: 'https://example.com', secretEnv: 'A', tools: ['!a'] };
    expect(faults({ tenants: { acme: { webhooks: [webhook] } } })).toEqual(['tenants.acme.webhooks.0.tools.0']);
    expect(sessionPatternFaults({ tools: ['*', '!shell'] })).toEqual([
      { path: ['tools', 1], message: 'expected the tools that are meant, in place of !shell: only the tools of keys are negated' },
    ]);
  });
});
