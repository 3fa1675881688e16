import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy } from '#sandbox';
import { type TestSite, testSite } from '../../../sandbox/src/testing/test-site.fixture.js';
import { textFrom } from '../testing/outputs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { HttpRequestTool } from './http-request.tool.js';
import { matchingSegments } from './matching-segments.js';
import { searchProvidersFrom } from './search-providers/providers.js';
import { httpSecretsFrom } from './web.config.js';
import { WebSearchTool } from './web-search.tool.js';

const seen: { path: string; headers: Record<string, unknown> }[] = [];
let site: TestSite;
beforeAll(async () => {
  site = await testSite((request, response, path) => {
    seen.push({ path, headers: request.headers });
    const json = (value: unknown) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path.startsWith('/res/v1'))
      return void json({ web: { results: [{ title: 'B', url: 'https://b.example/', description: 'of brave' }] } });
    if (path === '/search')
      return void json({
        results: [
          { title: 'T', url: 'https://t.example/', content: 'of tavily' },
          { title: 'J', url: 'javascript:alert(1)' },
        ],
      });
    if (path === '/binary') return void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 0]));
    if (path === '/big') return void response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(1_000_001));
    response.writeHead(200, { 'content-type': 'text/plain' }).end('odd');
  });
});
afterAll(() => site.close());

describe('web_search', () => {
  const search = async (env: Record<string, string>, more: object = {}) => {
    const tool = new WebSearchTool(new EgressPolicy([site.host]), searchProvidersFrom(env));
    return textFrom(tool.run({ query: 'q', count: 5, ...more }, fakeToolContext()));
  };

  it('reports that web_search is not configured', async () => {
    expect(await search({})).toBe(
      'Web search is not configured. Ask the operator to set SEARXNG_URLS, BRAVE_API_KEY or TAVILY_API_KEY for the workers.',
    );
  });

  it('queries Brave and Tavily in their forms, and shows web addresses only', async () => {
    const base = `http://${site.host}`;
    expect(await search({ BRAVE_API_KEY: 'k1', BRAVE_URL: base }, { freshness: 'week' })).toBe('1. B\n   https://b.example/\n   of brave');
    expect(seen.at(-1)).toMatchObject({ path: expect.stringMatching(/freshness=pw/), headers: { 'x-subscription-token': 'k1' } });
    expect(await search({ TAVILY_API_KEY: 'k2', TAVILY_URL: base })).toBe('1. T\n   https://t.example/\n   of tavily');
    expect(seen.at(-1)).toMatchObject({ headers: { authorization: 'Bearer k2' } });
  });

  it('fails when no search engine answers, without their addresses', async () => {
    const failed = await search({ SEARXNG_URLS: `http://${site.host}/odd, http://127.0.0.1:1` });
    expect(failed).toBe('No search engine answered. searxng: its answer has another form; searxng: it could not be reached');
  });

  it('refuses invalid addresses of search engines at the start', () => {
    expect(() => searchProvidersFrom({ SEARXNG_URLS: 'ftp://x' })).toThrow('SEARXNG_URLS: expected http or https URLs, got "ftp://x"');
  });
});

describe('http_request', () => {
  const secrets = httpSecretsFrom({ HTTP_SECRETS: '{"KEY":{"hosts":["api.example"],"tenants":["one"]}}', KEY: 'value', OTHER: 'x' });
  const send = async (path: string, more: object = {}) => {
    const tool = new HttpRequestTool(new EgressPolicy([site.host]), secrets);
    const args = { url: `http://${site.host}${path}`, method: 'GET' as const, headers: {}, ...more };
    return textFrom(tool.run(args, fakeToolContext()));
  };

  it('sends a secret of http_request to its hosts and for its tenants only', () => {
    expect(secrets.valueOf('KEY', 'api.example', 'one')).toBe('value');
    for (const [name, host, tenant] of [
      ['KEY', 'other.example', 'one'],
      ['KEY', 'api.example', 'two'],
      ['OTHER', 'api.example', 'one'],
      ['constructor', 'api.example', 'one'],
    ] as const)
      expect(secrets.valueOf(name, host, tenant)).toBeUndefined();
    expect(() => httpSecretsFrom({ HTTP_SECRETS: '{"KEY":1}' })).toThrow(/^HTTP_SECRETS: expected JSON such as/);
  });

  it('shows the size of binary content in http_request, and cuts a long text', async () => {
    expect(await send('/binary')).toMatch(/Response Body:\n\[2 bytes of binary content\]$/);
    expect(await send('/big')).toMatch(/x{1000}\n\.\.\. \[Response truncated due to size limit\] \.\.\.$/);
  });

  it.each([
    [{ headers: { 'x\n': 'a' } }, /^Invalid header "x\\n": its name/],
    [{ headers: { Host: 'other' } }, /^Invalid header "Host": it is set by the worker itself/],
    [{ headers: { x: '\u{1f600}' } }, /is not Latin-1/],
    [{ body: 'x' }, /^GET takes no body/],
    [{ url: 'http://127.0.0.1:1/' }, /^Blocked: 127\.0\.0\.1/],
    [{ url: 'http://a:b@example.com/' }, /must not contain a user name or password/],
  ])('refuses the http_request %j', async (more, message) => expect(await send('/', more)).toMatch(message));
});

describe('paragraphs around search terms', () => {
  it('returns the first paragraphs if none contains a search term', () => {
    const text = Array.from({ length: 30 }, (_unused, index) => `p${index}`).join('\n\n');
    expect(matchingSegments(text, 'p5, p7').text).toBe('p4\n\np5\n\np6\n\np7\n\np8');
    expect(matchingSegments(text, 'p1 p29').text).toMatch(/^p0\n\np1\n\n/);
    const none = matchingSegments(text, 'zzz');
    expect(none.text.split('\n\n')).toHaveLength(20);
    expect(none.note).toContain('no paragraph has any of the search terms');
  });
});
