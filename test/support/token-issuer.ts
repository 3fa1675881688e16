import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

/** An issuer of tokens with a JWKS endpoint on a free port. */
export class TokenIssuer {
  /** How often its keys were asked for. */
  reads = 0;
  /** Answers 503 while it is true. */
  isAway = false;
  /** Answers nothing while it is there: who asks waits in it. */
  waiting: ServerResponse[] | undefined;
  private keys = new Map<string, { readonly sign: CryptoKey; readonly jwk: JWK }>();
  private readonly server = createServer((_request, response) => {
    this.reads += 1;
    if (this.isAway) return void response.writeHead(503).end();
    if (this.waiting !== undefined) return void this.waiting.push(response);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: [...this.keys.values()].map(({ jwk }) => jwk) }));
  });

  private constructor(
    readonly issuer: string,
    readonly audience: string,
    private readonly alg: 'ES256' | 'RS256',
  ) {}

  static async start(issuer: string, audience: string, alg: 'ES256' | 'RS256' = 'ES256'): Promise<TokenIssuer> {
    const made = new TokenIssuer(issuer, audience, alg);
    made.server.listen(0, '127.0.0.1');
    await once(made.server, 'listening');
    return made;
  }

  get jwksUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/jwks`;
  }

  /** Replaces all keys; existing ones with the same id are kept. */
  async useKeys(...kids: string[]): Promise<void> {
    const wanted = kids.map(async (kid) => [kid, this.keys.get(kid) ?? (await newKey(kid, this.alg))] as const);
    this.keys = new Map(await Promise.all(wanted));
  }

  /** A token that is valid for five minutes, unless `claims` say otherwise. */
  async token(kid: string, claims: JWTPayload = {}, header: object = {}): Promise<string> {
    const { sign } = this.keys.get(kid) ?? (await newKey(kid, this.alg));
    return new SignJWT(this.claims(claims)).setProtectedHeader({ alg: this.alg, kid, ...header }).sign(sign);
  }

  claims(changed: JWTPayload = {}): JWTPayload {
    return { iss: this.issuer, aud: this.audience, sub: 'user', exp: Math.floor(Date.now() / 1_000) + 300, ...changed };
  }

  /** The public key as PEM and as JWK. */
  async publicKey(kid: string): Promise<{ readonly pem: string; readonly jwk: JWK }> {
    const jwk = this.keys.get(kid)?.jwk;
    if (jwk === undefined) throw new Error(`no key ${kid}`);
    const key = await importJWK(jwk, this.alg, { extractable: true });
    if (key instanceof Uint8Array) throw new Error('expected a public key');
    return { pem: await exportSPKI(key), jwk };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

async function newKey(kid: string, alg: string) {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { sign: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg } };
}
