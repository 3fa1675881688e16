import { Inject, Injectable } from '@nestjs/common';
import * as oidc from 'openid-client';
import type { Logger } from 'pino';
import { loginOrigin, ProblemError, type LoginSettings } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { LOGGER } from '../../platform/tokens.js';
import { boundedFetch } from '../tokens/issuer-keys.js';
import { providerClaims, type ProviderClaims } from './login-claims.js';

const TIMEOUT_SECONDS = 5;
/** Age at which the discovery document is read again. */
const DISCOVERY_MS = 3_600_000;
/** Pause after a failed read, however many people sign in. */
const PAUSE_MS = 2_000;
const CALLBACK_PATH = '/v1/login/callback';

/** Values that verify the browser's return. */
export interface StartedLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Person after the return from the provider. */
export interface Identified {
  readonly claims: ProviderClaims;
  readonly refreshToken?: string | undefined;
}

interface Discovered {
  readonly text: string;
  /** Time by `performance.now()`. */
  readonly at: number;
  readonly configuration: Promise<oidc.Configuration>;
}

/** OpenID Connect client of the provider: authorization code with PKCE. Stores nothing of a person. */
@Injectable()
export class LoginProvider {
  private discovered: Discovered | undefined;
  private failed = { text: '', at: -Infinity };

  constructor(
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'publicUrl' | 'env'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Origin under which people open the dashboard. */
  originOf(settings: LoginSettings): string {
    const origin = loginOrigin(settings, this.config.publicUrl);
    if (origin === undefined)
      throw new ProblemError('not_implemented', 'login.baseUrl is not set, and GATEWAY_PUBLIC_URL is no origin for cookies');
    return origin;
  }

  /** @throws ProblemError `unavailable` while the provider is unreachable */
  async begin(settings: LoginSettings): Promise<StartedLogin & { readonly url: URL }> {
    const configuration = await this.configuration(settings);
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.originOf(settings) + CALLBACK_PATH,
      scope: settings.scopes.join(' '),
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { state, nonce, verifier, url };
  }

  /**
   * `search`: query of the browser's return. Verifies state, issuer, code with PKCE, signature, audience, nonce and expiry.
   * @throws ProblemError `unauthenticated` if any check fails, `unavailable` while the provider is unreachable
   */
  async finish(settings: LoginSettings, search: string, { state, nonce, verifier }: StartedLogin): Promise<Identified> {
    const configuration = await this.configuration(settings);
    const url = new URL(`${this.originOf(settings)}${CALLBACK_PATH}${search}`);
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await oidc.authorizationCodeGrant(configuration, url, checks);
      return await this.identify(configuration, settings, tokens, tokens.claims()?.sub);
    } catch (error) {
      throw this.refusalOf(settings, error);
    }
  }

  /**
   * Current claims of the person of a refresh token.
   * @throws ProblemError `unauthenticated` if the provider refuses, `unavailable` while it is unreachable
   */
  async recheck(
    settings: LoginSettings,
    refreshToken: string,
    { sub, subject }: Pick<ProviderClaims, 'sub' | 'subject'>,
  ): Promise<Identified> {
    const configuration = await this.configuration(settings);
    try {
      const tokens = await oidc.refreshTokenGrant(configuration, refreshToken);
      const found = await this.identify(configuration, settings, tokens, sub);
      if (found.claims.subject !== subject) throw new Error(`the claim ${settings.subjectClaim} names another person`);
      return { ...found, refreshToken: found.refreshToken ?? refreshToken };
    } catch (error) {
      throw this.refusalOf(settings, error);
    }
  }

