import { describe, expect, it } from '@jest/globals';
import { ConfigFile } from '../config/config-file.js';

const model = { provider: 'anthropic', name: 'm', url: 'https://models.example/v1' };
const faultsOf = (...sources: object[]) =>
  (ConfigFile.safeParse({ sources: sources.map((source) => ({ kind: 'agent', model, ...source })) }).error?.issues ?? []).map(
    ({ path, message }) => [path.join('.'), message],
  );

describe('sub-agents in the config file', () => {
  it('refuses sub-agents as tools of a sub-agent of depth 1 [TS-42]', () => {
    const why = (name: string, found: string) =>
      `expected no sub-agent among the tools of the sub-agent ${name}, found ${found}: take it out, or set maxDepth to 2`;
    for (const pattern of ['digger', 'digger__digger', '@digger', '@digger/*', '@digger/digger'])
      expect(faultsOf({ name: 'boss', tools: ['echo', pattern] }, { name: 'digger' })).toEqual([
        ['sources.0.tools.1', why('boss', 'digger')],
      ]);
    expect(faultsOf({ name: 'boss', tools: ['boss'] })).toEqual([['sources.0.tools.0', why('boss', 'boss')]]);
    expect(faultsOf({ name: 'boss', tools: ['digger'], maxDepth: 2 }, { name: 'digger' })).toEqual([]);
    expect(faultsOf({ name: 'boss', tools: ['digger'] }, { name: 'digger', tenant: 'other' })).toEqual([]);
    expect(faultsOf({ name: 'boss', tools: ['*'] }, { name: 'digger' })).toEqual([]);
  });

  it('refuses sub-agents without a named key, with credentials in the address, or with thinking on models without it', () => {
    expect(faultsOf({ name: 'a', model: { ...model, url: 'https://me:secret@models.example' } })).toHaveLength(1);
    expect(faultsOf({ name: 'a', model: { ...model, apiKey: 'sk-1234567890' } })).toHaveLength(1);
    expect(faultsOf({ name: 'a', model: { ...model, thinkingLevel: 'high' } })).toEqual([]);
    expect(faultsOf({ name: 'a', model: { ...model, apiKey: { secretEnv: 'KEY' } } })).toEqual([]);
  });
});
