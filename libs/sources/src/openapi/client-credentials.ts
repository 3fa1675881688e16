import { z } from 'zod';
import type { OpenApiSourceDefinition } from '#contracts';
import type { EgressFetch } from '#sandbox';
import { ToolError } from '#tool-sdk';
import { resolveSecrets } from '../definitions/resolve-secrets.js';
import { boundedBody } from './bounded-body.js';
import type { Credentials } from './credentials.js';

export type ClientCredentialsAuth = Extract<NonNullable<OpenApiSourceDefinition['auth']>, { type: 'clientCredentials' }>;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 65_536;
/** A token is not used any more this long before its end. */
const SLACK_MS = 30_000;
/** Where the issuer does not say how long a token is valid. */
const DEFAULT_SECONDS = 300;

const TokenAnswer = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  token_type: z.string().refine((type) => type.toLowerCase() === 'bearer'),
  expires_in: z.coerce.number().min(0).max(31_536_000).default(DEFAULT_SECONDS),
});

/**
 * Tokens by OAuth 2.0 client credentials (RFC 6749, section 4.4). One is kept until it ends or is refused; calls at the
 * same time share a request for it. The client secret goes to the token URL and nowhere else: redirects are not followed.
 */
export class ClientCredentials {
  private kept: { readonly token: string; readonly endsAt: number } | undefined;
  private pending: Promise<string> | undefined;

  constructor(
    private readonly auth: ClientCredentialsAuth,
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly guarded: Pick<EgressFetch, 'fetch'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The credentials of a request with a token. @throws ToolError `unavailable` when there is none */
  async added(to: Credentials): Promise<Credentials> {
    const token = await this.token();
    return { ...to, headers: { ...to.headers, authorization: `Bearer ${token}` }, secrets: [...to.secrets, token] };
  }

  /** The API refused the token: the next request asks for another one. */
  refused({ headers }: Credentials): void {
    if (headers['authorization'] === `Bearer ${this.kept?.token}`) this.kept = undefined;
  }

  private token(): Promise<string> {
    if (this.kept !== undefined && this.now() < this.kept.endsAt) return Promise.resolve(this.kept.token);
    this.pending ??= this.ask().finally(() => (this.pending = undefined));
    return this.pending;
  }

  private async ask(): Promise<string> {
    const askedAt = this.now();
    const found = TokenAnswer.safeParse(await this.answer());
    if (!found.success) throw unavailable('expected access_token, token_type bearer and expires_in in its answer');
    const { access_token: token, expires_in: seconds } = found.data;
    this.kept = { token, endsAt: askedAt + Math.max(0, seconds * 1_000 - SLACK_MS) };
    return token;
  }

  private async answer(): Promise<unknown> {
    const { tokenUrl, scopes, audience, send } = this.auth;
    const { id = '', secret = '' } = resolveSecrets({ id: this.auth.clientId, secret: this.auth.clientSecret }, this.env);
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
      ...(audience === undefined ? {} : { audience }),
      ...(send === 'body' ? { client_id: id, client_secret: secret } : {}),
    });
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(send === 'basic' ? { authorization: `Basic ${basic(id, secret)}` } : {}),
    };
    try {
      const init = { method: 'POST', headers, body: body.toString(), signal: AbortSignal.timeout(TIMEOUT_MS) };
      const response = await this.guarded.fetch(new URL(tokenUrl), init);
      const bytes = await boundedBody(response, MAX_BYTES);
      if (response.status !== 200) throw unavailable(`it answered with the status ${response.status}`);
      return JSON.parse(bytes?.toString() ?? '');
    } catch (error) {
      throw error instanceof ToolError ? error : unavailable('it could not be reached, or its answer was no JSON', error);
    }
  }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded first. */
function basic(id: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams({ x: text }).toString().slice(2);
  return Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64');
}

function unavailable(why: string, cause?: unknown): ToolError {
  return new ToolError('unavailable', `The issuer of tokens for this API gave none: ${why}`, { retryable: true, cause });
}
