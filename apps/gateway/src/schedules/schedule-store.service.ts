import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { CreateScheduleBody, ProblemError, SCHEDULE_LIMITS, Schedule, ScheduleRun } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { DurableWrites, type DurableScript } from '../platform/durable-writes.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Characters of schedules that are parsed before others get a turn of the event loop. */
const CHARACTERS_A_TURN = 262_144;

/** Schedule in its stored form. Its call has the submitted arguments, which each run submits again. */
export const StoredSchedule = CreateScheduleBody.extend({
  id: z.string(),
  tenantId: z.string(),
  keyId: z.string(),
  createdAt: z.string(),
  paused: Schedule.shape.paused,
});
export type StoredSchedule = z.output<typeof StoredSchedule>;

/**
 * Creates a schedule. KEYS[1] schedules of the tenant, KEYS[2] tenants with schedules; ARGV[1] id, ARGV[2] text, ARGV[3] most
 * schedules, ARGV[4] tenant. Returns 1, also for an existing id, or 0 if there are too many.
 */
const CREATE = once(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[4])
return 1`);

/**
 * Changes a field of a schedule that was not deleted. KEYS[1] schedules of the tenant, KEYS[2] hash to change; ARGV[1] id,
 * ARGV[2] text.
 */
const CHANGE = once(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1`);

/**
 * Claims the next run of a schedule unless another run was stored or claimed meanwhile. KEYS[1] schedules of the
 * tenant, KEYS[2] their last runs and claims; ARGV[1] id, ARGV[2] field of the claim, ARGV[3] claim, ARGV[4] last run
 * as it was read. Returns 1 or 0.
 */
const CLAIM = once(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return 0 end
if (redis.call('HGET', KEYS[2], ARGV[1]) or '') ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1`);

/**
 * Stores a claimed run and removes its claim. KEYS and ARGV[1..3] as of CLAIM, ARGV[4] run. Returns 1, or 0 if it is
 * not claimed any more.
 */
const FINISH = once(`#!lua
if redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[2], ARGV[1], ARGV[4]) end
return 1`);

/** Due time whose run has begun, and the time of that; ms since the epoch. */
export const RunClaim = z.object({ dueAt: z.number(), at: z.number() });
export type RunClaim = z.output<typeof RunClaim>;

/** Last run of a schedule, also as it is stored, and the claim of a run that is not stored yet. */
export interface RunState {
  readonly last: ScheduleRun | undefined;
  readonly lastText: string;
  readonly claim: RunClaim | undefined;
}

/** Schedules and their last runs, by tenant. */
@Injectable()
export class ScheduleStore {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly durable: DurableWrites,
  ) {}

  /** @throws ProblemError `quota_exceeded` if the tenant has too many */
  async create(schedule: StoredSchedule): Promise<void> {
    const { tenantId, id } = schedule;
    const args = [id, JSON.stringify(schedule), SCHEDULE_LIMITS.perTenant, tenantId];
    if ((await this.durable.run(CREATE, [keys.schedules(tenantId), keys.scheduleTenants()], args)) === 1) return;
    const why = `The tenant has ${SCHEDULE_LIMITS.perTenant} schedules, which is the most: delete one first`;
    throw new ProblemError('quota_exceeded', why);
  }

  async get(tenantId: string, id: string): Promise<StoredSchedule | undefined> {
    const text = await this.redis.hget(keys.schedules(tenantId), id);
    return text === null ? undefined : StoredSchedule.parse(JSON.parse(text));
  }

  /** Schedules of the tenant, oldest first. */
  async list(tenantId: string): Promise<StoredSchedule[]> {
    const all: StoredSchedule[] = [];
    let characters = 0;
    for (const text of await this.redis.hvals(keys.schedules(tenantId))) {
      all.push(StoredSchedule.parse(JSON.parse(text)));
      if ((characters += text.length) < CHARACTERS_A_TURN) continue;
      characters = 0;
      await turn();
    }
    return all.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  }

  async tenants(): Promise<string[]> {
    return this.redis.smembers(keys.scheduleTenants());
  }

  async lastRun(tenantId: string, id: string): Promise<ScheduleRun | undefined> {
    const text = await this.redis.hget(keys.scheduleRuns(tenantId), id);
    return text === null ? undefined : ScheduleRun.parse(JSON.parse(text));
  }

  /** Ignores a schedule that was deleted meanwhile. */
  async put(schedule: StoredSchedule): Promise<void> {
    const { tenantId, id } = schedule;
    await this.durable.run(CHANGE, [keys.schedules(tenantId), keys.schedules(tenantId)], [id, JSON.stringify(schedule)]);
  }

  async putRun({ tenantId, id }: StoredSchedule, run: ScheduleRun): Promise<void> {
    await this.durable.run(CHANGE, [keys.schedules(tenantId), keys.scheduleRuns(tenantId)], [id, JSON.stringify(run)]);
  }

  async runState({ tenantId, id }: StoredSchedule): Promise<RunState> {
    const [last, claim] = await this.redis.hmget(keys.scheduleRuns(tenantId), id, claimOf(id));
    return {
      last: typeof last === 'string' ? ScheduleRun.parse(JSON.parse(last)) : undefined,
      lastText: last ?? '',
      claim: typeof claim === 'string' ? RunClaim.parse(JSON.parse(claim)) : undefined,
    };
  }

  /** False if another run was stored or claimed after the state was read, or the schedule was deleted. */
  async claimRun({ tenantId, id }: StoredSchedule, claim: RunClaim, { lastText }: RunState): Promise<boolean> {
    const names = [keys.schedules(tenantId), keys.scheduleRuns(tenantId)];
    return (await this.durable.run(CLAIM, names, [id, claimOf(id), JSON.stringify(claim), lastText])) === 1;
  }

  /** Stores the run of a claim. Ignores a claim that another process has finished. */
  async finishRun({ tenantId, id }: StoredSchedule, claim: RunClaim, run: ScheduleRun): Promise<void> {
    const names = [keys.schedules(tenantId), keys.scheduleRuns(tenantId)];
    await this.durable.run(FINISH, names, [id, claimOf(id), JSON.stringify(claim), JSON.stringify(run)]);
  }

  async delete({ tenantId, id }: StoredSchedule): Promise<void> {
    await this.redis.hdel(keys.schedules(tenantId), id);
    await this.redis.hdel(keys.scheduleRuns(tenantId), id, claimOf(id));
  }
}

function claimOf(id: string): string {
  return `claim:${id}`;
}

/** Script without repetition, which could restore a deleted schedule or undo a change. */
function once(text: string): DurableScript {
  return { script: new LuaScript(text), repeatable: false };
}
