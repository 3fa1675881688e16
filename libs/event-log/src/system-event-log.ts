import { ALL_TENANTS } from '#contracts';
import type { AdminData, AdminType, NoticeData, NoticeType, SessionNoticeType, SourceNoticeType, WorkerNoticeType } from '#contracts';
import { keys, LuaScript, partitionName, partitionOfRoot, type RedisConnection } from '#redis';
import type { EventOrigin } from './event-log.port.js';
import { systemEventMetaText, subjectOf } from './stream/stored-system-event.js';

/**
 * Appends one system event. The start and the loss of a worker are each announced once, however many gateways report them.
 *   KEYS[1] log  KEYS[2] seq  KEYS[3] announced workers
 * ARGV[1] subject  ARGV[2] type  ARGV[3] meta  ARGV[4] rest of the envelope  ARGV[5] id Returns the sequence number, or 0 if it
 * was announced before.
 */
const APPEND = new LuaScript(`#!lua
if ARGV[2] == 'worker.started' and redis.call('HSETNX', KEYS[3], ARGV[5], '1') == 0 then return 0 end
if ARGV[2] == 'worker.gone' and redis.call('HDEL', KEYS[3], ARGV[5]) == 0 then return 0 end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local seq = string.format('%.0f', redis.call('INCR', KEYS[2]))
redis.call('XADD', KEYS[1], seq .. '-0', 'h', ARGV[1] .. ' ' .. ARGV[2] .. ' 1 ' .. now .. ' 0 0', 'm', ARGV[3], 'e', ARGV[4])
return tonumber(seq)`);

/**
 * Appends an administrative act.
 *   KEYS and ARGV as above, without workers and id. Returns the sequence number.
 */
const APPEND_ACT = `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local seq = string.format('%.0f', redis.call('INCR', KEYS[2]))
redis.call('XADD', KEYS[1], seq .. '-0', 'h', ARGV[1] .. ' ' .. ARGV[2] .. ' 1 ' .. now .. ' 0 0', 'm', ARGV[3], 'e', ARGV[4])
return tonumber(seq)`;
const actScripts = {
  add: new LuaScript(`#!lua${APPEND_ACT}`),
  /** Allowed above maxmemory: keys must stay revocable, with a record. */
  revoke: new LuaScript(`#!lua flags=allow-oom${APPEND_ACT}`),
};

/** Partition of all worker events, so that one script has the full list of announced workers. */
const WORKERS_PARTITION = partitionName(0);

/**
 * Writes events of sessions, workers and sources to the log, for event streams. The log is not authoritative for these: the
 * session, the list of workers and the catalog are, and an event whose write failed is only missing. Administrative acts are
 * written too; streams do not deliver them.
 */
export class SystemEventLog {
  constructor(
    private readonly redis: RedisConnection,
    private readonly partitions: number,
  ) {}

  /** Writes an event of a session, in the partition and order of its calls. */
  async ofSession<T extends SessionNoticeType>(
    { tenantId, sessionId }: { readonly tenantId: string; readonly sessionId: string },
    type: T,
    data: NoticeData<T>,
    author: EventOrigin,
  ): Promise<void> {
    await this.append(
      partitionOfRoot(tenantId, sessionId, this.partitions),
      type,
      sessionId,
      systemEventMetaText(tenantId, sessionId),
      data,
      author,
    );
  }

  async ofWorker<T extends WorkerNoticeType>(id: string, type: T, data: NoticeData<T>, author: EventOrigin): Promise<void> {
    await this.append(WORKERS_PARTITION, type, id, '', data, author);
  }

  /** Writes an event of a source; all sources of a tenant share one partition. A source of all tenants has no tenant, like workers. */
  async ofSource<T extends SourceNoticeType>(
    { tenantId, name }: { readonly tenantId: string; readonly name: string },
    type: T,
    data: NoticeData<T>,
    author: EventOrigin,
  ): Promise<void> {
    if (tenantId === ALL_TENANTS) return this.append(WORKERS_PARTITION, type, name, '', data, author);
    const partition = partitionOfRoot(tenantId, SOURCES_ROOT, this.partitions);
    await this.append(partition, type, name, systemEventMetaText(tenantId), data, author);
  }

  /**
   * Writes an act of an administrator; all acts of a tenant are in one partition. Rejects if the write fails. `revokes`:
   * written above maxmemory, too.
   */
  async ofAdmin(tenantId: string, type: AdminType, data: AdminData, author: EventOrigin, revokes: boolean): Promise<void> {
    const partition = adminPartition(tenantId, this.partitions);
    await actScripts[revokes ? 'revoke' : 'add'].run(
      this.redis,
      [keys.log(partition), keys.seq(partition)],
      [subjectOf(type, tenantId), type, systemEventMetaText(tenantId), restOf(author, data)],
    );
  }

  /** Workers whose start was announced and whose loss was not. */
  announcedWorkers(): Promise<string[]> {
    return this.redis.hkeys(keys.announcedWorkers(WORKERS_PARTITION));
  }

  private async append(partition: string, type: NoticeType, id: string, meta: string, data: object, author: EventOrigin): Promise<void> {
    await APPEND.run(
      this.redis,
      [keys.log(partition), keys.seq(partition), keys.announcedWorkers(partition)],
      [subjectOf(type, id), type, meta, restOf(author, data), id],
    );
  }
}

/** Roots for `partitionOfRoot`; no session has these names. */
const ADMIN_ROOT = '#admin';
const SOURCES_ROOT = '#sources';

/** Partition of the administrative acts of a tenant. */
export function adminPartition(tenantId: string, partitions: number): string {
  return partitionOfRoot(tenantId, ADMIN_ROOT, partitions);
}

function restOf({ source, actor, actorname }: EventOrigin, data: object): string {
  return JSON.stringify({ source, actor, actorname, data }).slice(1, -1);
}
