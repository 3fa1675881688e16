import { channel } from 'node:diagnostics_channel';
import type { CallErrorCode, CallOutcome, HookEvent, Pool, RetryReason, Risk, Stopped } from '#contracts';

/**
 * An event for metrics and tests; the code that emits it knows no subscriber. Without subscribers it costs one property read.
 * Listeners must not throw and must not block.
 */
export interface TelemetryEvent<T> {
  emit(facts: T): void;
  /** Returns how to stop listening. */
  on(listener: (facts: T) => void): () => void;
}

function telemetryEvent<T>(name: string): TelemetryEvent<T> {
  const underlying = channel(`toolyard:${name}`);
  return {
    emit: (facts) => {
      if (underlying.hasSubscribers) underlying.publish(facts);
    },
    on: (listener) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a channel carries what its event emits
      const subscriber = (facts: unknown) => listener(facts as T);
      underlying.subscribe(subscriber);
      return () => underlying.unsubscribe(subscriber);
    },
  };
}

/** The outcome of a due time of a schedule. `overlap` and `missed`: it is left out; `paused`: its key may not submit any more. */
export const SCHEDULE_RESULTS = ['submitted', 'refused', 'overlap', 'missed', 'paused'] as const;

export const telemetry = {
  /** Once for each call that was accepted into the log, also a refused one. */
  callSubmitted: telemetryEvent<{ tool: string; pool: Pool; risk?: Risk | undefined }>('call.submitted'),
  /** A call waits for a person from now on. */
  /** Once for each End, in the process that wrote it. */
  callEnded: telemetryEvent<{ tool: string; outcome: CallOutcome; code?: CallErrorCode }>('call.ended'),
  /** A claim that was granted. `cause`: first, or the reason of the retry before it. */
  attemptStarted: telemetryEvent<{ tool: string; pool: Pool; cause: 'first' | 'retry'; queueWaitMs: number }>('attempt.started'),
  attemptFinished: telemetryEvent<{
    tool: string;
    pool: Pool;
    runMs: number;
    cpuMs: number | undefined;
    ended: 'end' | 'retry' | 'lost';
  }>('attempt.finished'),
  retried: telemetryEvent<{ tool: string; reason: RetryReason }>('call.retried'),
  /** Once for each End of a call that was to be cancelled; `tookMs` from when its writer knew of the request to the End. */
  cancelled: telemetryEvent<{ tool: string; how: Stopped['how']; tookMs: number }>('call.cancelled'),
  /** A write, or a command, that was refused or stopped because files take too much. */
  memoryRefused: telemetryEvent<{ refused: 'low' | 'all' | 'acts' }>('memory.refused'),
  quotaRefused: telemetryEvent<{ scope: 'workspace' | 'tenant'; limit: 'bytes' | 'files' }>('quota.refused'),
  leaseExpired: telemetryEvent<{ tool: string }>('lease.expired'),
  /** Work stopped because this worker could not renew, or was fenced off. */
  leaseLost: telemetryEvent<{ tool: string }>('lease.lost'),
  transitionRefused: telemetryEvent<{ transition: string; code: string }>('transition.refused'),
  /** One run of the transition script. */
  scriptRun: telemetryEvent<{ transitions: number; ms: number }>('script.run'),
  /** A job whose claim was refused: a duplicate or a late one. */
  dispatchDuplicate: telemetryEvent<{ pool: Pool; code: string }>('dispatch.duplicate'),
  /** The fast path to BullMQ failed; the log's timers dispatch the call later. */
  dispatchFailed: telemetryEvent<{ pool: Pool }>('dispatch.failed'),
  dispatchRepeated: telemetryEvent<{ pool: Pool }>('dispatch.repeated'),
  /** `lagMs`: from the event's Redis time to its delivery by this process. */
  tailDelivered: telemetryEvent<{ events: number; lagMs: number }>('tail.delivered'),
  tailGapRepaired: telemetryEvent<{ partition: string; events: number }>('tail.gap_repaired'),
  /** A step of the projection of a partition; `lagMs`: from the Redis time of its oldest event to when it was in lists. */
  projected: telemetryEvent<{ partition: string; events: number; tookMs: number; lagMs: number }>('projection.step'),
  /** The database refused the row of a call, so the call is not in lists. */
  projectionSkipped: telemetryEvent<{ partition: string; callId: string }>('projection.skipped'),
  /** How many events of a step cannot be read, so that they are in no row; mostly 0. */
  eventsSkipped: telemetryEvent<{ partition: string; events: number }>('projection.events_skipped'),
  /** A segment of a partition was archived; `lagMs`: from the Redis time of its oldest event. */
  segmentSealed: telemetryEvent<{ partition: string; events: number; bytes: number; lagMs: number }>('segment.sealed'),
  /** A segment of a partition left Redis, with the calls that ended in it. */
  segmentTrimmed: telemetryEvent<{ partition: string; calls: number }>('segment.trimmed'),
  /** A segment of the archive was deleted by retention. */
  segmentDropped: telemetryEvent<{ partition: string; events: number }>('segment.dropped'),
  /** A round of the archive's retention ended; `oldestMs`: Unix time of the oldest event that is left, where there is one. */
  archiveRetained: telemetryEvent<{ ok: boolean; oldestMs?: number | undefined }>('archive.retained'),
  /** A round of the archiver failed; it is repeated. */
  sealingFailed: telemetryEvent<object>('sealing.failed'),
  /** A round of the retention of the history: deleted calls, and weeks that were dropped as a whole. */
  historyRetained: telemetryEvent<{ ok: boolean; calls: number; weeks: number }>('history.retained'),
  socketOpened: telemetryEvent<{ kind: 'ws' | 'sse' }>('socket.opened'),
  socketClosed: telemetryEvent<{ kind: 'ws' | 'sse'; why: string }>('socket.closed'),
  /** The tool list of a source was read, or could not be. `source`: as in `SourceSample`. */
  sourceRead: telemetryEvent<{ source: string; result: 'ok' | 'failed' }>('source.read'),
  /** A source was called. `unavailable`: it was not reachable; `stopped`: the call was cancelled or its time was over. */
  sourceCalled: telemetryEvent<{ source: string; result: 'ok' | 'failed' | 'unavailable' | 'stopped' }>('source.called'),
  /** A due time of a schedule was handled; `lateMs`: so long after it. */
  scheduleRun: telemetryEvent<{ result: (typeof SCHEDULE_RESULTS)[number]; lateMs: number }>('schedule.run'),
  /** One HTTP request to the MCP endpoint that its key was let in for. */
  mcpRequest: telemetryEvent<{ protocol: '2026-07-28' | '2025-11-25' | 'none'; method: string; outcome: 'ok' | 'refused' }>('mcp.request'),
  /** Updates or progress a slow socket or a fast tool did not get one by one. */
  updatesCoalesced: telemetryEvent<{ where: 'worker' | 'socket'; n: number }>('updates.merged'),
  /** The config file was read again; `ok: false` when it was refused. */
  configRead: telemetryEvent<{ ok: boolean }>('config.read'),
  /** One batch of spans that reached the collector, or did not. */
  spansExported: telemetryEvent<{ spans: number; ok: boolean }>('spans.exported'),
  rateLimited: telemetryEvent<{ limit: string }>('rate.limited'),
  /** A hook was asked. `cached`: it had answered the same question before and was not run; `failed`: it gave no answer, so `onError` counts. */
  hookRun: telemetryEvent<{ event: HookEvent; verdict: 'allow' | 'deny' | 'failed' | 'cancelled'; cached: boolean; tookMs: number }>(
    'hook.run',
  ),
  /** One try to send an event to a webhook. `dead`: it failed and was the last. */
  webhookSent: telemetryEvent<{ result: 'delivered' | 'failed' | 'dead'; tookMs: number }>('webhook.sent'),
  /** The output of a command reports unusual system calls. */
  securityAlert: telemetryEvent<{ kind: 'unknown_syscall' | 'denied_syscall' | 'denied_rate_exceeded' | 'event_rate_exceeded' }>(
    'security.alert',
  ),
  /** A request of a sub-agent to its model, answered or failed. */
  agentTurn: telemetryEvent<{ agent: string; ok: boolean; tookMs: number; inputTokens: number; outputTokens: number }>('agent.turn'),
  outputTruncated: telemetryEvent<{ tool: string }>('output.truncated'),
} as const;
