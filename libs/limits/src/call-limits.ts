import { LuaScript, keys, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import { countedResult, type LimitResult } from './limit-results.js';
import type { LimitCheck } from './limit-checks.js';

const ACQUIRE = LuaScript.load(new URL('./lua/acquire.lua', import.meta.url));

/** Time for which a counted call that is missing in the log may still be accepted. */
const ACCEPT_MS = 60_000;

/** States of calls; `gone`: not in the log (yet, or any more). */
export type CallStateLookup = (callIds: readonly string[]) => Promise<('open' | 'ended' | 'gone')[]>;

/**
 * Counts calls against limits, exact for any number of processes: one script run checks and takes all limits of a call. Rejects
 * while Redis is unreachable.
 *
 * Open calls are members of a set. A process that receives a call's End releases its places. A crash may lose that, so a full
 * set is compared with the log before a call is rejected. A place is never reused while its call is open.
 */
export class CallLimits {
  constructor(
    private readonly redis: RedisConnection,
    private readonly lookupStates: CallStateLookup,
  ) {}

  /** Counts the call against all checks, or against none if one is full. */
  consume(tenantId: string, callId: string, checks: readonly LimitCheck[]): Promise<LimitResult[]> {
    return this.evaluate('consume', tenantId, callId, checks);
  }

  /** Returns the same results without counting. */
  peek(tenantId: string, callId: string, checks: readonly LimitCheck[]): Promise<LimitResult[]> {
    return this.evaluate('peek', tenantId, callId, checks);
  }

  /** Releases the places of an ended call. Idempotent. */
  async releaseOpen(tenantId: string, callId: string, checks: readonly LimitCheck[]): Promise<void> {
    await this.release(
      tenantId,
      callId,
      checks.filter(({ kind }) => kind === 'open'),
    );
  }

  /** Removes a call that was not accepted from all limits. Idempotent. */
  async release(tenantId: string, callId: string, checks: readonly LimitCheck[]): Promise<void> {
    await Promise.all(checks.map(({ name }) => this.redis.zrem(keys.limit(tenantId, name), callId)));
  }

  private async evaluate(
    mode: 'consume' | 'peek',
    tenantId: string,
    callId: string,
    checks: readonly LimitCheck[],
  ): Promise<LimitResult[]> {
    if (checks.length === 0) return [];
    const first = await this.run(mode, tenantId, callId, checks);
    const full = checks.filter((check, index) => check.kind === 'open' && first[index]?.rejection !== undefined);
    const open = await Promise.all(full.map(({ name }) => this.evictEnded(keys.limit(tenantId, name))));
    const answers = full.some(({ calls }, index) => (open[index] ?? 0) < calls) ? await this.run(mode, tenantId, callId, checks) : first;
    if (mode === 'consume')
      for (const { reason, rejection } of answers) if (rejection !== undefined) telemetry.rateLimited.emit({ limit: reason.rule });
    return answers;
  }

  private async run(mode: 'consume' | 'peek', tenantId: string, callId: string, checks: readonly LimitCheck[]): Promise<LimitResult[]> {
    const names = checks.map(({ name }) => keys.limit(tenantId, name));
    const answer: unknown = await ACQUIRE.run(this.redis, names, [
      callId,
      mode,
      ...checks.flatMap(({ kind, calls, ms }) => [kind, calls, ms]),
    ]);
    if (!Array.isArray(answer)) throw new Error(`acquire.lua answered ${typeof answer}, expected a list.`);
    return checks.map((check, index) => countedResult(check, Number(answer[2 * index + 2]), Number(answer[2 * index + 3])));
  }

  /** Removes the members whose calls have ended and returns the number of the others. Safe in concurrent processes. */
  private async evictEnded(key: string): Promise<number> {
    const [members, time] = await Promise.all([this.redis.zrangebyscore(key, '-inf', '+inf', 'WITHSCORES'), this.redis.time()]);
    const ids = members.filter((_member, index) => index % 2 === 0);
    const since = members.filter((_member, index) => index % 2 === 1).map(Number);
    const states = await this.lookupStates(ids);
    const now = Number(time[0]) * 1000;
    const over = ids.filter(
      (_id, index) => states[index] === 'ended' || (states[index] === 'gone' && now - (since[index] ?? 0) > ACCEPT_MS),
    );
    if (over.length > 0) await this.redis.zrem(key, ...over);
    return ids.length - over.length;
  }
}
