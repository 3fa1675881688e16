import { type RedisConnection, partitionOf } from '#redis';
import { EventLogUnavailable } from '../event-log-errors.js';
import { TransitionPipeline, type PipelineOptions, type TransitionAnswer } from './transition-pipeline.js';
import { bytesOf, variantOf, RUN_LIMITS, type Transition } from './transition.js';

/**
 * The one way of transitions to Redis. They are gathered by tick, never by a timer: while one run is in flight the next
 * ones collect, and then go together. A lone transition waits for nothing; under load batches grow by themselves.
 *
 * On a single node a pipeline carries all partitions; on a cluster each partition has its own, since a script runs
 * in one slot. Within a pipeline the order of `submit` is kept, also over a reconnect.
 */
export class TransitionBatcher {
  private readonly pipelines = new Map<string, TransitionPipeline>();
  /** Names of the pipelines whose writes are refused. */
  private readonly refused = new Set<string>();
  private closed = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: PipelineOptions,
  ) {}

  /**
   * Resolves with the script's answer; `sent` is called when the first run with it was written.
   * Rejects with `EventLogUnavailable` past the deadline or after `close`, with
   * `EventLogFull` above maxmemory (accepts only), with a RangeError when the transition is too large to send.
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

  /** Takes no more; resolves when what is under way was answered or gave up. Idempotent. */
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

  /** Tells of the first pipeline that is refused, and when none is any more. */
  private noteDiskFault(name: string, refusal: string | undefined): void {
    const before = this.refused.size;
    if (refusal === undefined) this.refused.delete(name);
    else this.refused.add(name);
    if (before === 0 || this.refused.size === 0) this.options.onDiskFault?.(refusal);
  }
}
