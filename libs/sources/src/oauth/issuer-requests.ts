import { registerClient } from '@modelcontextprotocol/client';
import * as oidc from 'openid-client';
import type { McpAuthorizationCode } from '#contracts';
import type { EgressFetch } from '#sandbox';
import { failureText } from '../failure-text.js';
import { basicCredentials } from './client-credentials.js';
import {
  Granted,
  IssuerRefusal,
  storedText,
  TokenAnswer,
  type StartedAuthorization,
  type Issuer,
  type IssuerClient,
  type IssuerMetadata,
} from './stored-authorization.js';

type Fetch = EgressFetch['fetch'];

const TIMEOUT_SECONDS = 20;
/** A token is renewed this long before its end; one that is valid for a short time, for its second half. */
const SLACK_MS = 30_000;

/** Error codes for an unusable answer: of another issuer, of another request, or without a bearer token. */
const REFUSING = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
]);

/** The requests to an issuer, each checked by `fetch`. `secret`: that of the client in the definition. */
export class IssuerRequests {
  constructor(
    private readonly fetch: Fetch,
    private readonly secret: string | undefined,
  ) {}

  /** The client of the definition, or one that is registered now (RFC 7591). @throws Error in words for administrators */
  async client(issuer: IssuerMetadata, { clientId }: McpAuthorizationCode, redirectUri: string): Promise<IssuerClient> {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'], registration_endpoint } = issuer;
    const withSecret = methods.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post';
    if (clientId !== undefined) return { clientId, method: this.secret === undefined ? 'none' : withSecret };
    if (registration_endpoint === undefined)
      throw new Error(
        `the issuer ${issuer.issuer} registers no clients: register one there with the redirect URI ${redirectUri}, and name it as \`auth.clientId\``,
      );
    const asked = methods.includes('none') ? 'none' : withSecret;
    const answer = await registerClient(issuer.issuer, {
      metadata: { ...issuer, response_types_supported: ['code'] },
      clientMetadata: {
        client_name: 'Toolyard',
        redirect_uris: [redirectUri],
        application_type: applicationType(redirectUri),
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: asked,
      },
      fetchFn: this.fetch,
    }).catch((error: unknown) => {
      throw new Error(`the issuer ${issuer.issuer} did not register Toolyard: ${failureText(error).slice(0, 300)}`, { cause: error });
    });
    const { client_id, client_secret, token_endpoint_auth_method: given = asked } = answer;
    const method =
      client_secret === undefined || given === 'none' ? 'none' : given === 'client_secret_post' ? given : 'client_secret_basic';
    return { clientId: client_id, method, ...(client_secret === undefined ? {} : { clientSecret: client_secret }) };
  }

  /** Authorization address to which the person is sent. */
  async address(
    { issuer, client, verifier, redirectUri, resource }: StartedAuthorization,
    state: string,
    scopes: readonly string[],
  ): Promise<URL> {
    return oidc.buildAuthorizationUrl(this.configuration(issuer, client), {
      redirect_uri: redirectUri,
      state,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      // OpenID Connect has the person asked about access without them.
      ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
      ...(resource === undefined ? {} : { resource }),
    });
  }

  /**
   * Checks state and issuer. `url`: where the person came back to. `askedAt`: now, by the clock of Redis.
   *
   * @throws IssuerRefusal, or Error while it does not answer
   */
  async exchange({ issuer, client, verifier, resource }: StartedAuthorization, url: URL, state: string, askedAt: number): Promise<Granted> {
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    const more: { resource?: string } = resource === undefined ? {} : { resource };
    const answer = await refusals(
      oidc.authorizationCodeGrant(this.configuration(issuer, client), url, checks, new URLSearchParams({ ...more })),
    );
    return grantedBy(answer, { issuer, client, ...more }, askedAt);
  }

  /** Renews the tokens. `askedAt`: now, by the clock of Redis. @throws IssuerRefusal, or Error while the issuer does not answer */
  async renew({ issuer, client, resource, scope }: Granted, refreshToken: string, askedAt: number): Promise<Granted> {
    const more: { resource?: string } = resource === undefined ? {} : { resource };
    const answer = await refusals(
      oidc.refreshTokenGrant(this.configuration(issuer, client), refreshToken, new URLSearchParams({ ...more })),
    );
    const kept = { issuer, client, ...more, refreshToken, ...(scope === undefined ? {} : { scope }) };
    return grantedBy(answer, kept, askedAt);
  }

  /** RFC 7009. False where the issuer has no such endpoint. Rejects where it does not answer, or refuses. */
  async revoke({ issuer, client, accessToken, refreshToken }: Granted): Promise<boolean> {
    if (issuer.revocation_endpoint === undefined) return false;
    const configuration = this.configuration(issuer, client);
    if (refreshToken !== undefined) await oidc.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
    await oidc.tokenRevocation(configuration, accessToken, { token_type_hint: 'access_token' });
    return true;
  }

  private configuration(issuer: Issuer, { clientId, clientSecret = this.secret, method }: IssuerClient): oidc.Configuration {
    const authentication =
      method === 'none'
        ? oidc.None()
        : method === 'client_secret_post'
          ? oidc.ClientSecretPost(clientSecret)
          : basicAuthentication(clientSecret);
    const configuration = new oidc.Configuration({ ...issuer }, clientId, {}, authentication);
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[oidc.customFetch] = (url, { body, ...options }) =>
      this.fetch(url, { ...options, body: body instanceof URLSearchParams ? body.toString() : null });
    if (issuer.token_endpoint.startsWith('http:')) oidc.allowInsecureRequests(configuration);
    return configuration;
  }
}

/** Own code: that of the package encodes `-`, `_` and `.` as well, which issuers that do not decode refuse. */
function basicAuthentication(clientSecret = ''): oidc.ClientAuth {
  return (_server, { client_id: id }, _body, headers) => headers.set('authorization', `Basic ${basicCredentials(id, clientSecret)}`);
}

/** OpenID Connect Registration: a redirect URI of this machine is that of a native application. MCP clients must say which they are. */
function applicationType(redirectUri: string): 'native' | 'web' {
  return /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])[:/]/.test(new URL(redirectUri).href) ? 'native' : 'web';
}

function grantedBy(answer: unknown, before: Omit<Granted, 'accessToken' | 'endsAt'>, askedAt: number): Granted {
  const read = TokenAnswer.safeParse(answer);
  if (!read.success) throw new IssuerRefusal('expected access_token and token_type bearer in the answer of the issuer');
  const { access_token: accessToken, refresh_token: refreshToken = before.refreshToken, expires_in: seconds, scope } = read.data;
  const canRenew = refreshToken !== undefined;
  const granted: Granted = {
    ...before,
    accessToken,
    ...(canRenew ? { refreshToken } : {}),
    ...(scope === undefined ? {} : { scope }),
    ...(seconds === undefined ? {} : { endsAt: askedAt + seconds * 1_000 - (canRenew ? Math.min(SLACK_MS, seconds * 500) : 0) }),
  };
  storedText(Granted, granted);
  return granted;
}

/** Tells refusals from answers that may be other ones in a moment. */
async function refusals<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const isAnswered = error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError;
    if (isAnswered && (error.status >= 500 || error.status === 429)) throw error;
    if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
      throw new IssuerRefusal(`the issuer says: ${word(error.error)}`, { cause: error, code: error.error });
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (REFUSING.has(code)) throw new IssuerRefusal('the answer of the issuer does not fit the request', { cause: error });
    throw error;
  }
}

/** An error code, and nothing else that an issuer writes. */
function word(text: string): string {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(text) ? text : 'no';
}
