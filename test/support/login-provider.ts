import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, decodeJwt, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

export const CLIENT_ID = 'toolyard';
export const CLIENT_SECRET = 'secret-of-the-client-in-tests';

/** Claims of the provider about a person. */
export interface TestPerson {
  readonly sub: string;
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly roles?: readonly string[];
  /** A claim of the scope `profile` that names the person in the organization. */
  readonly employee?: string;
}

/** A real OpenID provider on a free port, at which a person is signed in without a password. */
export class TestLoginProvider {
  /** Person at the browser. */
  person: TestPerson = { sub: 'no-one' };
  /** Answers 503 while it is true. */
  isAway = false;
  /** The error with which it answers at its token endpoint. */
  refuses: string | undefined;
  /** Called before it gives tokens. */
  onToken: () => Promise<void> = () => Promise.resolve();
  /** Called before it ends a token. */
  onRevocation: () => Promise<void> = () => Promise.resolve();
  /** How often each path was asked for. */
  readonly asked: string[] = [];
  /** Every refresh token that was given out, oldest first. */
  readonly refreshTokens: string[] = [];
  /** Signs other claims than the provider would, or returns another token. */
  tamper: ((claims: JWTPayload, sign: (claims: JWTPayload, key?: CryptoKey) => Promise<string>) => Promise<string>) | undefined;
  private readonly people = new Map<string, TestPerson>();
  private provider: Provider | undefined;

  private constructor(
    private readonly server: Server,
    private readonly key: CryptoKey,
  ) {}

  static async start(redirectUris: readonly string[], configuration: Configuration = {}): Promise<TestLoginProvider> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const made = new TestLoginProvider(server, privateKey);
    const jwk = { ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'RS256' };
    made.provider = new Provider(made.issuer, {
      jwks: { keys: [jwk] },
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [...redirectUris],
          post_logout_redirect_uris: redirectUris.map((uri) => new URL('/', uri).href),
          grant_types: ['authorization_code', 'refresh_token'],
        },
      ],
      // Rejects a login without PKCE, like providers that follow RFC 9700.
      pkce: { required: () => true },
      scopes: ['openid', 'offline_access'],
      claims: { openid: ['sub'], profile: ['name', 'employee'], email: ['email', 'email_verified'], roles: ['roles'] },
      issueRefreshToken: () => Promise.resolve(true),
      rotateRefreshToken: () => true,
      cookies: { keys: ['key-of-cookies'] },
      features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...(made.people.get(sub) ?? { sub }) }) }),
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId ?? '', accountId: oidc.session?.accountId ?? '' });
        grant.addOIDCScope('openid profile email roles offline_access');
        await grant.save();
        return grant;
      },
      ...configuration,
    });
    made.provider.use(async (context, next) => {
      await next();
      const body = context.body as { id_token?: string; refresh_token?: string } | undefined;
      if (context.path === '/token' && body?.refresh_token !== undefined) made.refreshTokens.push(body.refresh_token);
      if (context.path !== '/token' || made.tamper === undefined || body?.id_token === undefined) return;
      context.body = { ...body, id_token: await made.tamper(decodeJwt(body.id_token), (claims, key) => made.sign(claims, key)) };
    });
    const handle = made.provider.callback();
    server.on('request', (request, response) => void made.answer(request, response, handle));
    return made;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private sign(claims: JWTPayload, key = this.key): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key);
  }

  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.issuer);
    this.asked.push(pathname);
    if (this.isAway) return void response.writeHead(503).end();
    if (pathname === '/token') await this.onToken();
    if (pathname === '/token/revocation') await this.onRevocation();
    this.people.set(this.person.sub, this.person);
    if (pathname === '/token' && this.refuses !== undefined)
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: this.refuses }));
    if (!pathname.startsWith('/interaction/')) return handle(request, response);
    await this.provider?.interactionFinished(request, response, { login: { accountId: this.person.sub }, consent: {} });
  }
}
