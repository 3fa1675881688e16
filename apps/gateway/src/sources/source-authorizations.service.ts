import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { randomPKCECodeVerifier, randomState } from 'openid-client';
import type { Logger } from 'pino';
import {
  ALL_TENANTS,
  ProblemError,
  type BeginSourceAuthorization,
  type Principal,
  type SourceAuthorizationRevoked,
  type StoredSource,
} from '#contracts';
import { sha256Hex, type RedisConnection } from '#redis';
import { EgressPolicy, egressFetch } from '#sandbox';
import {
  AuthorizationStore,
  authorizedSource,
  boundFetch,
  BEGUN_MS,
  definitionFault,
  IssuerRefusal,
  IssuerRequests,
  issuerUrls,
  resolveSecret,
  sourcePolicy,
  wantedOf,
  type AuthorizedSource,
  type Granted,
  type IssuerFetch,
} from '#sources';
import { AdminActs, type AdmittedAct } from '../auth/admin-acts.service.js';
import { SourceConfigService } from '../governance/source-config.service.js';
import { personText } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS, LOGGER } from '../platform/tokens.js';
import { SourceCatalog } from './source-catalog.service.js';
import type { KnownSource } from './source-views.js';

/** All requests to server and issuer together. */
const TIMEOUT_MS = 25_000;
/** How long a gateway that stops waits for the end of tokens. */
const CLOSE_MS = 3_000;
/** Authorizations for which a gateway asks issuers at a time; of one tenant one. */
const AT_ONCE = 8;
const RETRY_MS = 2_000;

interface Found extends AuthorizedSource {
  readonly id: { readonly tenantId: string; readonly name: string };
  readonly stored: StoredSource;
}

/** A person lets an MCP source have tokens: OAuth 2.0, authorization code with PKCE. */
@Injectable()
export class SourceAuthorizations implements BeforeApplicationShutdown {
  private readonly store: AuthorizationStore;
  private readonly authorizing = new Set<string>();
  /** Requests to issuers in the background. */
  private readonly ending = new Set<Promise<boolean>>();

  constructor(
    private readonly catalog: SourceCatalog,
    private readonly settings: SourceConfigService,
    private readonly acts: AdminActs,
    @Inject(FAIL_FAST_REDIS) redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'egress' | 'env' | 'sourceTokenKey'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.store = new AuthorizationStore(redis, config.sourceTokenKey);
    settings.whenEnded((ended) => this.forget(ended));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([Promise.all(this.ending), delay(CLOSE_MS, undefined, { ref: false })]);
  }

  /**
   * Steps: find the source → ask its server and its issuer → register a client, where the definition names none → keep what the
   * person is checked by when they come back. `publicUrl`: where the dashboard is.
   */
  async begin(principal: Principal, name: string, publicUrl: string): Promise<BeginSourceAuthorization> {
    this.assertConfigured();
    const found = await this.find(principal, name);
    this.assertAllowed(found);
    // Nothing is granted yet: what is recorded is the act that finishes it.
    this.acts.admit(principal, { revokes: false });
    return this.alone(principal, () =>
      this.asking(found, async (requests, get) => {
        try {
          const { issuer, resource, scopes } = await wantedOf(found.url, found.auth, get);
          // An address of its own for each issuer: an answer of another one comes to another address (RFC 9700, mix-up).
          const redirectUri = `${publicUrl}/authorized/${sha256Hex(issuer.issuer).slice(0, 16)}`;
          const client = await requests.client(issuer, found.auth, redirectUri);
          const more = resource === undefined ? {} : { resource };
          const begun = { ...found.id, binding: found.binding, issuer, client, verifier: randomPKCECodeVerifier(), redirectUri, ...more };
          const state = randomState();
          const expiresAt = new Date(Date.now() + BEGUN_MS).toISOString();
          const { href } = await requests.address(begun, state, scopes);
          await this.store.begin(callerOf(principal), state, begun);
          return { url: href, expiresAt, redirectUri };
        } catch (error) {
          throw new ProblemError('conflict', `The source ${name} cannot be authorized: ${messageOf(error)}`);
        }
      }),
    );
  }

