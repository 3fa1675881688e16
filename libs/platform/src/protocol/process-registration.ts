import type { RunningProcess } from '#contracts';
import type { RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { checkCompatibility, describeProcess, removeHeartbeat, writeHeartbeat } from './running-processes.js';

const HEARTBEAT_MS = 2_000;

/** Keeps a gateway or worker in the list of running processes, which others check for compatibility before they start. */
export class ProcessRegistration {
  private readonly own: RunningProcess;
  private ticker: Ticker | undefined;
  private beating: Promise<void> = Promise.resolve();

  constructor(
    kind: RunningProcess['kind'],
    id: string,
    private readonly redis: RedisConnection,
  ) {
    this.own = describeProcess(kind, id);
  }

  /**
   * Registers before the check, so that of two processes that start at once at least one sees the other.
   * @throws StartupError if the process must not run beside another one
   */
  async start(): Promise<void> {
    await writeHeartbeat(this.redis, this.own);
    await checkCompatibility(this.redis, this.own).catch(async (error: unknown) => {
      await this.close();
      throw error;
    });
    this.ticker = everyMs(HEARTBEAT_MS, () => (this.beating = writeHeartbeat(this.redis, this.own).catch(() => {})));
  }

  /** Idempotent. Never rejects or waits for an unreachable Redis: without heartbeats a process counts as gone, too. */
  async close(): Promise<void> {
    this.ticker?.unsubscribe();
    if (this.redis.status !== 'ready') return;
    await this.beating;
    await removeHeartbeat(this.redis, this.own).catch(() => {});
  }
}
