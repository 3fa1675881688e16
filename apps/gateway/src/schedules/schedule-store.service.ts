import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { CreateScheduleBody, ProblemError, SCHEDULE_LIMITS, Schedule, ScheduleRun } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { DurableWrites, type DurableScript } from '../platform/durable-writes.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

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
    const all = (await this.redis.hvals(keys.schedules(tenantId))).map((text) => StoredSchedule.parse(JSON.parse(text)));
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

  async delete({ tenantId, id }: StoredSchedule): Promise<void> {
    await this.redis.hdel(keys.schedules(tenantId), id);
    await this.redis.hdel(keys.scheduleRuns(tenantId), id);
  }
}

/** Script without repetition, which could restore a deleted schedule or undo a change. */
function once(text: string): DurableScript {
  return { script: new LuaScript(text), repeatable: false };
}