  /** Page for signing out of the provider too; undefined if it has none or is unreachable. */
  async signOutUrl(settings: LoginSettings): Promise<string | undefined> {
    const configuration = await this.configuration(settings).catch(() => undefined);
    if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: `${this.originOf(settings)}/` }).href;
  }

  /** Claims of the ID token; missing ones come from the provider's user information endpoint. */
  private async identify(
    configuration: oidc.Configuration,
    settings: LoginSettings,
    tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
    sub: string | undefined,
  ): Promise<Identified> {
    const claims = tokens.claims();
    if (sub === undefined || (claims !== undefined && claims.sub !== sub)) throw new Error('the provider speaks of another person');
    const { userinfo_endpoint: hasMore } = configuration.serverMetadata();
    const more = hasMore === undefined ? {} : await oidc.fetchUserInfo(configuration, tokens.access_token, sub);
    const found = providerClaims({ ...more, ...claims }, settings);
    if (found?.sub !== sub)
      throw new Error(
        `expected sub and ${settings.subjectClaim} as claims of visible ASCII without braces, at most 255 characters, an email verified`,
      );
    return { claims: found, refreshToken: tokens.refresh_token };
  }

  private configuration(settings: LoginSettings): Promise<oidc.Configuration> {
    const text = JSON.stringify([settings.issuer, settings.clientId, settings.clientSecret]);
    const { discovered } = this;
    if (discovered?.text === text && performance.now() - discovered.at < DISCOVERY_MS) return discovered.configuration;
    if (this.failed.text === text && performance.now() - this.failed.at < PAUSE_MS) return Promise.reject(awayNow(settings));
    const configuration = this.discover(settings).catch((error: unknown) => {
      this.failed = { text, at: performance.now() };
      if (this.discovered?.configuration === configuration) this.discovered = undefined;
      this.log.error({ err: error, issuer: settings.issuer }, 'the discovery document of the login provider could not be read');
      throw awayNow(settings);
    });
    this.discovered = { text, at: performance.now(), configuration };
    return configuration;
  }

  private async discover({ issuer, clientId, clientSecret }: LoginSettings): Promise<oidc.Configuration> {
    const url = new URL(issuer);
    const insecure = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
    const bounded: oidc.CustomFetch = (address, options) => boundedFetch(address, options);
    const server = (
      await oidc.discovery(url, clientId, undefined, oidc.None(), {
        execute: insecure,
        timeout: TIMEOUT_SECONDS,
        [oidc.customFetch]: bounded,
      })
    ).serverMetadata();
    const secret = clientSecret === undefined ? undefined : this.config.env?.[clientSecret.secretEnv];
    if (clientSecret !== undefined && !secret) throw new Error(`the variable ${clientSecret.secretEnv} is not set`);
    const configuration = new oidc.Configuration(
      { ...server },
      clientId,
      {},
      secret === undefined ? oidc.None() : authenticationOf(server, secret),
    );
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[oidc.customFetch] = bounded;
    for (const apply of [...insecure, oidc.enableNonRepudiationChecks]) apply(configuration);
    return configuration;
  }

  private refusalOf(settings: LoginSettings, error: unknown): ProblemError {
    if (error instanceof ProblemError) return error;
    if (isAway(error)) {
      this.log.error({ err: error, issuer: settings.issuer }, 'the login provider does not answer');
      return awayNow(settings);
    }
    this.log.warn({ err: error, issuer: settings.issuer }, 'a login was refused');
    const providerError = error instanceof oidc.AuthorizationResponseError ? ` The provider says: ${error.error}.` : '';
    return new ProblemError('unauthenticated', `The login could not be completed.${providerError} Begin again.`);
  }
}

/** Client authentication. RFC 8414: `client_secret_basic` is the default. */
function authenticationOf(
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: oidc.ServerMetadata,
  secret: string,
) {
  return methods.includes('client_secret_basic') ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret);
}

function awayNow({ name }: LoginSettings): ProblemError {
  return new ProblemError('unavailable', `Sign-in with ${name} does not answer now: try again in a moment. API keys work.`, {
    retryAfterMs: PAUSE_MS,
  });
}

/** True for no answer, or one that reports a failure or overload of the server. All other errors are refusals. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause, message } = error as Error & { readonly code?: unknown };
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || message === 'fetch failed') return true;
  if (cause instanceof Response) return cause.status >= 500 || cause.status === 429;
  return cause instanceof Error && isAway(cause);
}
