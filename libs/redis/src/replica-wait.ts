import type { RedisConnection } from './redis-client.js';
import type { ReplicaNumber } from './replica-number.js';

/** Number of replicas that must confirm, and longest block of the connection by one WAIT. */
export interface ReplicaWait {
  readonly replicas: number;
  readonly ms: number;
}

export interface ReplicaState {
  /** Number of replicas with all earlier writes of the master. */
  readonly confirmed: number;
  /** Replication history of that master; another one may lack its writes. Empty if INFO is forbidden. */
  readonly history: string;
}

/** State after a wait for the number of replicas that was to confirm at its start. */
export interface Confirmation extends ReplicaState {
  readonly isEnough: boolean;
}

/**
 * Writes a marker before each WAIT. From Redis 7.2 on WAIT covers only the last write of its own connection: a connection
 * without a write, such as a repeat of an applied script, would be confirmed at once, whatever the replicas lack. Allowed above
 * maxmemory, so that accepted calls can always finish. KEYS[1] the marker. Returns the history of the master.
 */
export const MARK = `#!lua flags=allow-oom
redis.call('SET', KEYS[1], '', 'PX', 60000)
local info = redis.pcall('INFO', 'replication')
return type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or ''`;

/** Returns only the history, for a script that is confirmed on another connection. KEYS[1] routes it to the node of the script. */
export const HISTORY = `#!lua flags=no-writes
local info = redis.pcall('INFO', 'replication')
return type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or ''`;

/** Name of the marker, in the slot of the key, so that the same node writes it. */
export function markerOf(key = ''): string {
  const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? key;
  return `{${tag}}:wait`;
}

/** Counts the replicas that have all writes of the master of the key until now. Rejects while Redis is unreachable. */
export async function waitForReplicas(redis: RedisConnection, key: string, { replicas, ms }: ReplicaWait): Promise<ReplicaState> {
  const results = await redis.pipeline().eval(MARK, 1, markerOf(key)).wait(replicas, ms).exec();
  return replicaState(results ?? []);
}

/** Parses the replies of MARK and WAIT. Throws the first error. */
export function replicaState(replies: readonly (readonly [error: Error | null, reply: unknown])[]): ReplicaState {
  const [mark, wait] = replies;
  const error = mark?.[0] ?? wait?.[0];
  if (error) throw error;
  return { history: typeof mark?.[1] === 'string' ? mark[1] : '', confirmed: Number(wait?.[1] ?? 0) };
}

/**
 * Waits for replicas on a connection of its own, so that WAIT delays no other command. Runs one WAIT at a time for a single
 * server, or for each slot of a cluster; requests meanwhile share the next one.
 */
export class ReplicaBarrier {
  private readonly running = new Map<string, Promise<Confirmation>>();
  private readonly next = new Map<string, Promise<Confirmation>>();

  constructor(
    readonly redis: RedisConnection,
    private readonly replicas: ReplicaNumber,
    private readonly ms: number,
  ) {}

  /** Waits like `waitForReplicas`. The WAIT is sent after the call, so that it covers every write that the caller has an answer to. */
  ask(key: string): Promise<Confirmation> {
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

  private startNext(marker: string, key: string): Promise<Confirmation> {
    this.next.delete(marker);
    return this.start(marker, key);
  }

  private start(marker: string, key: string): Promise<Confirmation> {
    const started = this.confirm(key).finally(() => {
      if (this.running.get(marker) === started) this.running.delete(marker);
    });
    this.running.set(marker, started);
    return started;
  }

  private async confirm(key: string): Promise<Confirmation> {
    const replicas = await this.replicas.current();
    const state = await waitForReplicas(this.redis, key, { replicas, ms: this.ms });
    return { ...state, isEnough: state.confirmed >= replicas };
  }
}
