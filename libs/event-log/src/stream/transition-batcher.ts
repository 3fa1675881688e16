import { type RedisConnection, partitionOf } from '#redis';
import { EventLogUnavailable } from '../event-log-errors.js';
import { TransitionPipeline, type PipelineOptions, type TransitionAnswer } from './transition-pipeline.js';
import { bytesOf, variantOf, RUN_LIMITS, type Transition } from './transition.js';

/**
 * Sends all transitions to Redis, batched by tick, never by a timer: transitions that come while a run is in flight form the
 * next run. A lone transition does not wait; under load batches grow by themselves.
 *
 * On a single node a pipeline carries all partitions; on a cluster each partition has its own, since a script runs
 * in one slot. Within a pipeline the order of `submit` is kept, also over a reconnect.
 */
export class TransitionBatcher {
  private readonly pipelines = new Map<string, TransitionPipeline>();
  /** Names of the pipelines whose writes Redis refuses. */
  private readonly refused = new Set<string>();
  private closed = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: PipelineOptions,
  ) {}

  /**
   * Resolves with the script's answer; `sent` is called after the first run with the transition was written. Rejects with
   * `EventLogUnavailable` past the deadline or after `close`, with `EventLogFull` above maxmemory (accepts only), with a
   * RangeError when the transition is too large to send.
   */
  submit(transition: Transition, sent?: () => void): Promise<TransitionAnswer> {
    if (this.closed) return Promise.reject(new EventLogUnavailable('The event log is closed.'));
    const bytes = bytesOf(transition);
    if (bytes > RUN_LIMITS.transitionBytes) {
      return Promise.reject(
        new RangeError(
          `A transition has ${bytes} bytes; at most ${RUN_LIMITS.transitionBytes} are allowed. Put large values into the blob store.`,
        ),
      );
    }
    return this.pipelineOf(transition).submit(transition, bytes, sent);
  }

  /** Accepts no more transitions; resolves after those under way were answered or failed. Idempotent. */
  async close(deadlineMs = 5_000): Promise<void> {
    this.closed = true;
    await Promise.all([...this.pipelines.values()].map((pipeline) => pipeline.close(deadlineMs)));
  }

  private pipelineOf(transition: Transition): TransitionPipeline {
    const variant = variantOf(transition);
    const name = this.redis.isCluster ? `${variant}:${partitionOf(transition.callId)}` : variant;
    let pipeline = this.pipelines.get(name);
    if (pipeline === undefined) {
      pipeline = new TransitionPipeline(this.redis, variant, {
        ...this.options,
        onDiskFault: (refusal) => this.noteDiskFault(name, refusal),
      });
      this.pipelines.set(name, pipeline);
    }
    return pipeline;
  }

  /** Reports the first pipeline that is refused, and the recovery of the last one. */
  private noteDiskFault(name: string, refusal: string | undefined): void {
    const before = this.refused.size;
    if (refusal === undefined) this.refused.delete(name);
    else this.refused.add(name);
    if (before === 0 || this.refused.size === 0) this.options.onDiskFault?.(refusal);
  }
}
