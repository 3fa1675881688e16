import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Logger } from 'pino';
import { ProblemError, type ApiKeyConfig, type JwtIssuer, type Principal } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { unknownKey } from './access.js';
import { ApiKeyStore } from './api-key-store.service.js';
import { CreatedKeys } from './keys/created-keys.service.js';
import { isCreatedKey } from './keys/key-text.js';
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
  ) {
    this.verifier = this.verifierOf(jwt);
  }

  /** The issuers whose tokens are accepted now. */
  get issuers(): readonly string[] {
    return this.verifier.issuers.map(({ issuer }) => issuer);
  }

  /**
   * The principal of the token: at once for an API key and for a JWT that was verified lately. `connection` as for
   * `ApiKeyStore.authenticate`. Throws, or rejects with, a ProblemError `unauthenticated` or `unavailable`.
   */
  identify(token: string, connection?: object): Principal | Promise<Principal> {
    const known = this.apiKeys.authenticate(token, connection);
    if (known !== undefined) return known;
    if (this.created !== undefined && isCreatedKey(token)) return this.lookAgain(token, this.created);
    if (this.verifier.issuers.length === 0 || !isJwt(token)) throw unknownKey();
    return this.verify(token);
  }

  /** Replaces all keys and issuers at once. */
  replace(keys: readonly ApiKeyConfig[], issuers: readonly JwtIssuer[] = []): void {
    this.verifier = this.verifierOf(issuers, this.verifier);
    this.apiKeys.replace(keys, issuers);
  }

  /** Another gateway may have made the key a moment ago. */
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
