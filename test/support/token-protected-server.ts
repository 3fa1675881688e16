import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CLIENT_ID, CLIENT_SECRET, TestLoginProvider } from './login-provider.js';
import { serveWeb, type WebServer } from './serve-web.js';

const SCOPE = 'tools';

/** A real OAuth issuer that registers clients, rotates refresh tokens and ends grants where one comes a second time. */
export function startIssuer(): Promise<TestLoginProvider> {
  return TestLoginProvider.start(['http://127.0.0.1/none'], {
    scopes: ['openid', 'offline_access'],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, audience) => ({ audience, scope: SCOPE, accessTokenFormat: 'opaque' }),
      },
    },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId ?? '', accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid offline_access');
      grant.addResourceScope(String(oidc.params?.['resource']), SCOPE);
      await grant.save();
      return grant;
    },
  });
}

/** An MCP server that takes tokens of an issuer, checked with it, and answers with the token that it was called with. */
export class TokenProtectedServer {
  /** Issuers that its metadata name. */
  issuers: readonly string[];
  /** Called before a token is checked: false refuses it. */
  admits: (token: string) => Promise<boolean> = () => Promise.resolve(true);
  /** Tokens of requests, each as often as it came. */
  readonly tokens: string[] = [];
  private web: WebServer | undefined;

  private constructor(private readonly issuer: TestLoginProvider) {
    this.issuers = [issuer.issuer];
  }

  static async start(issuer: TestLoginProvider): Promise<TokenProtectedServer> {
    const server = new TokenProtectedServer(issuer);
    const handler = createMcpHandler(whoami);
    server.web = await serveWeb(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/meta')
        return Response.json({ resource: server.url, authorization_servers: server.issuers, scopes_supported: [SCOPE] });
      if (pathname !== '/mcp') return new Response(null, { status: 404 });
      const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
      if (token !== '') server.tokens.push(token);
      if ((await server.admits(token)) && (await server.isActive(token))) return handler.fetch(request);
      const challenge = `Bearer resource_metadata="${new URL('/meta', server.url).href}", scope="${SCOPE}"`;
      return new Response(`no, not with ${token}`, { status: 401, headers: { 'www-authenticate': challenge } });
    });
    return server;
  }

  get url(): string {
    return `${this.web?.url}/mcp`;
  }

  close(): void {
    this.web?.close();
  }

  private async isActive(token: string): Promise<boolean> {
    const { active, aud } = await introspect(this.issuer, token);
    return active === true && aud === this.url;
  }
}

/** Answer of the issuer about an access token or a refresh token. */
export async function introspect({ issuer }: TestLoginProvider, token: string): Promise<{ active?: boolean; aud?: string }> {
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  });
  return (await response.json()) as { active?: boolean; aud?: string };
}

function whoami(): McpServer {
  const server = new McpServer({ name: 'protected', version: '1.0.0' });
  server.registerTool('whoami', { inputSchema: z.object({}) }, (_args, { http }) => ({
    content: [{ type: 'text', text: `called with ${http?.req?.headers.get('authorization')?.replace('Bearer ', '')}` }],
  }));
  return server;
}