  /** `address`: where the person came back to. Returns the name of the source. @throws ProblemError for anything that does not fit */
  async finish(principal: Principal, address: string): Promise<string> {
    this.assertConfigured();
    const act = this.acts.admit(principal, { revokes: false });
    return this.alone(principal, () => this.finishAlone(principal, address, act));
  }

  private async finishAlone(principal: Principal, address: string, act: AdmittedAct): Promise<string> {
    const url = new URL(address);
    const state = url.searchParams.get('state') ?? '';
    const begun = await this.store.take(callerOf(principal), state);
    if (begun === undefined || url.origin + url.pathname !== begun.redirectUri) throw notBegun();
    const found = await this.find(principal, begun.name);
    this.assertAllowed(found);
    if (found.binding !== begun.binding) throw notBegun();
    const askedAt = await this.store.now();
    const granted = await this.asking(found, (requests) =>
      requests.exchange(begun, url, state, askedAt).catch((error: unknown) => {
        if (error instanceof IssuerRefusal)
          throw new ProblemError('conflict', `The source ${begun.name} was not authorized: ${error.message}`);
        this.log.warn({ reason: messageOf(error), source: begun.name }, 'an issuer of tokens could not be asked');
        throw new ProblemError('unavailable', 'The issuer of tokens does not answer now: begin again in a moment', { retryAfterMs: 2_000 });
      }),
    );
    const by = principal.person === undefined ? principal.keyId : personText(principal.person);
    if (!(await this.keep(found, granted, by))) throw notBegun();
    this.log.warn({ source: begun.name, tenant: found.id.tenantId, key: principal.keyId }, 'a source was authorized');
    await act.record('admin.source_authorized', { target: begun.name, after: { issuer: granted.issuer.issuer, scope: granted.scope } });
    return begun.name;
  }

  /** False where the source was removed or changed meanwhile. Tokens that are not stored, or not any more, end at the issuer. */
  private async keep(found: Found, granted: Granted, by: string): Promise<boolean> {
    let ended: Granted | undefined = granted;
    try {
      const stored = await this.store.grant(found.id, found.binding, granted, by);
      ended = stored.ended;
      return stored.isStored;
    } finally {
      this.endLater(found, ended);
    }
  }

  /** The tokens are gone here before the issuer is asked: a worker that renews them now cannot store them. */
  async revoke(principal: Principal, name: string): Promise<SourceAuthorizationRevoked> {
    const found = await this.find(principal, name);
    const act = this.acts.admit(principal, { revokes: true });
    await act.record('admin.source_authorization_revoked', { target: name });
    this.log.warn({ source: name, tenant: found.id.tenantId, key: principal.keyId }, 'the authorization of a source was revoked');
    return { atIssuer: await this.end(found, await this.store.remove(found.id, found.binding)) };
  }

  /** The same sources, with whether people authorized those that need it. Who did so for all tenants is for their operator. */
  async withStates({ scopes }: Principal, sources: readonly KnownSource[]): Promise<KnownSource[]> {
    const asked = sources.filter(({ stored }) => stored !== undefined && authorizedSource(stored) !== undefined);
    const states = await this.store.states(asked.flatMap(({ stored }) => (stored === undefined ? [] : [idOf(stored)])));
    return sources.map((source) => {
      const authorization = states[asked.indexOf(source)];
      if (authorization === undefined) return source;
      const isShown = source.stored?.tenantId !== ALL_TENANTS || scopes.includes('operate');
      return { ...source, authorization: isShown ? authorization : { state: authorization.state } };
    });
  }

  /** Takes what a change of sources ended: sealed authorizations by the definitions that they belong to. Never throws. */
  forget(ended: ReadonlyMap<StoredSource, string>): void {
    for (const [stored, text] of ended) {
      const authorized = authorizedSource(stored);
      if (authorized !== undefined)
        this.endLater({ ...authorized, id: idOf(stored), stored }, this.store.tokensOf(text, authorized.binding));
    }
  }

  /** Asks the issuer in the background: one that does not answer holds nothing up. */
  private endLater(found: Found, granted: Granted | undefined): void {
    const asked = this.end(found, granted).finally(() => this.ending.delete(asked));
    this.ending.add(asked);
  }

