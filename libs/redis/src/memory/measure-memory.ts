import { Cluster } from 'ioredis';
import type { RedisConnection } from '../redis-client.js';

/** Share of `maxmemory` above which data stored only for readers leaves Redis: archived calls, ended batches. */
export const FULL_SHARE = 0.6;

/** Memory of one master. */
export interface RedisMemorySample {
  /** Memory that Redis compares with `maxmemory`: without the buffers of replicas and of the append-only file. */
  readonly usedBytes: number;
  /** Value of `maxmemory`; 0 for no limit. */
  readonly maxBytes: number;
  readonly fragmentation: number;
}

/** Used share of `maxmemory`; 0 without a limit. */
export function memoryShare({ usedBytes, maxBytes }: RedisMemorySample): number {
  return maxBytes === 0 ? 0 : usedBytes / maxBytes;
}

/**
 * Reads the memory of every master and returns that of the fullest: a cluster with unevenly spread keys refuses writes as soon
 * as one node is full. Leaves out masters without an answer; rejects if none answers.
 */
export async function measureMemory(redis: RedisConnection): Promise<RedisMemorySample> {
  const masters = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const answers = await Promise.allSettled(masters.map(async (node) => parseMemory(await node.info('memory'))));
  const samples = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [first, ...others] = samples;
  if (first === undefined)
    throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error('No master of Redis is known.');
  return others.reduce((fullest, sample) => (isFuller(sample, fullest) ? sample : fullest), first);
}

function isFuller(a: RedisMemorySample, b: RedisMemorySample): boolean {
  const [left, right] = [memoryShare(a), memoryShare(b)];
  return left === right ? a.usedBytes > b.usedBytes : left > right;
}

function parseMemory(info: string): RedisMemorySample {
  // oxlint-disable-next-line no-restricted-globals -- names of fields in this file
  const field = (name: string) => Number(new RegExp(`^${name}:([0-9.]+)\\r?$`, 'm').exec(info)?.[1] ?? 0);
  return {
    usedBytes: Math.max(0, field('used_memory') - field('mem_not_counted_for_evict')),
    maxBytes: field('maxmemory'),
    fragmentation: field('mem_fragmentation_ratio'),
  };
}
