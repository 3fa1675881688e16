import { describe, expect, it } from '@jest/globals';
import { definitionOf, EMPTY_DRAFT } from './source-draft.js';

const faults = (...args: Parameters<typeof definitionOf>) => {
  const read = definitionOf(...args);
  return 'faults' in read ? read.faults.map(({ field }) => field) : [];
};

describe('a source that is filled in', () => {
  it('sends headers of a source; a value with $ refers to a secret', () => {
    const draft = {
      ...EMPTY_DRAFT,
      name: 'tracker',
      url: 'https://t.test/mcp',
      headers: 'X-Team: a\nAuthorization: $TOKEN\n',
      include: 'a, b*',
    };
    expect(definitionOf('mcp', draft)).toMatchObject({
      definition: { name: 'tracker', kind: 'mcp', headers: { 'X-Team': 'a', Authorization: { secretEnv: 'TOKEN' } }, include: ['a', 'b*'] },
    });
  });

  it('sends the OAuth settings of a source, with the name of a variable in place of the client secret', () => {
    const oauth = { auth: 'oauth', issuer: 'https://login.test', clientId: 'app', clientSecret: '$APP', scopes: 'read write' };
    const draft = { ...EMPTY_DRAFT, name: 'tracker', url: 'https://t.test/mcp', ...oauth };
    const auth = { type: 'clientCredentials', issuer: 'https://login.test', clientId: 'app', clientSecret: { secretEnv: 'APP' } };
    expect(definitionOf('mcp', draft)).toMatchObject({ definition: { auth: { ...auth, scopes: ['read', 'write'] } } });
    expect(definitionOf('mcp', { ...draft, auth: 'none' })).not.toMatchObject({ definition: { auth: expect.anything() } });
    expect(faults('mcp', { ...draft, issuer: 'login', clientSecret: '' })).toEqual(['auth.issuer', 'auth.clientSecret']);
    expect(faults('mcp', { ...draft, clientId: '' })).toEqual(['auth.clientId']);
  });

  it('sends the settings of a source that a person authorizes, with or without a client of the issuer', () => {
    const draft = { ...EMPTY_DRAFT, name: 'tracker', url: 'https://t.test/mcp', auth: 'person' };
    expect(definitionOf('mcp', draft)).toMatchObject({ definition: { auth: { type: 'authorizationCode' } } });
    const named = { ...draft, issuer: 'https://login.test', clientId: 'app', clientSecret: '$APP', scopes: 'read' };
    expect(definitionOf('mcp', named)).toMatchObject({
      definition: { auth: { issuer: 'https://login.test', clientId: 'app', clientSecret: { secretEnv: 'APP' }, scopes: ['read'] } },
    });
    expect(faults('mcp', { ...named, issuer: '' })).toEqual(['auth.issuer']);
    expect(faults('mcp', { ...named, clientId: '' })).toEqual(['auth.clientId']);
  });

  it('sends a sub-agent as a source, with the name of a variable in place of the key', () => {
    const draft = { ...EMPTY_DRAFT, name: 'scout', url: 'https://m.test/v1', model: 'm', apiKey: '$KEY', tools: 'echo, @git/*' };
    expect(definitionOf('agent', draft)).toMatchObject({
      definition: {
        kind: 'agent',
        model: { provider: 'openai-compatible', name: 'm', url: 'https://m.test/v1', apiKey: { secretEnv: 'KEY' } },
        tools: ['echo', '@git/*'],
        maxTurns: 10,
      },
    });
    expect(faults('agent', { ...draft, url: 'm.test', model: '', apiKey: 'a key' })).toEqual(['model.name', 'model.url', 'model.apiKey']);
  });

  it('shows faults of an entered source at their fields', () => {
    expect(faults('mcp', { ...EMPTY_DRAFT, name: 'Tracker', url: 'ftp://t.test' })).toEqual(['name', 'url']);
    expect(faults('openapi', { ...EMPTY_DRAFT, name: 'api', document: 'no', baseUrl: 'https://a.test/?b' })).toEqual(['document', 'url']);
    expect(faults('json', { ...EMPTY_DRAFT, json: '{' })).toEqual(['json']);
    expect(faults('json', { ...EMPTY_DRAFT, json: '{"name":"a","kind":"mcp"}' })).toEqual(['url']);
  });
});