  private async end(found: Found, granted: Granted | undefined): Promise<boolean> {
    if (granted === undefined) return false;
    return this.asking(found, (requests) => requests.revoke(granted)).catch((error: unknown) => {
      this.log.warn({ reason: messageOf(error), source: found.id.name }, 'an issuer did not end the tokens of a source');
      return false;
    });
  }

  /** @throws ProblemError `overloaded` while the tenant authorizes another source, or too many others do */
  private async alone<T>({ tenantId }: Principal, authorize: () => Promise<T>): Promise<T> {
    if (this.authorizing.has(tenantId) || this.authorizing.size >= AT_ONCE)
      throw new ProblemError('overloaded', 'Another source is authorized now: send the same request again later', {
        retryAfterMs: RETRY_MS,
      });
    this.authorizing.add(tenantId);
    try {
      return await authorize();
    } finally {
      this.authorizing.delete(tenantId);
    }
  }

  /** Requests by the rules for the source, each with a deadline and a limit. */
  private async asking<T>(found: Found, ask: (requests: IssuerRequests, get: IssuerFetch) => Promise<T>): Promise<T> {
    const { auth } = found;
    const [policy, secret] = orConflict(found, () => [
      this.policyOf(found),
      auth.clientSecret && resolveSecret(auth.clientSecret, this.config.env ?? {}, 'gateway'),
    ]);
    const guarded = egressFetch(policy);
    const get = boundFetch(guarded.fetch, AbortSignal.timeout(TIMEOUT_MS));
    try {
      return await ask(new IssuerRequests(get, secret), get);
    } finally {
      await guarded.close();
    }
  }

  private policyOf({ auth, url, hosts, stored: { origin } }: Found): EgressPolicy {
    return sourcePolicy(this.config.egress ?? new EgressPolicy(), { origin, urls: [url, ...issuerUrls(auth)], egress: hosts });
  }

  private assertConfigured(): void {
    if (!this.store.isConfigured)
      throw new ProblemError(
        'not_implemented',
        'Authorization of sources is not configured: set SOURCE_TOKEN_KEY for gateways and workers',
      );
  }

  /** The rules may have changed since it was added. */
  private assertAllowed({ stored }: Found): void {
    const fault = definitionFault(stored, this.settings.rules);
    if (fault !== undefined) throw new ProblemError('forbidden', `The source is not allowed: ${fault}`);
  }

  /** @throws ProblemError for a source that is not there, that takes no authorization, or that is the operator's */
  private async find({ tenantId, scopes }: Principal, name: string): Promise<Found> {
    const { store } = this.catalog;
    const stored = (await store.definition({ tenantId: ALL_TENANTS, name })) ?? (await store.definition({ tenantId, name }));
    if (stored === undefined)
      throw new ProblemError('resource_not_found', `No source is called ${name}; GET /v1/sources lists those there are`);
    if (stored.tenantId === ALL_TENANTS && !scopes.includes('operate'))
      throw new ProblemError('forbidden', `The source ${name} belongs to all tenants: authorizing it needs the scope operate too`);
    const authorized = authorizedSource(stored);
    if (authorized === undefined)
      throw new ProblemError(
        'conflict',
        `The source ${name} is not authorized by people: its definition has no auth of the type authorizationCode`,
      );
    return { ...authorized, id: idOf(stored), stored };
  }
}

/** Identity of the caller that may finish an authorization. */
function callerOf({ tenantId, keyId }: Principal): string {
  return JSON.stringify([tenantId, keyId]);
}

/** @throws ProblemError with what is missing in the definition or the environment */
function orConflict<T>({ id }: Found, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ProblemError('conflict', `The source ${id.name} cannot be authorized: ${messageOf(error)}`);
  }
}

function idOf({ tenantId, definition: { name } }: StoredSource): Found['id'] {
  return { tenantId, name };
}

function notBegun(): ProblemError {
  return new ProblemError(
    'conflict',
    'This authorization was not begun with this key or login, has been used, took too long, or the source has changed since. Begin again.',
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error);
}
