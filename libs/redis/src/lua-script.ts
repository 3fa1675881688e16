import { createHash } from 'node:crypto';
import type { ChainableCommander } from 'ioredis';
import { noticeFailover, partitionsBeside } from './failover.js';
import { loadLua } from './lua-loader.js';
import type { RedisConnection } from './redis-client.js';
import { HISTORY, MARK, markerOf, replicaState, type ReplicaState, type ReplicaWait } from './replica-wait.js';

/**
 * Script that Redis runs by its digest; the text is sent only if Redis lacks it (first use, restart). No `defineCommand` of
 * ioredis: scripts have includes and a shebang with flags, and some answers are read as bytes.
 */
export class LuaScript {
  readonly sha: string;

  readonly source: string;

  constructor(source: string) {
    this.source = inlineConstants(source);
    this.sha = createHash('sha1').update(this.source).digest('hex');
  }

  /**
   * Loads the script of a file and its includes, see `loadLua`. `shebang` becomes the first line, so that one file can have
   * several flags.
   */
  static load(file: URL, shebang = '#!lua', provided?: Readonly<Record<string, string>>): LuaScript {
    return new LuaScript(`${shebang}\n${loadLua(file, provided)}`);
  }

  async run(redis: RedisConnection, keys: readonly string[], args: readonly (string | number | Buffer)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.sha, keys.length, ...keys, ...args);
    } catch (error) {
      await rethrowUnlessNoScript(redis, keys, error);
      return redis.eval(this.source, keys.length, ...keys, ...args);
    }
  }

  /** Runs the script; returns strings of the answer as bytes. */
  async runBuffer(redis: RedisConnection, keys: readonly string[], args: readonly (string | number | Buffer)[]): Promise<unknown> {
    try {
      return await redis.callBuffer('EVALSHA', this.sha, keys.length, ...keys, ...args);
    } catch (error) {
      await rethrowUnlessNoScript(redis, keys, error);
      return redis.callBuffer('EVAL', this.source, keys.length, ...keys, ...args);
    }
  }

  /** Runs the script, and a WAIT for replicas in the same write to one node. The WAIT blocks the connection for `ms` at most. */
  async runAndWait(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
    wait: ReplicaWait,
  ): Promise<WaitedRun> {
    const marker = markerOf(keys[0]);
    const waited = (pipeline: ChainableCommander) => waitedRun(pipeline.eval(MARK, 1, marker).wait(wait.replicas, wait.ms));
    try {
      return await waited(redis.pipeline().evalsha(this.sha, keys.length, ...keys, ...args));
    } catch (error) {
      await rethrowUnlessNoScript(redis, keys, error);
      return waited(redis.pipeline().eval(this.source, keys.length, ...keys, ...args));
    }
  }

  /** Runs the script and returns the replication history of its master, too: a `ReplicaBarrier` confirms the run on that master only. */
  async runWithHistory(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<Pick<WaitedRun, 'answer' | 'history'>> {
    const read = async (pipeline: ChainableCommander) => {
      const [script, history] = (await pipeline.eval(HISTORY, 1, keys[0] ?? '').exec()) ?? [];
      const error = script?.[0] ?? history?.[0];
      if (error) throw error;
      return { answer: script?.[1], history: String(history?.[1]) };
    };
    try {
      return await read(redis.pipeline().evalsha(this.sha, keys.length, ...keys, ...args));
    } catch (error) {
      await rethrowUnlessNoScript(redis, keys, error);
      return read(redis.pipeline().eval(this.source, keys.length, ...keys, ...args));
    }
  }
}

/** Answer of a script, and the state of the replicas. */
export interface WaitedRun extends ReplicaState {
  readonly answer: unknown;
}

/** A node without the script may be a new master: its failover is recorded before any write. */
async function rethrowUnlessNoScript(redis: RedisConnection, [key]: readonly string[], error: unknown): Promise<void> {
  if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
  await noticeFailover(redis, await partitionsBeside(redis, key));
}

/** Inlines the constants of lines such as `local FIRST, SECOND = 1, 2 -- inlined`, and removes the lines. */
function inlineConstants(source: string): string {
  const numbers = new Map<string, string>();
  const rest = source.replace(/^ *local ([A-Z_0-9, ]+) = ([\d, ]+) -- inlined$/gm, (_line, names: string, values: string) => {
    const constants = values.split(', ');
    for (const [index, name] of names.split(', ').entries()) numbers.set(name, constants[index] ?? 'nil');
    return '';
  });
  return numbers.size === 0 ? rest : rest.replace(/\b[A-Z][A-Z_0-9]*\b/g, (word) => numbers.get(word) ?? word);
}

/** Sends script, marker and WAIT; throws the first error of their replies. */
async function waitedRun(pipeline: ChainableCommander): Promise<WaitedRun> {
  const [script, ...rest] = (await pipeline.exec()) ?? [];
  if (script?.[0]) throw script[0];
  return { answer: script?.[1], ...replicaState(rest) };
}
