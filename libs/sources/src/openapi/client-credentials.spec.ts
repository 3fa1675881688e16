import { describe, expect, it } from '@jest/globals';
import { ClientCredentials, type ClientCredentialsAuth } from './client-credentials.js';
import { retryAfterMs } from './response-output.js';

const NONE = { headers: {}, query: {}, cookies: {}, secrets: [] };
const AUTH: ClientCredentialsAuth = {
  type: 'clientCredentials',
  tokenUrl: 'https://login.example.com/token',
  clientId: 'app one',
  clientSecret: { secretEnv: 'SECRET' },
  scopes: ['read', 'write'],
  send: 'basic',
};

describe('tokens by client credentials', () => {
  const start = (answers: (n: number) => Response | Promise<Response>, auth: Partial<ClientCredentialsAuth> = {}) => {
    const requests: { url: string; headers: Headers; body: URLSearchParams }[] = [];
    let clock = 0;
    const guarded = {
      fetch: async (url: URL | string, init: RequestInit = {}) => {
        requests.push({
          url: String(url),
          headers: new Headers(init.headers),
          body: new URLSearchParams(typeof init.body === 'string' ? init.body : ''),
        });
        return answers(requests.length);
      },
    };
    const tokens = new ClientCredentials({ ...AUTH, ...auth }, { SECRET: 's:e&cret' }, guarded, () => clock);
    return { tokens, requests, pass: (ms: number) => void (clock += ms) };
  };
  const token = (n: number, more: object = {}) => Response.json({ access_token: `t${n}`, token_type: 'Bearer', expires_in: 100, ...more });
  const headerOf = async (tokens: ClientCredentials) => (await tokens.added(NONE)).headers['authorization'];

  it('are asked for once until they end, whatever number of calls needs one', async () => {
    const { tokens, requests, pass } = start(token);
    expect(await Promise.all(Array.from({ length: 10 }, () => headerOf(tokens)))).toEqual(Array.from({ length: 10 }, () => 'Bearer t1'));
    pass(69_999);
    expect(await headerOf(tokens)).toBe('Bearer t1');
    pass(1);
    expect([await headerOf(tokens), requests.length]).toEqual(['Bearer t2', 2]);
  });

  it('are asked for as RFC 6749 says, and their values count as secrets', async () => {
    const { tokens, requests } = start(token);
    expect((await tokens.added(NONE)).secrets).toEqual(['t1']);
    const [asked] = requests;
    expect([asked?.url, Object.fromEntries(asked?.body ?? [])]).toEqual([
      AUTH.tokenUrl,
      { grant_type: 'client_credentials', scope: 'read write' },
    ]);
    const basic = Buffer.from(asked?.headers.get('authorization')?.slice(6) ?? '', 'base64').toString();
    expect(basic).toBe('app+one:s%3Ae%26cret');
    const inBody = start(token, { send: 'body' });
    await inBody.tokens.added(NONE);
    expect(Object.fromEntries(inBody.requests[0]?.body ?? [])).toMatchObject({ client_id: 'app one', client_secret: 's:e&cret' });
    expect(inBody.requests[0]?.headers.has('authorization')).toBe(false);
  });

  it('are asked for again when the API refused one', async () => {
    const { tokens } = start(token);
    const first = await tokens.added(NONE);
    tokens.refused({ ...NONE, headers: { authorization: 'Bearer of-another-call' } });
    expect(await headerOf(tokens)).toBe('Bearer t1');
    tokens.refused(first);
    expect(await headerOf(tokens)).toBe('Bearer t2');
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ['an error', () => new Response('{}', { status: 401 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://evil.example.com' } })],
    ['no JSON', () => new Response('<html>')],
    ['another type of token', () => token(1, { token_type: 'mac' })],
    ['a token with a line break', () => token(1, { access_token: 'a\r\nb: c' })],
    ['no token', () => Response.json({})],
    ['nothing', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ])('are unavailable when the issuer answers with %s, and asked for again by the next call', async (_what, answer) => {
    const { tokens } = start((n) => (n === 1 ? answer() : token(n)));
    await expect(tokens.added(NONE)).rejects.toMatchObject({ code: 'unavailable', options: { retryable: true } });
    expect(await headerOf(tokens)).toBe('Bearer t2');
  });
});

describe('Retry-After', () => {
  it('is seconds or a date; anything else says nothing', () => {
    const now = Date.parse('2030-01-01T00:00:00Z');
    const of = (header: string | null) => retryAfterMs(header, now);
    expect([of('0'), of('120'), of(' 7 ')]).toEqual([0, 120_000, 7_000]);
    expect([of('Tue, 01 Jan 2030 00:01:00 GMT'), of('Mon, 31 Dec 2029 00:00:00 GMT')]).toEqual([60_000, 0]);
    expect([null, '', '-1', '1.5', 'soon', '1e9', '99999999999', '2030-02-01', 'Xyz, nothing'].map(of)).toEqual(Array(9).fill(0));
  });
});
