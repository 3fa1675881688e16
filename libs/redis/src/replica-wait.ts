import type { RedisConnection } from './redis-client.js';

/** How many replicas are to confirm, and how long one WAIT may block its connection. */
export interface ReplicaWait {
  readonly replicas: number;
  readonly ms: number;
}

export interface ReplicaState {
  /** How many replicas have everything that the master had written before. */
  readonly confirmed: number;
  /** The replication history of that master; another one may lack what was written to it. Empty where INFO is forbidden. */
  readonly history: string;
}

/**
 * From Redis 7.2 on WAIT asks only for the last write of its own connection. A connection that wrote nothing, such as
 * one that repeats a script whose effect is there already, is confirmed at once, whatever the replicas lack. So a marker
 * is written before each WAIT. Not refused above maxmemory: what was accepted can always finish.
 * KEYS[1] the marker. Answers the history of the master.
 */
export const MARK = `#!lua flags=allow-oom
redis.call('SET', KEYS[1], '', 'PX', 60000)
local info = redis.pcall('INFO', 'replication')
return type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or ''`;

/** Only the history, for a script that is confirmed on another connection. KEYS[1] routes it to the node of the script. */
export const HISTORY = `#!lua flags=no-writes
local info = redis.pcall('INFO', 'replication')
return type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or ''`;

/** The marker lies in the slot of the key, so that the same node writes it. */
export function markerOf(key = ''): string {
  const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? key;
  return `{${tag}}:wait`;
}

/** Asks how many replicas have everything that the master of the key has written until now. Rejects while Redis is out of reach. */
export async function waitForReplicas(redis: RedisConnection, key: string, { replicas, ms }: ReplicaWait): Promise<ReplicaState> {
  const results = await redis.pipeline().eval(MARK, 1, markerOf(key)).wait(replicas, ms).exec();
  return replicaState(results ?? []);
}

/** Reads the replies of MARK and WAIT; the first error is thrown. */
export function replicaState(replies: readonly (readonly [error: Error | null, reply: unknown])[]): ReplicaState {
  const [mark, wait] = replies;
  const error = mark?.[0] ?? wait?.[0];
  if (error) throw error;
  return { history: typeof mark?.[1] === 'string' ? mark[1] : '', confirmed: Number(wait?.[1] ?? 0) };
}

/**
 * Asks replicas on a connection of its own, so that nothing else waits behind WAIT. One WAIT at a time for each node of
 * a single server, each slot of a cluster: those who ask meanwhile share the next one.
 */
export class ReplicaBarrier {
  private readonly running = new Map<string, Promise<ReplicaState>>();
  private readonly next = new Map<string, Promise<ReplicaState>>();

  constructor(
    readonly redis: RedisConnection,
    private readonly wait: ReplicaWait,
  ) {}

  /** As `waitForReplicas`. It is asked after the call, so whatever the caller has an answer to is covered. */
  ask(key: string): Promise<ReplicaState> {
    const marker = this.redis.isCluster ? markerOf(key) : '';
    const next = this.next.get(marker);
    if (next !== undefined) return next;
    const running = this.running.get(marker);
    if (running === undefined) return this.start(marker, key);
    const after = running.then(
      () => this.startNext(marker, key),
      () => this.startNext(marker, key),
    );
    this.next.set(marker, after);
    return after;
  }

  isEnough({ confirmed }: ReplicaState): boolean {
    return confirmed >= this.wait.replicas;
  }

  private startNext(marker: string, key: string): Promise<ReplicaState> {
    this.next.delete(marker);
    return this.start(marker, key);
  }

  private start(marker: string, key: string): Promise<ReplicaState> {
    const started = waitForReplicas(this.redis, key, this.wait).finally(() => {
      if (this.running.get(marker) === started) this.running.delete(marker);
    });
    this.running.set(marker, started);
    return started;
  }
}
