import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, type CryptoKey } from 'jose';
import { JwtIssuer } from '#contracts';
import { issuerKeys } from './issuer-keys.js';

const HEADER = { alg: 'ES256', kid: 'one' };
const TOKEN = { payload: '', signature: '' };

describe('the keys of an issuer that answers with', () => {
  let server: Server;
  let publicKey: CryptoKey;
  let answers: Record<string, { status: number; headers?: Record<string, string>; body?: string }>;
  let failures: unknown[];

  beforeEach(async () => {
    ({ publicKey } = await generateKeyPair('ES256'));
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one' }];
    failures = [];
    answers = {
      '/good': { status: 200, body: JSON.stringify({ keys }) },
      '/large': { status: 200, body: JSON.stringify({ keys, more: 'x'.repeat(300_000) }) },
      '/moved': { status: 302, headers: { location: '/good' }, body: 'moved' },
    };
    server = createServer((request, response) => {
      const { status, headers, body } = answers[request.url ?? ''] ?? { status: 404 };
      response.writeHead(status, headers).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const keyAt = (path: string) => {
    const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const rules = JwtIssuer.parse({ issuer: 'https://issuer.example.com', audience: 'a', tenant: 'acme', jwksUrl });
    return issuerKeys(rules, (error) => failures.push(error))(HEADER, TOKEN);
  };

  it("finds the keys of an issuer's key set by their id", async () => {
    expect(await keyAt('/good')).toMatchObject({ type: 'public' });
    expect(failures).toEqual([]);
  });

  it.each([
    ['more than any key set has', '/large'],
    ['a redirect', '/moved'],
  ])('accepts no keys of an issuer that answers with %s, and logs why', async (_what, path) => {
    await expect(keyAt(path)).rejects.toMatchObject({ code: 'unavailable' });
    expect(failures).toHaveLength(1);
  });
});
