import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { ProblemError, type LoginSettings, type Principal } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { NotificationChannel } from '../../platform/notification-channel.service.js';
import { FAIL_FAST_REDIS, LOGGER } from '../../platform/tokens.js';
import type { AdmittedAct } from '../admin-acts.service.js';
import { ApiKeyStore, type LoginGrant } from '../api-key-store.service.js';
import { rightsOf } from './login-claims.js';
import { cookieNames, newSecret, readCookie } from './login-cookies.js';
import { LoginProvider, type Identified } from './login-provider.service.js';
import { LoginRecord, LoginRecords } from './login-records.service.js';
import { openToken, sealToken } from './sealed-token.js';

/** Polling interval that covers lost messages; messages apply an end at once. */
const LOOK_MS = 5_000;
const TOPIC = 'logins';
const MAX_CACHED = 5_000;
/** Pause after the provider did not answer. */
const RETRY_MS = 30_000;

/** Login that this gateway has recently read. */
interface CachedLogin {
  readonly cookie: string;
  readonly text: string;
  readonly settings: LoginSettings;
  readonly record: LoginRecord;
  readonly roles: readonly string[];
  readonly grant: LoginGrant;
  /** Last extension of its life, by `performance.now()`. */
  extendedAt: number;
}

/** Active login with the facts for its owner. */
export interface OwnLogin {
  readonly principal: Principal;
  readonly roles: readonly string[];
  readonly record: LoginRecord;
  readonly idleMs: number;
}

/**
 * Logins by their cookies. Each request reads the record in Redis, so a login that ends on one gateway ends on all. Its open
 * connections (sockets, event streams) end by a message, or by the next poll.
 */
