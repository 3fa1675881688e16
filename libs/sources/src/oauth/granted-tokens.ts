import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EgressFetch } from '#sandbox';
import { ToolError } from '#tool-sdk';
import type { SourceId } from '../source-id.js';
import { resolveSecret } from '../definitions/resolve-secrets.js';
import type { Tokens } from './authorized-fetch.js';
import type { AuthorizedSource } from './authorized-source.js';
import { NotAuthorized, type AuthorizationStore, type KeptGrant } from './authorization-store.js';
import { hasSameClient, IssuerRefusal } from './stored-authorization.js';
import { IssuerRequests } from './issuer-requests.js';
import { noToken } from './client-credentials.js';
import { boundFetch } from './token-endpoint.js';

/** The requests of a renewal together; below the time after which another worker may begin. */
const TIMEOUT_MS = 25_000;
/** How long a call waits for a renewal, by whichever worker. */
const WAIT_MS = 40_000;
const LOOK_MS = 50;
/** Tokens that a server may still repeat in an answer. */
const TOKENS_KEPT = 8;

export interface GrantedTokensParts {
  readonly id: SourceId;
  readonly source: AuthorizedSource;
  readonly store: AuthorizationStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly guarded: Pick<EgressFetch, 'fetch'>;
  /** Gets the client secret and each token. */
  readonly secrets: string[];
}

/**
 * The tokens that a person let a source have, for one connection. Read from Redis for each request, so that what was revoked is
 * used no more. One worker renews them for all: an issuer takes a refresh token once.
 */
export class GrantedTokens implements Tokens {
  private readonly requests: (signal: AbortSignal) => IssuerRequests;
  private readonly owner = randomUUID();
  private readonly others: number;
  private bad: string | undefined;
  private dead: string | undefined;
  private pending: Promise<string> | undefined;

  /** @throws Error that names the variable or file that is not set */
  constructor(private readonly parts: GrantedTokensParts) {
    const { clientSecret } = parts.source.auth;
    const secret = clientSecret && resolveSecret(clientSecret, parts.env);
    if (secret !== undefined) parts.secrets.push(secret);
    this.others = parts.secrets.length;
    this.requests = (signal) => new IssuerRequests(boundFetch(parts.guarded.fetch, signal), secret);
  }

  /** @throws ToolError `unavailable`, not retryable where a person is needed */
  async token(): Promise<string> {
    try {
      const kept = await this.read();
      if (this.isGood(kept)) return kept.granted.accessToken;
      this.pending ??= this.renewed().finally(() => (this.pending = undefined));
      return await this.pending;
    } catch (error) {
      if (error instanceof NotAuthorized)
        throw new ToolError('unavailable', `The source needs authorization by a person: ${error.message}`, {
          retryable: false,
          cause: error,
        });
      throw error;
    }
  }

  refused(token: string): void {
    this.bad = token;
  }

  ended(token: string): void {
    this.dead = token;
  }

  /** Steps, until the token is good: take the lease, or wait for its holder → read again → renew → store, unless it was revoked meanwhile. */
  private async renewed(): Promise<string> {
    const { id, store } = this.parts;
    for (const until = performance.now() + WAIT_MS; performance.now() < until; await delay(LOOK_MS)) {
      const isHolder = await store.mayRenew(id, this.owner);
      try {
        const kept = await this.read();
        if (this.isGood(kept)) return kept.granted.accessToken;
        const token = isHolder ? await this.renew(kept) : undefined;
        if (token !== undefined) return token;
      } finally {
        if (isHolder) await store.renewed(id, this.owner);
      }
    }
    throw noToken('its tokens are renewed by another worker, which takes too long');
  }

  /**
   * Undefined where the tokens were replaced meanwhile: those are used. Of the same client, nothing is revoked, as this may end
   * their grant, too. Only the end of the grant, and a server that refuses the newest token, take tokens away; no fault of the
   * issuer does.
   */
  private async renew(kept: KeptGrant): Promise<string | undefined> {
    const { id, store, source } = this.parts;
    const { accessToken, refreshToken } = kept.granted;
    if (refreshToken === undefined) return this.refuse(kept, 'the token has ended, and the issuer gave none to renew it with');
    if (accessToken === this.dead) return this.refuse(kept, 'the server refuses the token that the issuer gave last');
    const requests = this.requests(AbortSignal.timeout(TIMEOUT_MS));
    try {
      const granted = await requests.renew(kept.granted, refreshToken, kept.now);
      this.hide(granted);
      if (await store.replace(id, source.binding, kept, granted)) return granted.accessToken;
      const revoke = () => requests.revoke(granted).catch(() => undefined);
      const replacing = await this.read().catch(async (error: unknown) => {
        if (error instanceof NotAuthorized) await revoke();
        throw error;
      });
      if (!hasSameClient(replacing.granted, granted)) await revoke();
      return undefined;
    } catch (error) {
      if (error instanceof NotAuthorized) throw error;
      if (!(error instanceof IssuerRefusal)) throw noToken('it could not be reached, or its answer cannot be used', error);
      const reason = `the issuer does not renew its tokens: ${error.message}`;
      if (error.code !== 'invalid_grant') throw noToken(reason, error);
      return this.refuse(kept, reason, error);
    }
  }

  /** Returns where the tokens were replaced or revoked meanwhile. */
  private async refuse(kept: KeptGrant, reason: string, cause?: unknown): Promise<undefined> {
    if (await this.parts.store.refuse(this.parts.id, kept, reason)) throw new NotAuthorized(reason, { cause });
  }

  private async read(): Promise<KeptGrant> {
    const kept = await this.parts.store.read(this.parts.id, this.parts.source.binding);
    this.hide(kept.granted);
    return kept;
  }

  /** True if the token may be sent. A single 401 may be a fault of the server: a token that cannot be renewed is sent again. */
  private isGood({ now, granted: { accessToken, refreshToken, endsAt = Infinity } }: KeptGrant): boolean {
    const isRefused = accessToken === this.dead || (refreshToken !== undefined && accessToken === this.bad);
    return !isRefused && now < endsAt;
  }

  /** Takes the tokens out of whatever the server answers. */
  private hide({ accessToken, refreshToken, client }: KeptGrant['granted']): void {
    const { secrets } = this.parts;
    for (const secret of [accessToken, refreshToken, client.clientSecret]) {
      if (secret === undefined || secrets.includes(secret)) continue;
      if (secrets.length >= this.others + TOKENS_KEPT) secrets.splice(this.others, 1);
      secrets.push(secret);
    }
  }
}
