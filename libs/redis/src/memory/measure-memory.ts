import { Cluster } from 'ioredis';
import type { RedisConnection } from '../redis-client.js';

/** Above this part of `maxmemory` whatever is kept only for readers leaves Redis: archived calls, ended batches. */
export const FULL_SHARE = 0.6;

/** Memory of one master. */
export interface RedisMemorySample {
  /** What Redis compares with `maxmemory`: without the buffers of replicas and of the append-only file. */
  readonly usedBytes: number;
  /** 0 for no bound. */
  readonly maxBytes: number;
  readonly fragmentation: number;
}

/** Part of `maxmemory` that is in use; 0 where there is no bound. */
export function memoryShare({ usedBytes, maxBytes }: RedisMemorySample): number {
  return maxBytes === 0 ? 0 : usedBytes / maxBytes;
}

/**
 * Asks every master for its memory and returns the fullest: a cluster whose keys are spread unevenly refuses writes as soon as one
 * node is full. A master that does not answer is left out; rejects when none does.
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
