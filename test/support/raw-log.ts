import { keys, partitionOf, type RedisConnection } from '#redis';

export interface RawEvent {
  readonly callId: string;
  readonly type?: string;
  readonly tenantId?: string;
  readonly tool?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly data?: unknown;
  /** Raw text in place of the members from `tenantId`, `tool`, ...: JSON, or damaged JSON. */
  readonly meta?: string;
  /** Raw text in place of the members from `data`. */
  readonly rest?: string;
}

const APPEND = `
local seq = redis.call('INCR', KEYS[2])
local time = redis.call('TIME')
local ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('XADD', KEYS[1], seq .. '-0', 'h', ARGV[1] .. ' ' .. ARGV[2] .. ' 1 ' .. ms .. ' 1 1', 'm', ARGV[3], 'e', ARGV[4])
return seq`;

/** Puts an entry into a partition's log as the transition script would, without any of its rules. Answers the sequence number. */
export async function appendRaw(redis: RedisConnection, event: RawEvent): Promise<number> {
  const { callId, type = 'call.update', tenantId = 'acme', tool = 'echo', agentId, sessionId, data = {} } = event;
  const partition = partitionOf(callId);
  const meta = event.meta ?? JSON.stringify({ tenantid: tenantId, tool, agentid: agentId, sessionid: sessionId }).slice(1, -1);
  const rest = event.rest ?? JSON.stringify({ source: '/test', actor: 'test', data }).slice(1, -1);
  return Number(await redis.eval(APPEND, 2, keys.log(partition), keys.seq(partition), callId, type, meta, rest));
}

let made = 0;

/** A call id of this partition that no other test has. */
export function rawCallId(partition: number): string {
  return `${String(partition).padStart(2, '0')}-01J${String(++made).padStart(23, '0')}`;
}
