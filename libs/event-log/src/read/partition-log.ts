import { getTogether, keys, type RedisConnection } from '#redis';
import { toEntry } from './archived-entry.js';
import { seqOf, type StreamEntry } from '../stream/stored-event.js';
import type { LogArchive } from './log-archive.port.js';

/** Entries of the partitions of the log: from the stream, the archive, or the hash of entries kept for open calls. */
export class PartitionLog {
  constructor(
    readonly redis: RedisConnection,
    private readonly archive?: LogArchive,
  ) {}

  /** Entries from `from` to `to`, both included, oldest first, at most `count`. Leaves out entries that are lost or dropped. */
  async range(partition: string, from: number, to: number, count?: number): Promise<StreamEntry[]> {
    const [log, start, end] = [keys.log(partition), `${from}-0`, `${to}-0`];
    const found = await (count === undefined ? this.redis.xrange(log, start, end) : this.redis.xrange(log, start, end, 'COUNT', count));
    const first = found[0] === undefined ? undefined : seqOf(found[0][0]);
    if (first === from || this.archive === undefined) return found;
    if (first === undefined && (await this.end(partition)) < from) return found;
    const archived = await this.archive.range(partition, from, Math.min(to, (first ?? Infinity) - 1), count ?? Infinity);
    return [...archived.map(toEntry), ...found].slice(0, count);
  }

  /** Entries with these numbers, in their order, without lost or dropped ones. */
  async entries(partition: string, seqs: readonly number[]): Promise<StreamEntry[]> {
    const found = await Promise.all(seqs.map((seq) => this.redis.xrange(keys.log(partition), `${seq}-0`, `${seq}-0`)));
    const all = await Promise.all(seqs.map(async (seq, at) => found[at]?.[0] ?? (await this.trimmed(partition, seq))));
    return all.filter((entry) => entry !== undefined);
  }

  /** Newest sequence number; 0 while the partition is empty. */
  async end(partition: string): Promise<number> {
    return Number((await getTogether(this.redis, keys.seq(partition))) ?? 0);
  }

  private async trimmed(partition: string, seq: number): Promise<StreamEntry | undefined> {
    const text = await this.redis.hget(keys.keptEntries(partition), String(seq));
    if (text !== null) return decodeKeptEntry(seq, text);
    const [archived] = (await this.archive?.range(partition, seq, seq, 1)) ?? [];
    return archived && toEntry(archived);
  }
}

/**
 * Stored form of an open call's entry after the stream is trimmed: its three fields, each on a line. apply-transitions.lua
 * reads it.
 */
export function encodeKeptEntry([, fields]: StreamEntry): string {
  return fields.filter((_, index) => index % 2 === 1).join('\n');
}

function decodeKeptEntry(seq: number, text: string): StreamEntry {
  const [stamp = '', meta = '', rest = ''] = text.split('\n');
  return [`${seq}-0`, ['h', stamp, 'm', meta, 'e', rest]];
}
