import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { LOGIN_LIMITS, type Login } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';

/** Login in its stored form. Times in ms since the epoch. */
export const LoginRecord = z.object({
  issuer: z.string(),
  clientId: z.string(),
  /** Owner of the index entry. Roles from another tenant end the login. */
  tenantId: z.string(),
  subject: z.string(),
  /** Id of the person at the provider. */
  sub: z.string(),
  /** Claim of the subject. */
  subjectClaim: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  emailVerified: z.boolean(),
  roles: z.array(z.string()),
  startedAt: z.number(),
  endsAt: z.number(),
  checkedAt: z.number(),
  /** Refresh token sealed with the cookie's value, so that it cannot be read from Redis. */
  refreshToken: z.string().optional(),
});
export type LoginRecord = z.output<typeof LoginRecord>;

/** Values that verify the browser's return from the provider. */
export const LoginState = z.object({
  nonce: z.string(),
  verifier: z.string(),
  /** Digest of the cookie of the browser that began. */
  browserSha256: z.string(),
  returnTo: z.string(),
});
export type LoginState = z.output<typeof LoginState>;

const Listed = z.object({
  subject: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  startedAt: z.number(),
  endsAt: z.number(),
});
type Listed = z.output<typeof Listed>;

/** Time for a person at the provider's page. */
export const STATE_MS = 600_000;
/** Longer than discovery, token, keys and user information together. */
const RECHECK_MS = 60_000;

/**
 * Logins in Redis, available to any gateway. Only digests of cookies and states are stored. Every method rejects while Redis is
 * unreachable.
 */
@Injectable()
export class LoginRecords {
  constructor(@Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection) {}

  async begin(state: string, login: LoginState): Promise<void> {
    await this.redis.set(keys.loginState(sha256Hex(state)), JSON.stringify(login), 'PX', STATE_MS);
  }

  /** Returns a state once; a repeated state is unknown. */
  async take(state: string): Promise<LoginState | undefined> {
    const text = await this.redis.getdel(keys.loginState(sha256Hex(state)));
    return text === null ? undefined : LoginState.parse(JSON.parse(text));
  }

  /** Stores a login. Beyond the limit per person, the oldest logins end. */
  async create(digest: string, record: LoginRecord, idleMs: number): Promise<void> {
    const { tenantId, subject, name, email, startedAt, endsAt } = record;
    const listed: Listed = { subject, name, email, startedAt, endsAt };
    const all = await this.all(tenantId);
    const over = all.filter(([, login]) => login.endsAt <= startedAt).map(([it]) => it);
    const own = all.filter(([, login]) => login.subject === subject && login.endsAt > startedAt).toSorted(byStart);
    const tooMany = own.slice(0, Math.max(0, own.length + 1 - LOGIN_LIMITS.perPerson)).map(([it]) => it);
    const change = this.redis.multi();
    change.set(keys.login(digest), JSON.stringify(record), 'PX', Math.min(idleMs, endsAt - startedAt));
    change.hset(keys.loginsOf(tenantId), digest, JSON.stringify(listed));
    for (const it of [...over, ...tooMany]) change.hdel(keys.loginsOf(tenantId), it).del(keys.login(it));
    await change.exec();
  }

  /** `extendMs`: new lifetime of the login. */
  async read(digest: string, extendMs?: number): Promise<string | undefined> {
    const key = keys.login(digest);
    const text = extendMs === undefined ? await this.redis.get(key) : await this.redis.getex(key, 'PX', extendMs);
    return text ?? undefined;
  }

  /** Never revives an ended login. Returns whether the login exists. */
  async update(digest: string, record: LoginRecord): Promise<boolean> {
    return (await this.redis.set(keys.login(digest), JSON.stringify(record), 'KEEPTTL', 'XX')) !== null;
  }

  async end(digest: string, tenantId?: string): Promise<void> {
    const change = this.redis.multi().del(keys.login(digest));
    if (tenantId !== undefined) change.hdel(keys.loginsOf(tenantId), digest);
    await change.exec();
  }

  /** Ends all logins of the person; returns their number. */
  async endAll(tenantId: string, subject: string): Promise<number> {
    const own = (await this.all(tenantId)).filter(([, login]) => login.subject === subject).map(([digest]) => digest);
    if (own.length === 0) return 0;
    const change = this.redis.multi().hdel(keys.loginsOf(tenantId), ...own);
    for (const digest of own) change.del(keys.login(digest));
    await change.exec();
    return own.length;
  }

  /** Active logins, oldest first. */
  async list(tenantId: string): Promise<Login[]> {
    const all = (await this.all(tenantId)).toSorted(byStart);
    const alive = await Promise.all(all.map(([digest]) => this.redis.exists(keys.login(digest))));
    const now = Date.now();
    return all.flatMap(([, { startedAt, endsAt, ...person }], index) =>
      alive[index] === 1 && endsAt > now
        ? [{ person, startedAt: new Date(startedAt).toISOString(), endsAt: new Date(endsAt).toISOString() }]
        : [],
    );
  }

  /** True if this gateway may query the provider; false while another one does. */
  async mayRecheck(digest: string): Promise<boolean> {
    return (await this.redis.set(keys.loginRecheck(digest), '1', 'PX', RECHECK_MS, 'NX')) !== null;
  }

  async recheckDone(digest: string): Promise<void> {
    await this.redis.del(keys.loginRecheck(digest));
  }

  private async all(tenantId: string): Promise<[string, Listed][]> {
    const found = Object.entries(await this.redis.hgetall(keys.loginsOf(tenantId)));
    return found.map(([digest, text]): [string, Listed] => [digest, Listed.parse(JSON.parse(text))]);
  }
}

function byStart([, a]: [string, Listed], [, b]: [string, Listed]): number {
  return a.startedAt - b.startedAt;
}
