import { Inject, Injectable } from '@nestjs/common';
import { ProblemError } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Bytes added to each entry for its key and its place in the index, so that many small sessions count too. */
const ENTRY_BYTES = 512;
const RETRY_MS = 5_000;

/**
 * Replaces the counted bytes of an entry. Drops ended entries first, at most 1,000 per run. KEYS[1] bytes by entry, their sum
 * under the empty name; KEYS[2] entries by their end. ARGV[1] entry, ARGV[2] its bytes, 0 for none, ARGV[3] now and ARGV[4] its
 * end in ms, ARGV[5] most bytes, -1 for any. Returns 1, or 0 if the sum would grow beyond the limit.
 */
const COUNT = new LuaScript(`#!lua flags=allow-oom
local sum = tonumber(redis.call('HGET', KEYS[1], '') or '0')
local function drop(entry)
  sum = sum - tonumber(redis.call('HGET', KEYS[1], entry) or '0')
  redis.call('HDEL', KEYS[1], entry)
  redis.call('ZREM', KEYS[2], entry)
end
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[3], 'LIMIT', 0, 1000)) do drop(entry) end
local before = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local bytes, most = tonumber(ARGV[2]), tonumber(ARGV[5])
local fits = most == -1 or bytes <= before or sum - before + bytes <= most
if fits then
  drop(ARGV[1])
  if bytes > 0 then
    sum = sum + bytes
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
    redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
  end
end
redis.call('HSET', KEYS[1], '', string.format('%.0f', sum))
return fits and 1 or 0`);

/** Part of a session in Redis: settings and grants, data of its agents, messages of people. */
const OF_SESSION = ['settings', 'data', 'messages'] as const;
/**
 * Kinds of entries besides: hooks of sessions that calls run, by digest; views of lists, by key; outputs of workers, by attempt;
 * sessions of MCP clients; messages of people that a batch has taken, by batch.
 */
export type RoomEntry = (typeof OF_SESSION)[number] | 'hooks' | 'views' | 'outputs' | 'mcp' | 'taken';

/**
 * Limits the bytes of a tenant's sessions in Redis, of the hooks of their calls and of saved views; outputs of foreign
 * workers have as many bytes of their own, so that neither crowds out the other. Callers choose how many, so one tenant
 * could otherwise fill Redis for all. Counted on each write; concurrent gateways may exceed the limit a little.
 */
@Injectable()
export class SessionRoom {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'tenantSessionBytes'>,
  ) {}

  /**
   * Counts an entry before it is written, or as 0 bytes after its removal. `id`: of the session, or as of the kind. `always`: also
   * beyond the limit.
   * @throws ProblemError `quota_exceeded` for an entry that grows and does not fit
   */
  async count(
    tenantId: string,
    id: string,
    entry: RoomEntry,
    { bytes, lifeMs, always = false }: { readonly bytes: number; readonly lifeMs: number; readonly always?: boolean },
  ): Promise<void> {
    const most = this.config.tenantSessionBytes;
    const counted = bytes === 0 ? 0 : bytes + ENTRY_BYTES;
    const now = Date.now();
    const fits = await COUNT.run(this.redis, namesOf(tenantId, entry), [`${entry}:${id}`, counted, now, now + lifeMs, always ? -1 : most]);
    if (fits === 1) return;
    const why =
      entry === 'outputs'
        ? `The outputs of the tenant's workers that no \`finish\` has named yet have ${most} bytes together (TENANT_SESSION_BYTES), which is the most: send \`finish\` first`
        : `The sessions of the tenant, with their hooks, its MCP sessions and saved views have ${most} bytes together (TENANT_SESSION_BYTES), which is the most: delete what is not needed, or wait until what is without use ends`;
    throw new ProblemError('quota_exceeded', why, { retryAfterMs: RETRY_MS });
  }

  /** Ids of the entries of the kind `outputs` that end first. */
  async outputs(tenantId: string, most: number): Promise<string[]> {
    const entries = await this.redis.zrange(keys.outputEnds(tenantId), 0, String(most - 1));
    return entries.map((entry) => entry.slice('outputs:'.length));
  }

  /** True if anything of the session is counted. */
  async has(tenantId: string, sessionId: string): Promise<boolean> {
    const counted = await this.redis.hmget(keys.sessionBytes(tenantId), ...OF_SESSION.map((entry) => `${entry}:${sessionId}`));
    return counted.some((bytes) => bytes !== null);
  }
}

function namesOf(tenantId: string, entry: RoomEntry): [string, string] {
  return entry === 'outputs'
    ? [keys.outputBytes(tenantId), keys.outputEnds(tenantId)]
    : [keys.sessionBytes(tenantId), keys.sessionEnds(tenantId)];
}
