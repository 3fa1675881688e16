import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { ProblemError, WebhookType } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Delivery in its stored form, without the content of its call. Times are ms since the epoch. */
export const StoredDelivery = z.object({
  id: z.string(),
  type: WebhookType,
  callId: z.string(),
  tool: z.string(),
  actor: z.string(),
  decision: z.enum(['allow', 'deny']).optional(),
  time: z.number(),
  attempts: z.number(),
  lastError: z.string().optional(),
});
export type StoredDelivery = z.output<typeof StoredDelivery>;

export type DeliveryState = 'waiting' | 'delivered' | 'dead';
/** Delivery with the time of its next try, or of its end. */
export type FoundDelivery = readonly [delivery: StoredDelivery, at: number];

/** Longer than the pause of a gateway between two renewals. */
const LEASE_MS = 15_000;
export const RENEW_MS = LEASE_MS / 3;
const KEPT_MS = 30 * 24 * 3_600_000;
const KEPT = { delivered: 200, dead: 1_000 } as const;

/** Acquires or renews the lease. KEYS[1] lease; ARGV[1] holder, ARGV[2] ms. Returns 1 if it is held. */
const HOLD = new LuaScript(`#!lua flags=allow-oom
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** Releases the lease. KEYS[1] lease; ARGV[1] holder. */
const RELEASE = new LuaScript(`#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`);

/**
 * Stores deliveries and their position in the log atomically: neither is lost or repeated without the other. KEYS[1]
 * deliveries, KEYS[2] waiting, KEYS[3] cursors; ARGV[1] webhook, ARGV[2] cursor, ARGV[3] now, ARGV[4..] pairs of id and text.
 */
const ADD = new LuaScript(`#!lua
for index = 4, #ARGV, 2 do
  if redis.call('HSETNX', KEYS[1], ARGV[index], ARGV[index + 1]) == 1 then redis.call('ZADD', KEYS[2], ARGV[3], ARGV[index]) end
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])`);

/**
 * Moves a delivery to another state. KEYS[1] deliveries, KEYS[2] source, KEYS[3] target; ARGV[1] id, ARGV[2] text, ARGV[3]
 * time, ARGV[4] most deliveries in the target. Returns 0 if it is not in the source.
 */
const MOVE = new LuaScript(`#!lua flags=allow-oom
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
if ARGV[4] ~= '' then
  for _, old in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1 - tonumber(ARGV[4]))) do
    redis.call('ZREM', KEYS[3], old)
    redis.call('HDEL', KEYS[1], old)
  end
end
return 1`);

/** Deliveries of webhooks, their positions in the log, and the leases of their senders. Webhooks are named `tenant/name`. */
@Injectable()
export class WebhookStore {
  constructor(@Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection) {}

  /** Acquires or renews the lease of the webhook. False while another gateway holds it. */
  async hold(webhook: string, who: string): Promise<boolean> {
    if ((await HOLD.run(this.redis, [keys.webhookLease(webhook)], [who, LEASE_MS])) !== 1) return false;
    const lists = (['waiting', 'delivered', 'dead'] as const).map((state) => keys.webhookDeliveriesIn(webhook, state));
    await Promise.all([keys.webhookDeliveries(webhook), ...lists].map((key) => this.redis.pexpire(key, KEPT_MS)));
    return true;
  }

  async release(webhook: string, who: string): Promise<void> {
    await RELEASE.run(this.redis, [keys.webhookLease(webhook)], [who]);
  }

  async cursor(webhook: string): Promise<string | undefined> {
    return (await this.redis.hget(keys.webhookCursors(), webhook)) ?? undefined;
  }

  async add(webhook: string, deliveries: readonly StoredDelivery[], cursor: string): Promise<void> {
    const names = [keys.webhookDeliveries(webhook), keys.webhookDeliveriesIn(webhook, 'waiting'), keys.webhookCursors()];
    const pairs = deliveries.flatMap((delivery) => [delivery.id, JSON.stringify(delivery)]);
    await ADD.run(this.redis, names, [webhook, cursor, Date.now(), ...pairs]);
  }

  /** False if the delivery is no longer in the state. */
  async move(webhook: string, delivery: StoredDelivery, from: DeliveryState, to: DeliveryState, at: number): Promise<boolean> {
    const names = [keys.webhookDeliveries(webhook), keys.webhookDeliveriesIn(webhook, from), keys.webhookDeliveriesIn(webhook, to)];
    const most = to === 'waiting' ? '' : KEPT[to];
    return (await MOVE.run(this.redis, names, [delivery.id, JSON.stringify(delivery), at, most])) === 1;
  }

  async count(webhook: string, state: DeliveryState): Promise<number> {
    return this.redis.zcard(keys.webhookDeliveriesIn(webhook, state));
  }

  /** Waiting deliveries by their next try, others newest first. */
  async list(webhook: string, state: DeliveryState, limit: number): Promise<FoundDelivery[]> {
    const key = keys.webhookDeliveriesIn(webhook, state);
    const ids = await (state === 'waiting'
      ? this.redis.zrange(key, 0, String(limit - 1))
      : this.redis.zrevrange(key, 0, String(limit - 1)));
    const found = await Promise.all(ids.map((id) => this.find(webhook, id, state)));
    return found.filter((it) => it !== undefined);
  }

  /** Undefined unless the delivery is in the state. */
  async find(webhook: string, id: string, state: DeliveryState): Promise<FoundDelivery | undefined> {
    const [text, at] = await Promise.all([
      this.redis.hget(keys.webhookDeliveries(webhook), id),
      this.redis.zscore(keys.webhookDeliveriesIn(webhook, state), id),
    ]);
    return text === null || at === null ? undefined : [StoredDelivery.parse(JSON.parse(text)), Number(at)];
  }

  async has(webhook: string, id: string): Promise<boolean> {
    return (await this.redis.hexists(keys.webhookDeliveries(webhook), id)) === 1;
  }
}

/** Problem for an unknown webhook name. */
export function noWebhook(name: string): ProblemError {
  return new ProblemError('resource_not_found', `The config file has no webhook ${name} for this tenant`);
}
