import type { RunningProcess } from '#contracts';
import type { RedisConnection } from '#redis';
import { everyMs, type Ticker } from '#timing';
import { checkCompatibility, describeProcess, registerProcess, removeHeartbeat, writeHeartbeat } from './running-processes.js';

const HEARTBEAT_MS = 4_000;
/** Heartbeats until the process registers again, for a Redis that has lost its data. */
const REGISTER_EVERY = 8;

/** Keeps a gateway or worker in the list of running processes, which others check for compatibility before they start. */
export class ProcessRegistration {
  private readonly own: RunningProcess;
  private ticker: Ticker | undefined;
  private beats = 0;
  private beating: Promise<unknown> = Promise.resolve();

  constructor(
    kind: RunningProcess['kind'],
    id: string,
    private readonly redis: RedisConnection,
    /** Settings that should be alike in all processes. */
    settings: Pick<RunningProcess, 'tenantCallBytes'> = {},
  ) {
    this.own = { ...describeProcess(kind, id), ...settings };
  }

  /**
   * Registers before the check, so that of two processes that start at once at least one sees the other.
   * @throws StartupError if the process must not run beside another one
   */
  async start(): Promise<void> {
    await registerProcess(this.redis, this.own);
    await checkCompatibility(this.redis, this.own).catch(async (error: unknown) => {
      await this.close();
      throw error;
    });
    this.ticker = everyMs(HEARTBEAT_MS, () => (this.beating = this.beat().catch(() => {})));
  }

  private beat(): Promise<unknown> {
    this.beats += 1;
    return this.beats % REGISTER_EVERY === 0 ? registerProcess(this.redis, this.own) : writeHeartbeat(this.redis, this.own);
  }

  /** Idempotent. Never rejects or waits for an unreachable Redis: without heartbeats a process counts as gone, too. */
  async close(): Promise<void> {
    this.ticker?.unsubscribe();
    if (this.redis.status !== 'ready') return;
    await this.beating;
    await removeHeartbeat(this.redis, this.own).catch(() => {});
  }
}
