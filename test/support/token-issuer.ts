import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

/** An issuer of tokens with a JWKS endpoint on a free port. */
export class TokenIssuer {
  /** How often its keys were asked for. */
  reads = 0;
  /** Answers 503 while it is true. */
  isAway = false;
  private keys = new Map<string, { readonly sign: CryptoKey; readonly jwk: JWK }>();
  private readonly server = createServer((_request, response) => {
    this.reads += 1;
    if (this.isAway) return void response.writeHead(503).end();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: [...this.keys.values()].map(({ jwk }) => jwk) }));
  });

  private constructor(
    readonly issuer: string,
    readonly audience: string,
  ) {}

  static async start(issuer: string, audience: string): Promise<TokenIssuer> {
    const made = new TokenIssuer(issuer, audience);
    made.server.listen(0, '127.0.0.1');
    await once(made.server, 'listening');
    return made;
  }

  get jwksUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/jwks`;
  }

  /** Its only keys from now on; those that it has stay the same. */
  async useKeys(...kids: string[]): Promise<void> {
    const wanted = kids.map(async (kid) => [kid, this.keys.get(kid) ?? (await newKey(kid))] as const);
    this.keys = new Map(await Promise.all(wanted));
  }

  /** A token that is valid for five minutes, unless `claims` say otherwise. */
  async token(kid: string, claims: JWTPayload = {}): Promise<string> {
    const { sign } = this.keys.get(kid) ?? (await newKey(kid));
    const exp = Math.floor(Date.now() / 1_000) + 300;
    return new SignJWT({ iss: this.issuer, aud: this.audience, sub: 'user', exp, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(sign);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

async function newKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { sign: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'ES256' } };
}