@Injectable()
export class LoginSessions implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Logins by digest of the cookie. Eviction ends a login's open connections, which may reconnect. */
  private readonly cache = new LRUCache<string, CachedLogin>({ max: MAX_CACHED, dispose: ({ grant }) => this.apiKeys.endLogin(grant) });
  private readonly rechecks = new Map<string, Promise<string | undefined>>();
  private readonly quietUntil = new LRUCache<string, number>({ max: MAX_CACHED });
  private look: Promise<void> | undefined;
  private nextLook: Promise<void> | undefined;
  private ticker: Ticker | undefined;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly apiKeys: ApiKeyStore,
    private readonly records: LoginRecords,
    private readonly provider: LoginProvider,
    private readonly notifications: NotificationChannel,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.stopListening = this.notifications.subscribe(TOPIC, () => void this.lookAtAll());
    this.ticker = everyMs(LOOK_MS, () => this.lookAtAll());
  }

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
    this.stopListening?.();
  }

  /** Origin whose pages may use a login cookie; undefined if this header has no valid one. */
  originFor(cookieHeader: string | undefined): string | undefined {
    const { login } = this.apiKeys;
    return login && this.cookieOf(login, cookieHeader) && this.provider.originOf(login);
  }

  /** Principal of the login; undefined without one. @throws ProblemError `unavailable` */
  async find(cookieHeader: string | undefined): Promise<Principal | undefined> {
    return (await this.findOwn(cookieHeader))?.principal;
  }

  /** Login with all the facts for its owner; undefined without one. */
  async findOwn(cookieHeader: string | undefined): Promise<OwnLogin | undefined> {
    const { login } = this.apiKeys;
    const cookie = login && this.cookieOf(login, cookieHeader);
    if (login === undefined || cookie === undefined) return undefined;
    try {
      const cached = await this.load(login, cookie, true);
      return cached && { principal: cached.grant.principal, roles: cached.roles, record: cached.record, idleMs: login.idleMs };
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      throw new ProblemError('unavailable', 'Logins cannot be read now; API keys work');
    }
  }

  /**
   * Begins a login under a new cookie, and ends the browser's previous one. Calls `admit` first.
   * @throws ProblemError `forbidden` for a person without a valid role
   */
  async start(
    settings: LoginSettings,
    { claims, refreshToken }: Identified,
    before: string | undefined,
    admit: (principal: Principal) => AdmittedAct,
  ) {
    const rights = rightsOf(claims, settings);
    if ('refusal' in rights) throw new ProblemError('forbidden', rights.refusal);
    const act = admit(rights.principal);
    const cookie = newSecret();
    const now = Date.now();
    const endsAt = now + (refreshToken === undefined ? Math.min(settings.maxMs, settings.recheckMs) : settings.maxMs);
    const record: LoginRecord = {
      ...claims,
      roles: [...claims.roles],
      issuer: settings.issuer,
      clientId: settings.clientId,
      subjectClaim: settings.subjectClaim,
      tenantId: rights.principal.tenantId,
      startedAt: now,
      endsAt,
      checkedAt: now,
      ...(refreshToken === undefined ? {} : { refreshToken: sealToken(refreshToken, cookie) }),
    };
    if (before !== undefined) await this.end(settings, before);
    await this.records.create(sha256Hex(cookie), record, settings.idleMs);
    return { cookie, act, principal: rights.principal, maxAgeMs: endsAt - now };
  }

  /** Ends the login of a cookie header on all gateways. Calls `before` with the session's owner. If it rejects, the login is kept. */
  async end(
    settings: LoginSettings,
    cookieHeader: string | undefined,
    before: (principal: Principal) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const cookie = this.cookieOf(settings, cookieHeader);
    if (cookie === undefined) return;
    const digest = sha256Hex(cookie);
    // Skips a cookie without a login: any client may send any cookie, at the cost of this look-up only.
    if ((await this.records.read(digest)) === undefined) {
      this.cache.delete(digest);
      return;
    }
    const cached = await this.load(settings, cookie, false).catch(() => undefined);
    if (cached !== undefined) await before(cached.grant.principal);
    await this.records.end(digest, cached?.grant.principal.tenantId);
    this.cache.delete(digest);
    await this.announce();
  }

  async endAll(tenantId: string, subject: string): Promise<number> {
    const ended = await this.records.endAll(tenantId, subject);
    await this.announce();
    await this.lookAtAll();
    return ended;
  }

  private cookieOf(settings: LoginSettings, header: string | undefined): string | undefined {
    return header === undefined ? undefined : readCookie(header, cookieNames(this.provider.originOf(settings)).login);
  }

  private async announce(): Promise<void> {
    await this.redis.publish(keys.batchChannel(), TOPIC);
  }

  /** Login by Redis, the settings and the provider. `used`: read for a request, which extends its life. */
  private async load(settings: LoginSettings, cookie: string, used: boolean): Promise<CachedLogin | undefined> {
    const digest = sha256Hex(cookie);
    const before = this.cache.get(digest);
    const extend = used && performance.now() - (before?.extendedAt ?? -Infinity) > settings.idleMs / 10;
    const stored = await this.records.read(digest, extend ? settings.idleMs : undefined);
    const text = stored === undefined ? undefined : await this.recheckWhenDue(settings, cookie, stored);
    if (text === undefined) {
      this.cache.delete(digest);
      return undefined;
    }
    const now = this.cache.get(digest);
    if (now !== undefined && now.text === text && now.settings === settings && now.grant.expiresAt > Date.now()) {
      if (extend) now.extendedAt = performance.now();
      return now;
    }
    return this.store(settings, cookie, text, extend ? performance.now() : (now?.extendedAt ?? -Infinity));
  }

  private store(settings: LoginSettings, cookie: string, text: string, extendedAt: number): CachedLogin | undefined {
    const digest = sha256Hex(cookie);
    const record = LoginRecord.parse(JSON.parse(text));
    const rights = rightsOf(record, settings);
    const { endsAt, issuer, clientId, subjectClaim } = record;
    const isOfOtherSettings = issuer !== settings.issuer || clientId !== settings.clientId || subjectClaim !== settings.subjectClaim;
    const isOver = endsAt <= Date.now() || isOfOtherSettings;
    if (isOver || 'refusal' in rights || rights.principal.tenantId !== record.tenantId) {
      this.cache.delete(digest);
      return undefined;
    }
    const before = this.cache.get(digest);
    const isSame = before !== undefined && JSON.stringify(before.grant.principal) === JSON.stringify(rights.principal);
    const grant = isSame ? before.grant : { principal: Object.freeze(rights.principal), expiresAt: record.endsAt };
    const cached = { cookie, text, settings, record, roles: rights.roles, grant, extendedAt };
    if (isSame) this.cache.set(digest, cached, { noDisposeOnSet: true });
    else this.cache.set(digest, cached);
    this.apiKeys.admitLogin(grant);
    return cached;
  }

  /** Record after the provider's check, if one was due; undefined for an ended login. */
  private async recheckWhenDue(settings: LoginSettings, cookie: string, text: string): Promise<string | undefined> {
    const digest = sha256Hex(cookie);
    const record = LoginRecord.parse(JSON.parse(text));
    if (record.refreshToken === undefined || Date.now() - record.checkedAt < settings.recheckMs) return text;
    if (performance.now() < (this.quietUntil.get(digest) ?? 0)) return text;
    const running = this.rechecks.get(digest) ?? this.recheck(settings, cookie, text).finally(() => this.rechecks.delete(digest));
    this.rechecks.set(digest, running);
    return running;
  }

  private async recheck(settings: LoginSettings, cookie: string, before: string): Promise<string | undefined> {
    const digest = sha256Hex(cookie);
    if (!(await this.records.mayRecheck(digest))) return before;
    try {
      // Another gateway may have checked meanwhile: a refresh token is valid once.
      const text = await this.records.read(digest);
      if (text !== before) return text;
      const fresh = await this.confirmed(settings, cookie, LoginRecord.parse(JSON.parse(before)));
      if (fresh !== undefined) return (await this.records.update(digest, fresh)) ? JSON.stringify(fresh) : undefined;
      await this.records.end(digest);
      await this.announce();
      return undefined;
    } catch {
      // Keeps the record while the provider or Redis is unreachable, until the next check.
      this.quietUntil.set(digest, performance.now() + RETRY_MS);
      return before;
    } finally {
      await this.records.recheckDone(digest).catch(() => {});
    }
  }

  /**
   * Record with the provider's current claims; undefined if the provider no longer confirms the login. @throws ProblemError
   * `unavailable`
   */
  private async confirmed(settings: LoginSettings, cookie: string, record: LoginRecord): Promise<LoginRecord | undefined> {
    try {
      const { subject, sub } = record;
      const { claims, refreshToken } = await this.provider.recheck(settings, openToken(record.refreshToken ?? '', cookie), {
        sub,
        subject,
      });
      const rights = rightsOf(claims, settings);
      if ('refusal' in rights) throw new ProblemError('forbidden', rights.refusal);
      const { name: _name, email: _email, ...rest } = record;
      return {
        ...rest,
        ...claims,
        roles: [...claims.roles],
        checkedAt: Date.now(),
        ...(refreshToken === undefined ? {} : { refreshToken: sealToken(refreshToken, cookie) }),
      };
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'unavailable') throw error;
      this.log.warn({ err: error, subject: record.subject }, 'a login was revoked: the provider no longer confirms it');
      return undefined;
    }
  }

  /** Ends connections of ended logins. At most one pass runs and one more waits, shared by all callers. Never rejects. */
  private lookAtAll(): Promise<void> {
    this.nextLook ??= (this.look ?? Promise.resolve()).then(() => {
      this.look = this.nextLook;
      this.nextLook = undefined;
      return this.lookAtCached();
    });
    return this.nextLook;
  }

  private async lookAtCached(): Promise<void> {
    const { login } = this.apiKeys;
    if (login === undefined) return this.cache.clear();
    const cookies = [...this.cache.values()].map(({ cookie }) => cookie);
    // Keeps logins while Redis is unreachable.
    await Promise.all(cookies.map((cookie) => this.load(login, cookie, false).catch(() => {})));
  }
}
