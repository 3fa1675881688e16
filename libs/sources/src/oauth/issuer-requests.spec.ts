import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressPolicy, egressFetch } from '#sandbox';
import { IssuerRequests } from './issuer-requests.js';

describe('requests to an issuer', () => {
  let server: Server;
  let issuer = '';
  const seen: unknown[] = [];
  const guarded = egressFetch(new EgressPolicy(['127.0.0.1']));
  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.url === '/token') {
          seen.push(request.headers.authorization);
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"new","token_type":"bearer"}');
          return;
        }
        const metadata = JSON.parse(body) as object;
        seen.push(metadata);
        response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ ...metadata, client_id: 'registered' }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await guarded.close();
    server.close();
  });

  it('encodes in the credentials of a client only what forms encode', async () => {
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const client = { clientId: 'my-client_1.0', method: 'client_secret_basic' as const };
    const granted = { issuer: { issuer, ...endpoints }, client, accessToken: 'old' };
    const requests = new IssuerRequests(guarded.fetch, 'a-secret: ü');
    expect(await requests.renew(granted, 'refresh', 0)).toMatchObject({ accessToken: 'new' });
    expect(seen.at(-1)).toBe(`Basic ${btoa('my-client_1.0:a-secret%3A+%C3%BC')}`);
  });

  it.each([
    ['https://tools.example.com/authorized/0123456789abcdef', 'web'],
    ['https://localhost.example.com/authorized/0123456789abcdef', 'web'],
    ['http://127.0.0.1:7411/authorized/0123456789abcdef', 'native'],
    ['http://localhost:7411/authorized/0123456789abcdef', 'native'],
    ['http://[::1]:7411/authorized/0123456789abcdef', 'native'],
  ])('registers a client with the redirect URI %s as the kind %s', async (redirectUri, kind) => {
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const metadata = { issuer, ...endpoints, registration_endpoint: `${issuer}/register`, code_challenge_methods_supported: ['S256'] };
    const client = await new IssuerRequests(guarded.fetch, undefined).client(metadata, { type: 'authorizationCode' }, redirectUri);
    expect(client.clientId).toBe('registered');
    expect(seen.at(-1)).toMatchObject({ application_type: kind, redirect_uris: [redirectUri] });
  });
});
