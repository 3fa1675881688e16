import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { z } from 'zod';
import { CreateKeyBody, KEY_LIMITS, ProblemError } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { DurableWrites, type DurableScript } from '../../platform/durable-writes.service.js';
import { FAIL_FAST_REDIS, LOGGER } from '../../platform/tokens.js';

/** Key in its stored form, without its text. */
export const KeyRecord = CreateKeyBody.extend({
  id: z.string(),
  tenantId: z.string(),
  createdAt: z.string(),
  createdBy: z.string(),
  createdByName: z.string().optional(),
  people: z.array(z.string()),
  /** Digests, the current one first; others are valid until their time. */
  secrets: z.array(z.object({ sha256: z.string(), until: z.string().optional() })),
  rotatedAt: z.string().optional(),
  revokedAt: z.string().optional(),
  revokedBy: z.string().optional(),
  revokedByName: z.string().optional(),
});
export type KeyRecord = z.output<typeof KeyRecord>;

/** Record with its stored text, which a change must name. */
export interface ReadRecord {
  readonly record: KeyRecord;
  readonly text: string;
}

/**
 * Creates a key. KEYS[1] keys of the tenant, KEYS[2] tenants with keys, KEYS[3] revision; ARGV[1] id, ARGV[2] text, ARGV[3]
 * most keys, ARGV[4] tenant, ARGV[5] revision, ARGV[6..] ids to delete. Returns 1, also for an existing id, or 0 if there are
 * too many.
 */
const CREATE: DurableScript = {
  repeatable: false,
  script: new LuaScript(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
for index = 6, #ARGV do redis.call('HDEL', KEYS[1], ARGV[index]) end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[4])
redis.call('SET', KEYS[3], ARGV[5])
return 1`),
};

/**
 * Changes a key, also above maxmemory, when keys must remain revocable. KEYS[1] keys of the tenant, KEYS[2] revision; ARGV[1]
 * id, ARGV[2] text that was read, ARGV[3] new text, ARGV[4] revision. Returns 1, or 0 if the key was changed meanwhile.
 */
const CHANGE: DurableScript = {
  repeatable: true,
  script: new LuaScript(`#!lua flags=allow-oom
local now = redis.call('HGET', KEYS[1], ARGV[1])
if now == ARGV[3] then return 1 end
if now ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('SET', KEYS[2], ARGV[4])
return 1`),
};

/** Keys created over HTTP, in Redis. */
@Injectable()
export class KeyRecords {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly durable: DurableWrites,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Revision, different after each change; undefined before the first. */
  async revision(): Promise<string | undefined> {
    return (await this.redis.get(keys.apiKeyRevision())) ?? undefined;
  }

  async ofAllTenants(): Promise<ReadRecord[]> {
    const tenants = await this.redis.smembers(keys.apiKeyTenants());
    return (await Promise.all(tenants.map((tenantId) => this.list(tenantId)))).flat();
  }

  /** Keys of the tenant, oldest first. A record that this release cannot read is skipped, which disables its key only. */
  async list(tenantId: string): Promise<ReadRecord[]> {
    const all = Object.entries(await this.redis.hgetall(keys.apiKeys(tenantId))).flatMap(([id, text]) => {
      try {
        return [read(text)];
      } catch (error) {
        this.log.error({ err: error, tenant: tenantId, key: id }, 'an API key in Redis cannot be read and is refused');
        return [];
      }
    });
    return all.sort((a, b) => (a.record.id < b.record.id ? -1 : 1));
  }

  async get(tenantId: string, id: string): Promise<ReadRecord | undefined> {
    const text = await this.redis.hget(keys.apiKeys(tenantId), id);
    return text === null ? undefined : read(text);
  }

  /** Stores the key and deletes `ended`. @throws ProblemError `quota_exceeded` if the tenant has too many */
  async create(record: KeyRecord, ended: readonly string[]): Promise<void> {
    const { tenantId, id } = record;
    const names = [keys.apiKeys(tenantId), keys.apiKeyTenants(), keys.apiKeyRevision()];
    const args = [id, JSON.stringify(record), KEY_LIMITS.perTenant, tenantId, randomUUID(), ...ended];
    if ((await this.durable.run(CREATE, names, args)) === 1) return;
    const why = `The tenant has ${KEY_LIMITS.perTenant} keys, which is the most; one that was revoked counts for 30 days more`;
    throw new ProblemError('quota_exceeded', why);
  }

  /** @throws ProblemError `conflict` if the key was changed since it was read */
  async change({ text, record }: ReadRecord, changed: KeyRecord): Promise<void> {
    const names = [keys.apiKeys(record.tenantId), keys.apiKeyRevision()];
    const answer = await this.durable.run(CHANGE, names, [record.id, text, JSON.stringify(changed), randomUUID()]);
    if (answer !== 1) throw new ProblemError('conflict', `The key ${record.id} was changed at the same time: read it and try again`);
  }
}

function read(text: string): ReadRecord {
  return { record: KeyRecord.parse(JSON.parse(text)), text };
}
