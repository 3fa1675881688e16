import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { SourceRules, type Problem, type Source } from '#contracts';
import { EgressPolicy } from '#sandbox';
import { eventually } from '../support/eventually.js';
import { startCli } from '../support/cli.js';
import { BOOTSTRAP_KEY } from '../support/gateway.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { serveWeb, type WebServer } from '../support/serve-web.js';

const SECRET = 'client-secret-of-the-oauth-tests';
const HOST = '127.0.0.1';

const basicOf = (clientId: string) => `Basic ${Buffer.from(`${clientId}:${SECRET}`).toString('base64')}`;

interface Seen {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

/** An authorization server, a second one that nothing configures, and an MCP server that wants tokens of the first. */
describe('MCP servers that take OAuth tokens', () => {
  let issuer: AuthorizationServer;
  let stranger: AuthorizationServer;
  let server: WebServer;
  let bridge: Bridge;
  /** Next behaviour of the server. */
  let refuses: (token: string) => boolean;
  let issuers: readonly string[];
  let challenge: string;
  let requests: string[];

  const client = { type: 'clientCredentials', clientId: 'toolyard', clientSecret: { secretEnv: 'OAUTH_SECRET' } };
  const url = () => `${server.url}/mcp`;

  beforeAll(async () => {
    issuer = await AuthorizationServer.start(() => stranger);
    stranger = await AuthorizationServer.start(() => stranger);
    refuses = () => false;
    issuers = [issuer.url];
    challenge = 'Bearer';
    requests = [];
    const handler = createMcpHandler(tokenServer);
    server = await serveWeb(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/.well-known/oauth-protected-resource/mcp')
        return Response.json({ resource: `${server.url}/mcp`, authorization_servers: issuers });
      if (pathname !== '/mcp') return new Response(null, { status: 404 });
      const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
      requests.push(token);
      if (!issuer.valid.has(token) || refuses(token))
        return new Response(`no, not with ${token}`, { status: 401, headers: { 'www-authenticate': challenge } });
      return handler.fetch(request);
    });
    const sourceRules = SourceRules.parse({
      secrets: [{ name: 'OAUTH_SECRET', tenants: ['*'], hosts: [`http://${HOST}:*`, 'http://10.0.0.1'] }],
    });
    bridge = await startBridge(
      [
        { name: 'found', kind: 'mcp', url: url(), auth: { ...client, issuer: issuer.url, scopes: ['tools'] } },
        {
          name: 'named',
          kind: 'mcp',
          url: url(),
          auth: { ...client, tokenUrl: `${issuer.url}/token`, resource: 'https://mcp.example.com' },
        },
        { name: 'plain', kind: 'mcp', url: url(), auth: { ...client, clientId: 'plain', issuer: issuer.url, resource: false } },
      ],
      { egress: new EgressPolicy([HOST]), sourceRules },
      { EGRESS_ALLOW_HOSTS: HOST, OAUTH_SECRET: SECRET },
    );
  });
  afterAll(async () => {
    await bridge?.close();
    server?.close();
    issuer?.close();
    stranger?.close();
  });
  beforeEach(() => {
    refuses = () => false;
    issuers = [issuer.url];
    issuer.lifetime = 3_600;
    requests = [];
  });

  const added = async (name: string, auth: object) => {
    const answer = await bridge.gateway.agent.request<Problem>('POST', '/v1/sources', { name, kind: 'mcp', url: url(), auth });
    expect([answer.status, answer.body.detail]).toEqual([201, undefined]);
    const source = await eventually(async () => {
      const { body } = await bridge.gateway.agent.get<Source>(`/v1/sources/${name}`);
      return body.error === undefined && body.status !== 'ok' ? undefined : body;
    }, `the source ${name} to be read`);
    await bridge.gateway.agent.request('DELETE', `/v1/sources/${name}`);
    return source;
  };

  it('sends MCP calls with the issuer’s token, requested once for the server, with the secret only in that request [TS-13]', async () => {
    const before = issuer.asked.length;
    const calls = await Promise.all([1, 2, 3].map(() => bridge.gateway.agent.run('found__whoami', {})));
    expect(calls.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);
    expect(issuer.asked.length).toBe(before);
    expect(issuer.asked).toContainEqual({
      path: '/token',
      authorization: basicOf('toolyard'),
      form: { grant_type: 'client_credentials', scope: 'tools', resource: url() },
    });
    expect(issuer.asked).toContainEqual(
      expect.objectContaining({ form: { grant_type: 'client_credentials', resource: 'https://mcp.example.com' } }),
    );
    expect(issuer.asked).toContainEqual(
      expect.objectContaining({ authorization: basicOf('plain'), form: { grant_type: 'client_credentials' } }),
    );
    expect(new Set(requests)).not.toContain('');
  });

  it('shows no OAuth secret of an MCP server: neither in results, events and sources, nor in its answers', async () => {
    const { id } = await bridge.gateway.agent.run('found__whoami', {});
    const seen = await Promise.all(
      [`/v1/calls/${id}`, `/v1/calls/${id}/events`, '/v1/sources', '/v1/sources/found'].map((path) => bridge.gateway.agent.get(path)),
    );
    const text = JSON.stringify(seen.map(({ body }) => body));
    expect(text).toContain('[REDACTED]');
    expect(text).not.toContain(SECRET);
    expect([...issuer.valid].filter((token) => text.includes(token))).toEqual([]);
  });

  it('gets another token when an MCP server refuses one, once for a request', async () => {
    const { asked } = issuer;
    const before = asked.length;
    issuer.valid.clear();
    expect((await bridge.gateway.agent.run('found__whoami', {})).outcome).toBe('completed');
    expect(asked.length).toBe(before + 1);
    expect([requests.length, new Set(requests).size]).toEqual([2, 2]);
    requests = [];
    refuses = () => true;
    const refused = await bridge.gateway.agent.run('found__whoami', {});
    expect(refused).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect(requests).toHaveLength(2);
    expect(requests.filter((token) => JSON.stringify(refused).includes(token))).toEqual([]);
  });

  it('requests a new token for each request to an MCP server if tokens expire at once', async () => {
    issuer.valid.clear();
    issuer.lifetime = 0;
    for (let calls = 0; calls < 3; calls += 1) await bridge.gateway.agent.run('named__whoami', {});
    expect(requests.length).toBeGreaterThan(3);
    // The first one is that of before.
    expect(new Set(requests).size).toBe(requests.length);
    expect(requests.slice(1).every((token) => issuer.valid.has(token))).toBe(true);
  });

  it('sends no token and no secret if an MCP server names another issuer', async () => {
    issuers = [stranger.url];
    challenge = `Bearer resource_metadata="${stranger.url}/.well-known/oauth-protected-resource"`;
    const before = issuer.asked.length;
    const source = await added('hostile', { ...client, issuer: issuer.url });
    expect(source.error).toContain(`takes tokens of ${stranger.url}`);
    expect([issuer.asked.length, stranger.asked, stranger.read]).toEqual([before, [], []]);
  });

  it('accepts no token of an issuer with foreign metadata or a token endpoint elsewhere', async () => {
    issuers = [];
    expect((await added('renamed', { ...client, issuer: `${issuer.url}/renamed` })).error).toContain('cannot be used');
    expect((await added('moved', { ...client, issuer: `${issuer.url}/moved` })).error).toContain('on another origin');
    expect((await added('none', { ...client, issuer: `${issuer.url}/none` })).error).toContain('has no metadata');
    expect(stranger.asked).toEqual([]);
  });

  it('adds an MCP server with OAuth on the command line, too', async () => {
    const words = ['--server', url(), '--issuer', issuer.url, '--client', 'by-cli=$OAUTH_SECRET', '--scope', 'a', '--scope', 'b'];
    const { code, err } = await startCli(['sources', 'add', 'typed', ...words], {
      url: bridge.gateway.url,
      env: { TOOLYARD_API_KEY: BOOTSTRAP_KEY },
    }).ended();
    expect([code, err]).toEqual([0, expect.stringContaining('The source typed was added')]);
    const source = () => bridge.gateway.agent.get<Source>('/v1/sources/typed');
    await eventually(async () => (await source()).body.status === 'ok', 'the source to be read');
    expect(issuer.asked.at(-1)?.form).toEqual({ grant_type: 'client_credentials', scope: 'a b', resource: url() });
    await bridge.gateway.agent.request('DELETE', '/v1/sources/typed');
  });

  it('allows a key to add an MCP server with OAuth only if the secret may go to the issuer, too', async () => {
    const add = async (auth: object, more: object = {}) => {
      const definition = { name: 'refused', kind: 'mcp', url: url(), auth, ...more };
      const { status, body } = await bridge.gateway.agent.request<Problem>('POST', '/v1/sources', definition);
      return [status, JSON.stringify([body.detail, body.errors])] as const;
    };
    const says = (words: string): unknown => expect.stringContaining(words);
    expect(await add({ ...client, issuer: 'https://login.example.com' })).toEqual([403, says('sent to login.example.com')]);
    expect(await add({ ...client, issuer: 'http://10.0.0.1' })).toEqual([403, says('private address')]);
    const both = { issuer: issuer.url, tokenUrl: `${issuer.url}/token` };
    expect(await add({ ...client, ...both })).toEqual([422, says('exactly one of `issuer` and `tokenUrl`')]);
    expect(await add({ ...client, clientSecret: SECRET, issuer: issuer.url })).toEqual([422, says('clientSecret')]);
    expect(await add({ ...client, issuer: issuer.url }, { headers: { Authorization: 'x' } })).toEqual([
      422,
      says('no header Authorization'),
    ]);
    expect(await add({ ...client, issuer: issuer.url }, { url: undefined, command: ['serve'] })).toEqual([
      422,
      says('a server with `url`'),
    ]);
  });
});

