import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ProblemError, type ApiKeyConfig, type JwtIssuer, type LoginSettings, type Principal, type Scope } from '#contracts';
import { sha256Hex } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { isCreatedKeyId } from './keys/key-text.js';
import { narrowRights, rightsOfRoles } from './login/role-rights.js';
import { boundsOf, issuerOfKeyId, isIssuerOf, subjectOfKeyId } from './tokens/token-principal.js';
import { isSame, type VerifiedToken } from './tokens/token-verifier.js';

interface StoredKey {
  readonly principal: Principal;
  /** ms since the epoch; Infinity = never. */
  readonly expiresAt: number;
  /** Last use, shared by all texts of a key; absent for tokens. */
  readonly use?: KeyUse | undefined;
}

/** Last use of a key, ms since the epoch; 0 = not since this gateway knows the key. */
export interface KeyUse {
  at: number;
}

/** Login to the dashboard, while this gateway holds it. Valid until `expiresAt`, which may be set to 0. */
export interface LoginGrant {
  readonly principal: Principal;
  expiresAt: number;
}

/** Key created over HTTP, as this store holds it. */
export interface CreatedKey {
  /** Version of the key: equal texts mean equal keys. */
  readonly version: string;
  readonly entry: Omit<ApiKeyConfig, 'key' | 'sha256' | 'person'>;
  /** All people who may know its text. */
  readonly people: readonly string[];
  /** Digests of its texts with the expiry of each, ms since the epoch; the current one first. Empty for a revoked key. */
  readonly secrets: readonly { readonly sha256: string; readonly until: number }[];
}

interface Presented {
  readonly token: Buffer;
  readonly stored: StoredKey;
}

/** Set of active keys. */
interface KeySet {
  readonly byDigest: ReadonlyMap<string, StoredKey>;
  readonly byId: ReadonlyMap<string, StoredKey>;
  readonly issuers: ReadonlyMap<string, JwtIssuer>;
  readonly login: LoginSettings | undefined;
  /** People of each key, also of revoked ones. */
  readonly people: ReadonlyMap<string, readonly string[]>;
}

type Keys = Omit<KeySet, 'issuers' | 'login'>;
const NO_KEYS: Keys = { byDigest: new Map(), byId: new Map(), people: new Map() };

/** Most tokens whose verification is cached, and the time for it in milliseconds. */
const MAX_TOKENS = 10_000;
const TOKEN_MS = 60_000;

export const LOGIN_IS_OVER = 'The login is over: sign in again';

/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * API keys of this gateway, and recently verified tokens, by SHA-256. The keys themselves are not stored, except the last token
 * of each open connection. A look-up hashes the token first, so its duration reveals nothing about the key; the last token of a
 * connection is compared in constant time.
 *
 * A principal has the rights of its key at the time of the look-up. Work that outlives one request (sockets, event streams,
 * waits, batches) calls `rejection` before each frame, delivery or step, and `watch` to be notified when the key is lost.
 *
 * A token is lost when it expires, and when its issuer's settings in the config change. Its principal that was stored with a
 * call or batch remains valid until the issuer is removed, with no more rights than the issuer may give.
 */
