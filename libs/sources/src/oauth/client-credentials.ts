import { z } from 'zod';
import type { McpClientCredentials, OpenApiSourceDefinition } from '#contracts';
import type { EgressFetch } from '#sandbox';
import { ToolError } from '#tool-sdk';
import { boundedBody } from '../bounded-body.js';
import { resolveSecrets } from '../definitions/resolve-secrets.js';

export type ClientCredentialsAuth =
  | McpClientCredentials
  | Extract<NonNullable<OpenApiSourceDefinition['auth']>, { type: 'clientCredentials' }>;

/** Token endpoint, and the resource of its tokens. */
export interface TokenEndpoint {
  readonly tokenUrl: string;
  /** RFC 8707. Undefined: not sent. */
  readonly resource?: string | undefined;
}

export interface ClientCredentialsParts {
  readonly auth: ClientCredentialsAuth;
  /** Environment with the secrets by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly guarded: Pick<EgressFetch, 'fetch'>;
  /** Called before each token is asked for. */
  readonly endpoint: (signal: AbortSignal) => Promise<TokenEndpoint>;
  /** Called with each token, which is a secret. */
  readonly onToken?: (token: string) => void;
  readonly now?: () => number;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 65_536;
/** A token is not used any more this long before its end; one that is valid for a short time, for its second half. */
const SLACK_MS = 30_000;
/** Lifetime in seconds of tokens without `expires_in`. */
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
  private readonly now: () => number;

  constructor(private readonly parts: ClientCredentialsParts) {
    this.now = parts.now ?? (() => performance.now());
  }

  /** @throws ToolError `unavailable` when there is none */
  token(): Promise<string> {
    if (this.kept !== undefined && this.now() < this.kept.endsAt) return Promise.resolve(this.kept.token);
    this.pending ??= this.ask().finally(() => (this.pending = undefined));
    return this.pending;
  }

  /** The token was not accepted: the next request asks for another one. */
  refused(token: string): void {
    if (token === this.kept?.token) this.kept = undefined;
  }

  private async ask(): Promise<string> {
    const askedAt = this.now();
    const found = TokenAnswer.safeParse(await this.answer());
    if (!found.success) throw noToken('expected access_token, token_type bearer and expires_in in its answer');
    const { access_token: token, expires_in: seconds } = found.data;
    this.parts.onToken?.(token);
    this.kept = { token, endsAt: askedAt + Math.max(seconds * 1_000 - SLACK_MS, seconds * 500) };
    return token;
  }

  private async answer(): Promise<unknown> {
    const { auth, env, guarded } = this.parts;
    const { scopes, audience, send } = auth;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { tokenUrl, resource } = await this.parts.endpoint(signal);
    const { id = '', secret = '' } = resolveSecrets({ id: auth.clientId, secret: auth.clientSecret }, env);
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
      ...(audience === undefined ? {} : { audience }),
      ...(resource === undefined ? {} : { resource }),
      ...(send === 'body' ? { client_id: id, client_secret: secret } : {}),
    });
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(send === 'basic' ? { authorization: `Basic ${basicCredentials(id, secret)}` } : {}),
    };
    try {
      const response = await guarded.fetch(new URL(tokenUrl), { method: 'POST', headers, body: body.toString(), signal });
      const bytes = await boundedBody(response, MAX_BYTES);
      if (response.status !== 200) throw noToken(`it answered with the status ${response.status}`);
      return JSON.parse(bytes?.toString() ?? '');
    } catch (error) {
      throw error instanceof ToolError ? error : noToken('it could not be reached, or its answer was no JSON', error);
    }
  }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded first. */
export function basicCredentials(id: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams({ x: text }).toString().slice(2);
  return Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64');
}

export function noToken(why: string, cause?: unknown): ToolError {
  return new ToolError('unavailable', `The issuer of tokens gave none: ${why}`, { retryable: true, cause });
}