/** Answers with the token that it was called with, as a careless server would, in words that nothing takes for a secret. */
function tokenServer(): McpServer {
  const server = new McpServer({ name: 'protected', version: '1.0.0' });
  server.registerTool('whoami', { inputSchema: z.object({}) }, (_args, { http }) => ({
    content: [{ type: 'text', text: `called with ${http?.req?.headers.get('authorization')?.replace('Bearer ', '')}` }],
  }));
  return server;
}

/** Issues tokens to any client, by any of its issuers; `/moved` and `/renamed` have faulty metadata. */
class AuthorizationServer {
  readonly asked: Seen[] = [];
  readonly read: string[] = [];
  readonly valid = new Set<string>();
  lifetime = 3_600;

  private constructor(
    private readonly server: Server,
    private readonly other: () => AuthorizationServer,
  ) {}

  static async start(other: () => AuthorizationServer): Promise<AuthorizationServer> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, HOST, done));
    const started = new AuthorizationServer(server, other);
    server.on('request', (request, response) => {
      void started.answer(request).then((body) => response.writeHead(body === undefined ? 404 : 200).end(JSON.stringify(body)));
    });
    return started;
  }

  get url(): string {
    return `http://${HOST}:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage): Promise<object | undefined> {
    const { url: path = '', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (path === '/token') {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      this.asked.push({ path, authorization: headers.authorization, form });
      const token = `issued-${this.asked.length}-${Math.random().toString(36).slice(2)}`;
      this.valid.add(token);
      return { access_token: token, token_type: 'Bearer', expires_in: this.lifetime };
    }
    this.read.push(path);
    const metadata = { issuer: this.url, token_endpoint: `${this.url}/token`, authorization_endpoint: `${this.url}/authorize` };
    const supported = { ...metadata, response_types_supported: ['code'] };
    switch (path) {
      case '/.well-known/oauth-authorization-server':
        return supported;
      case '/.well-known/oauth-authorization-server/moved':
        return { ...supported, issuer: `${this.url}/moved`, token_endpoint: `${this.other().url}/token` };
      case '/.well-known/oauth-authorization-server/renamed':
        return { ...supported, issuer: this.other().url };
      default:
        return undefined;
    }
  }
}