@Injectable()
export class ApiKeyStore {
  private keySet: KeySet;
  private fromConfig: KeySet;
  private created: Keys = NO_KEYS;
  private createdVersions = new Map<string, readonly (readonly [string, StoredKey])[]>();
  private readonly keyUses = new Map<string, KeyUse>();
  private configured: readonly ApiKeyConfig[] = [];
  private lastPresented = new WeakMap<object, Presented>();
  /** Digests by principals of this store. */
  private readonly digests = new WeakMap<Principal, string>();
  private readonly tokens = new LRUCache<string, VerifiedToken>({ max: MAX_TOKENS, ttl: TOKEN_MS });
  private readonly issued = new WeakMap<Principal, VerifiedToken>();
  private readonly logins = new WeakMap<Principal, LoginGrant>();
  private readonly resolved = new WeakMap<Principal, { readonly keySet: KeySet; readonly stored: StoredKey | undefined }>();
  private readonly listeners = new Set<() => void>();

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig) {
    this.fromConfig = this.buildKeySet(config.keys, config.jwt, config.login);
    this.keySet = this.fromConfig;
  }

  /**
   * Replaces all keys and issuers at once, also for open sockets and streams: watchers of a key that lost rights are called
   * before this returns.
   */
  replace(keys: readonly ApiKeyConfig[], issuers: readonly JwtIssuer[] = [], login?: LoginSettings): void {
    this.fromConfig = this.buildKeySet(keys, issuers, login);
    this.tokens.clear();
    this.switchKeys();
  }

  /** Replaces all keys created over HTTP, with the same effect. An unchanged key keeps its principal. */
  replaceCreated(keys: readonly CreatedKey[]): void {
    const byDigest = new Map<string, StoredKey>();
    const byId = new Map<string, StoredKey>();
    const people = new Map<string, readonly string[]>();
    const versions: typeof this.createdVersions = new Map();
    for (const key of keys) {
      const texts = this.createdVersions.get(key.version) ?? this.textsOf(key);
      versions.set(key.version, texts);
      for (const [digest, stored] of texts) byDigest.set(digest, stored);
      if (texts[0] !== undefined) byId.set(key.entry.id, texts[0][1]);
      people.set(key.entry.id, key.people);
    }
    this.createdVersions = versions;
    this.created = { byDigest, byId, people };
    this.switchKeys();
  }

  /** Active settings of logins; undefined if people cannot sign in. */
  get login(): LoginSettings | undefined {
    return this.keySet.login;
  }

  /** Makes the principal of the login known until the grant expires. */
  admitLogin(grant: LoginGrant): void {
    this.logins.set(grant.principal, grant);
  }

  /** Ends the login and everything it has opened, before this returns. */
  endLogin(grant: LoginGrant): void {
    grant.expiresAt = 0;
    for (const listener of this.listeners) listener();
  }

  /** Keys of the tenant in the config, with their texts: must not get into responses. */
  keysOfConfig(tenantId: string): readonly ApiKeyConfig[] {
    return this.configured.filter(({ tenant }) => tenant === tenantId);
  }

  /** Last uses that this gateway has seen, by key id. */
  uses(): ReadonlyMap<string, Readonly<KeyUse>> {
    return this.keyUses;
  }

  /** People behind a key or token; undefined for an unknown one. */
  peopleOf(keyId: string): readonly string[] | undefined {
    const subject = subjectOfKeyId(keyId);
    return subject === undefined ? this.keySet.people.get(keyId) : [subject];
  }

  /**
   * Principal of the token; undefined if it is unknown or has expired. One shared, frozen object per key. Requests of one
   * `connection` mostly have the same token: only the first of them is hashed.
   */
  authenticate(token: string, connection?: object, now = Date.now()): Principal | undefined {
    const stored = connection === undefined ? this.lookUp(sha256Hex(token)) : this.lookUpOnConnection(connection, token);
    if (stored === undefined || now >= stored.expiresAt) return undefined;
    if (stored.use !== undefined) stored.use.at = now;
    return stored.principal;
  }

  /** Makes the token known, unless its issuer was changed during the verification. */
  admit(token: string, verified: VerifiedToken): void {
    this.issued.set(verified.principal, verified);
    if (this.isTrusted(verified)) this.tokens.set(sha256Hex(token), verified);
  }

  /**
   * Principal with its key's current rights; undefined if the key was removed, has expired or belongs to another tenant. A
   * stored principal, such as that of a batch, is found by its `keyId`.
   */
  current(principal: Principal, now = Date.now()): Principal | undefined {
    const stored = this.resolve(principal);
    return stored !== undefined && now < stored.expiresAt && stored.principal.tenantId === principal.tenantId
      ? stored.principal
      : undefined;
  }

  /**
   * True if the same person is behind both keys or tokens, as far as the config shows. The subject of a token is the same
   * person at every issuer. An unknown key created over HTTP may be anyone's.
   */
  isSamePerson(keyId: string, other: string): boolean {
    if (keyId === other) return true;
    const [people, others] = [this.peopleOf(keyId), this.peopleOf(other)];
    if ((people === undefined && isCreatedKeyId(keyId)) || (others === undefined && isCreatedKeyId(other))) return true;
    return people?.some((person) => others?.includes(person)) === true;
  }

  /** Reason why the principal may not continue: `unauthenticated`, or `forbidden` without `scope`. Undefined if it may. */
  rejection(principal: Principal, scope?: Scope, now = Date.now()): ProblemError | undefined {
    const current = this.current(principal, now);
    if (current === undefined) return new ProblemError('unauthenticated', this.lossReason(principal));
    if (scope === undefined || current.scopes.includes(scope)) return undefined;
    return new ProblemError('forbidden', `This needs the scope ${scope}; the key has ${current.scopes.join(', ')}`);
  }

  /**
   * Calls `lost` once when the principal may not continue: after a change of the config, when the key expires, or at once. The
   * returned function stops the watch.
   */
  watch(principal: Principal, scope: Scope | undefined, lost: (problem: ProblemError) => void): () => void {
    let expiry: NodeJS.Timeout | undefined;
    const look = () => {
      clearTimeout(expiry);
      const problem = this.rejection(principal, scope);
      if (problem !== undefined) {
        release();
        return lost(problem);
      }
      const left = (this.resolve(principal)?.expiresAt ?? Infinity) - Date.now();
      if (left !== Infinity) expiry = setTimeout(look, Math.min(Math.max(0, left), MAX_TIMER_MS)).unref();
    };
    const stopListening = this.onChange(look);
    const release = () => {
      stopListening();
      clearTimeout(expiry);
    };
    look();
    return release;
  }

  /** Calls `changed` after each change of the keys, until the returned function is called. */
  onChange(changed: () => void): () => void {
    const listener = () => changed();
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private lossReason(principal: Principal): string {
    const stored = this.resolve(principal);
    if (this.logins.has(principal)) return LOGIN_IS_OVER;
    if (stored === undefined)
      return issuerOfKeyId(principal.keyId) === undefined ? 'The API key was removed' : 'The issuer of the token was changed or removed';
    if (issuerOfKeyId(principal.keyId) !== undefined) return 'The token has expired';
    return stored.principal.tenantId === principal.tenantId ? 'The API key has expired' : 'The API key belongs to another tenant now';
  }

  private resolve(principal: Principal): StoredKey | undefined {
    let found = this.resolved.get(principal);
    if (found?.keySet !== this.keySet) {
      const { keySet } = this;
      const digest = this.digests.get(principal);
      const stored = () => this.logins.get(principal) ?? keySet.byId.get(principal.keyId) ?? this.ofToken(principal);
      found = { keySet, stored: digest === undefined ? stored() : keySet.byDigest.get(digest) };
      this.resolved.set(principal, found);
    }
    return found.stored;
  }

  private ofToken(principal: Principal): StoredKey | undefined {
    const verified = this.issued.get(principal);
    if (verified !== undefined) return this.isTrusted(verified) ? verified : undefined;
    const issuer = issuerOfKeyId(principal.keyId) ?? '';
    // Logins before tokens: both may have the same issuer, with different bounds.
    if (principal.person !== undefined) return this.ofEarlierLogin(principal, issuer);
    const rules = this.keySet.issuers.get(issuer);
    if (rules === undefined || !isIssuerOf(rules, principal.tenantId)) return undefined;
    const { keyId, tenantId, agentId, userId, expiresAt } = principal;
    const scopes = principal.scopes.filter((scope) => rules.scopes.includes(scope));
    const stored = {
      keyId,
      tenantId,
      scopes,
      ...(agentId === undefined ? {} : { agentId }),
      ...(userId === undefined ? {} : { userId }),
      ...boundsOf(rules),
    };
    return { principal: Object.freeze(stored), expiresAt: expiresAt === undefined ? Infinity : Date.parse(expiresAt) };
  }

  /** Principal stored by an earlier login with a call or batch, narrowed to the rights that roles of its tenant may give now. */
  private ofEarlierLogin(principal: Principal, issuer: string): StoredKey | undefined {
    const { login } = this.keySet;
    if (login === undefined || login.issuer !== issuer) return undefined;
    const roles = Object.values(login.roleMap).filter(({ tenant }) => tenant === principal.tenantId);
    if (roles.length === 0) return undefined;
    return { principal: Object.freeze(narrowRights(principal, rightsOfRoles(roles))), expiresAt: Infinity };
  }

  private isTrusted({ issuer }: VerifiedToken): boolean {
    const now = this.keySet.issuers.get(issuer.issuer);
    return now !== undefined && isSame(now, issuer);
  }

  private lookUp(digest: string): StoredKey | undefined {
    return this.keySet.byDigest.get(digest) ?? this.tokens.get(digest);
  }

  private lookUpOnConnection(connection: object, token: string): StoredKey | undefined {
    const bytes = Buffer.from(token);
    const last = this.lastPresented.get(connection);
    if (last !== undefined && last.token.length === bytes.length && timingSafeEqual(last.token, bytes)) return last.stored;
    const digest = sha256Hex(token);
    const stored = this.keySet.byDigest.get(digest);
    if (stored === undefined) return this.tokens.get(digest);
    this.lastPresented.set(connection, { token: bytes, stored });
    return stored;
  }

  private switchKeys(): void {
    const { fromConfig, created } = this;
    // Keys of the config override created ones of the same digest or id.
    this.keySet = {
      byDigest: new Map([...created.byDigest, ...fromConfig.byDigest]),
      byId: new Map([...created.byId, ...fromConfig.byId]),
      people: new Map([...created.people, ...fromConfig.people]),
      issuers: fromConfig.issuers,
      login: fromConfig.login,
    };
    this.lastPresented = new WeakMap();
    for (const listener of this.listeners) listener();
  }

  private textsOf({ entry, secrets }: CreatedKey): (readonly [string, StoredKey])[] {
    return secrets.map(({ sha256, until }) => [sha256, this.storedKey(entry, sha256, until)]);
  }

  private storedKey(entry: CreatedKey['entry'], digest: string, until = Infinity): StoredKey {
    const principal = Object.freeze(principalOf(entry));
    const expiresAt = entry.expiresAt === undefined ? Infinity : Date.parse(entry.expiresAt);
    this.digests.set(principal, digest);
    const use = this.keyUses.get(entry.id) ?? { at: 0 };
    this.keyUses.set(entry.id, use);
    return { principal, expiresAt: Math.min(expiresAt, until), use };
  }

  private buildKeySet(keys: readonly ApiKeyConfig[], issuers: readonly JwtIssuer[] = [], login?: LoginSettings): KeySet {
    const byDigest = new Map<string, StoredKey>();
    const byId = new Map<string, StoredKey>();
    const people = new Map<string, readonly string[]>();
    this.configured = keys;
    for (const entry of keys) {
      const digest = entry.sha256 ?? sha256Hex(entry.key ?? '');
      const stored = this.storedKey(entry, digest);
      byDigest.set(digest, stored);
      byId.set(entry.id, stored);
      people.set(entry.id, [personOf(entry)]);
    }
    return { byDigest, byId, people, issuers: new Map(issuers.map((rules) => [rules.issuer, rules])), login };
  }
}

/** Person of a key; a key without one counts as a person of its own. */
function personOf({ id, person }: ApiKeyConfig): string {
  return person ?? `apikey:${id}`;
}

function principalOf(entry: CreatedKey['entry']): Principal {
  return {
    keyId: entry.id,
    tenantId: entry.tenant,
    scopes: entry.scopes,
    ...(entry.agent === undefined ? {} : { agentId: entry.agent }),
    ...(entry.agents === undefined ? {} : { agents: entry.agents }),
    ...(entry.user === undefined ? {} : { userId: entry.user }),
    ...(entry.users === undefined ? {} : { users: entry.users }),
    ...(entry.tools === undefined ? {} : { tools: entry.tools }),
    ...(entry.dialect === undefined ? {} : { dialect: entry.dialect }),
    ...(entry.workerSecrets === true ? { workerSecrets: true } : {}),
    ...(entry.ratePerMinute === undefined ? {} : { ratePerMinute: entry.ratePerMinute }),
    ...(entry.expiresAt === undefined ? {} : { expiresAt: entry.expiresAt }),
  };
}
