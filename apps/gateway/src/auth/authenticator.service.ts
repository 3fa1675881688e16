import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ProblemError, type ApiKeyConfig, type JwtIssuer, type LoginSettings, type Principal } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { requiredToken, unknownKey } from './access.js';
import { ApiKeyStore, LOGIN_IS_OVER } from './api-key-store.service.js';
import { CreatedKeys } from './keys/created-keys.service.js';
import { isCreatedKey } from './keys/key-text.js';
import { assertSameOrigin } from './login/same-origin.js';
import { LoginSessions } from './login/login-sessions.service.js';
import { isJwt, TokenVerifier } from './tokens/token-verifier.js';

/** Finds the principal of a bearer token: an API key, or a JWT of one of the issuers in the config. */
@Injectable()
export class Authenticator {
  private verifier: TokenVerifier;

  constructor(
    private readonly apiKeys: ApiKeyStore,
    @Inject(GATEWAY_CONFIG) { jwt = [] }: Pick<GatewayConfig, 'jwt'>,
    @Inject(LOGGER) private readonly log: Logger,
    @Optional() private readonly created?: CreatedKeys,
    @Optional() private readonly logins?: LoginSessions,
  ) {
    this.verifier = this.verifierOf(jwt);
  }

  /** Issuers whose tokens are accepted. */
  get issuers(): readonly string[] {
    return this.verifier.issuers.map(({ issuer }) => issuer);
  }

  /**
   * Principal of the token: at once for an API key and for a recently verified JWT. `connection` as for
   * `ApiKeyStore.authenticate`. Throws, or rejects with, a ProblemError `unauthenticated` or `unavailable`.
   */
  identify(token: string, connection?: object): Principal | Promise<Principal> {
    const known = this.apiKeys.authenticate(token, connection);
    if (known !== undefined) return known;
    if (this.created !== undefined && isCreatedKey(token)) return this.lookAgain(token, this.created);
    if (this.verifier.issuers.length === 0 || !isJwt(token)) throw unknownKey();
    return this.verify(token);
  }

  /**
   * Principal of a request: of its bearer token, else of its login cookie.
   * @throws ProblemError `unauthenticated`, `unavailable`, or `origin_refused` for a cookie in a request from a page of another
   * site
   */
  identifyRequest({ method, headers, raw }: FastifyRequest): Principal | Promise<Principal> {
    const { authorization, cookie } = headers;
    const origin = authorization === undefined && cookie !== undefined ? this.logins?.originFor(cookie) : undefined;
    if (origin === undefined) return this.identify(requiredToken(authorization), raw.socket);
    assertSameOrigin(method, headers, origin);
    return this.identifyLogin(cookie);
  }

  /** Login cookie of an upgrade; undefined if the page is not of the gateway's own origin. */
  loginOf({ cookie, origin }: IncomingHttpHeaders): string | undefined {
    return origin !== undefined && this.logins?.originFor(cookie) === origin ? cookie : undefined;
  }

  /**
   * Principal of the login cookie of a request or upgrade, verified first. Rejects with a ProblemError `unauthenticated`,
   * `forbidden` or `unavailable`.
   */
  async identifyLogin(cookie: string | undefined): Promise<Principal> {
    const login = await this.logins?.find(cookie);
    if (login === undefined) throw new ProblemError('unauthenticated', LOGIN_IS_OVER);
    return login;
  }

  /** Replaces all keys, issuers and the login at once. */
  replace(keys: readonly ApiKeyConfig[], issuers: readonly JwtIssuer[] = [], login?: LoginSettings): void {
    this.verifier = this.verifierOf(issuers, this.verifier);
    this.apiKeys.replace(keys, issuers, login);
  }

  /** Looks up a key that another gateway may have just created. */
  private async lookAgain(token: string, created: CreatedKeys): Promise<Principal> {
    try {
      await created.refresh();
    } catch {
      throw new ProblemError('unavailable', 'The API keys cannot be read now');
    }
    const known = this.apiKeys.authenticate(token);
    if (known === undefined) throw unknownKey();
    return known;
  }

  private async verify(token: string): Promise<Principal> {
    const verified = await this.verifier.verify(token);
    this.apiKeys.admit(token, verified);
    return verified.principal;
  }

  private verifierOf(issuers: readonly JwtIssuer[], before?: TokenVerifier): TokenVerifier {
    const failed = (issuer: string, err: unknown) =>
      this.log.error({ issuer, err }, 'the keys of an issuer of tokens could not be read; known ones stay in use');
    return new TokenVerifier(issuers, failed, before);
  }
}
