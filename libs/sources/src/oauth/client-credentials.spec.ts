import { describe, expect, it } from '@jest/globals';
import { ClientCredentials, type ClientCredentialsAuth } from './client-credentials.js';

const TOKEN_URL = 'https://login.example.com/token';
const AUTH: ClientCredentialsAuth = {
  type: 'clientCredentials',
  tokenUrl: TOKEN_URL,
  clientId: 'app one',
  clientSecret: { secretEnv: 'SECRET' },
  scopes: ['read', 'write'],
  send: 'basic',
};

describe('tokens by client credentials', () => {
  const start = (answers: (n: number) => Response | Promise<Response>, auth: { send?: 'basic' | 'body' } = {}, resource?: string) => {
    const issued: string[] = [];
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
    const tokens = new ClientCredentials({
      auth: { ...AUTH, ...auth },
      env: { SECRET: 's:e&cret' },
      guarded,
      endpoint: () => Promise.resolve({ tokenUrl: TOKEN_URL, resource }),
      onToken: (token) => issued.push(token),
      now: () => clock,
    });
    return { tokens, requests, issued, pass: (ms: number) => void (clock += ms) };
  };
  const token = (n: number, more: object = {}) => Response.json({ access_token: `t${n}`, token_type: 'Bearer', expires_in: 100, ...more });

  it('requests a token by client credentials once until it ends, for any number of calls', async () => {
    const { tokens, requests, pass } = start(token);
    expect(await Promise.all(Array.from({ length: 10 }, () => tokens.token()))).toEqual(Array.from({ length: 10 }, () => 't1'));
    pass(69_999);
    expect(await tokens.token()).toBe('t1');
    pass(1);
    expect([await tokens.token(), requests.length]).toEqual(['t2', 2]);
  });

  it('uses a short-lived token for half of its time, and one without lifetime once', async () => {
    const { tokens, pass } = start((n) => token(n, { expires_in: n < 3 ? 20 : 0 }));
    await tokens.token();
    pass(9_999);
    expect(await tokens.token()).toBe('t1');
    pass(1);
    expect(await tokens.token()).toBe('t2');
    pass(10_000);
    expect([await tokens.token(), await tokens.token()]).toEqual(['t3', 't4']);
  });

  it('requests tokens as RFC 6749 requires, and treats their values as secrets', async () => {
    const { tokens, requests, issued } = start(token);
    await tokens.token();
    expect(issued).toEqual(['t1']);
    const [asked] = requests;
    expect([asked?.url, Object.fromEntries(asked?.body ?? [])]).toEqual([
      TOKEN_URL,
      { grant_type: 'client_credentials', scope: 'read write' },
    ]);
    const basic = Buffer.from(asked?.headers.get('authorization')?.slice(6) ?? '', 'base64').toString();
    expect(basic).toBe('app+one:s%3Ae%26cret');
    const inBody = start(token, { send: 'body' });
    await inBody.tokens.token();
    expect(Object.fromEntries(inBody.requests[0]?.body ?? [])).toMatchObject({ client_id: 'app one', client_secret: 's:e&cret' });
    expect(inBody.requests[0]?.headers.has('authorization')).toBe(false);
  });

  it('asks for a token again when the API refused one', async () => {
    const { tokens } = start(token);
    const first = await tokens.token();
    tokens.refused('of-another-call');
    expect(await tokens.token()).toBe('t1');
    tokens.refused(first);
    expect(await tokens.token()).toBe('t2');
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ['an error', () => new Response('{}', { status: 401 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://evil.example.com' } })],
    ['no JSON', () => new Response('<html>')],
    ['another type of token', () => token(1, { token_type: 'mac' })],
    ['a token with a line break', () => token(1, { access_token: 'a\r\nb: c' })],
    ['no token', () => Response.json({})],
    ['nothing', () => Promise.reject(new Error('connect ECONNREFUSED'))],
  ])('reports no token when the issuer answers with %s, and asks again for the next call', async (_what, answer) => {
    const { tokens } = start((n) => (n === 1 ? answer() : token(n)));
    await expect(tokens.token()).rejects.toMatchObject({ code: 'unavailable', options: { retryable: true } });
    expect(await tokens.token()).toBe('t2');
  });
});
