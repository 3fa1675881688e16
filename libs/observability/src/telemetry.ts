import { channel } from 'node:diagnostics_channel';
import type { CallErrorCode, CallOutcome, HookEvent, Pool, RetryReason, Risk, Stopped } from '#contracts';

/**
 * Event for metrics and tests; the emitting code knows no subscriber. Without subscribers it costs one property read. Listeners
 * must not throw or block.
 */
export interface TelemetryEvent<T> {
  emit(facts: T): void;
  /** Returns a function that stops listening. */
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

/** Outcomes of a due time of a schedule. `overlap`, `missed`: skipped; `paused`: the key may no longer submit. */
export const SCHEDULE_RESULTS = ['submitted', 'refused', 'overlap', 'missed', 'paused'] as const;

export const telemetry = {
  /** Emitted once for each call accepted into the log, even a rejected one. */
  callSubmitted: telemetryEvent<{ tool: string; pool: Pool; risk?: Risk | undefined }>('call.submitted'),
  /** Emitted once for each End, in the process that wrote it. */
  callEnded: telemetryEvent<{ tool: string; outcome: CallOutcome; code?: CallErrorCode }>('call.ended'),
  /** Granted claim. `cause`: first attempt, or retry. */
  attemptStarted: telemetryEvent<{ tool: string; pool: Pool; cause: 'first' | 'retry'; queueWaitMs: number }>('attempt.started'),
  attemptFinished: telemetryEvent<{
    tool: string;
    pool: Pool;
    runMs: number;
    cpuMs: number | undefined;
    ended: 'end' | 'retry' | 'lost';
  }>('attempt.finished'),
  retried: telemetryEvent<{ tool: string; reason: RetryReason }>('call.retried'),
  /** Emitted once for each End after a cancel request; `tookMs`: from the writer's receipt of the request to the End. */
  cancelled: telemetryEvent<{ tool: string; how: Stopped['how']; tookMs: number }>('call.cancelled'),
  /** Request that was rejected because Redis is short of memory. */
  memoryRefused: telemetryEvent<{ refused: 'low' | 'all' | 'acts' }>('memory.refused'),
  /** Write or command that was refused or stopped because files exceed their quota. */
  quotaRefused: telemetryEvent<{ scope: 'workspace' | 'tenant'; limit: 'bytes' | 'files' }>('quota.refused'),
  leaseExpired: telemetryEvent<{ tool: string }>('lease.expired'),
  /** Stop of work, since this worker could not renew its lease, or was fenced. */
  leaseLost: telemetryEvent<{ tool: string }>('lease.lost'),
  transitionRefused: telemetryEvent<{ transition: string; code: string }>('transition.refused'),
  /** Run of the transition script. */
  scriptRun: telemetryEvent<{ transitions: number; ms: number }>('script.run'),
  /** A job whose claim was refused: a duplicate or a late one. */
  dispatchDuplicate: telemetryEvent<{ pool: Pool; code: string }>('dispatch.duplicate'),
  /** Failure of the fast path to BullMQ; the log's timers dispatch the call later. */
  dispatchFailed: telemetryEvent<{ pool: Pool }>('dispatch.failed'),
  dispatchRepeated: telemetryEvent<{ pool: Pool }>('dispatch.repeated'),
  /** Delivery of events by this process; `lagMs`: since their Redis time. */
  tailDelivered: telemetryEvent<{ events: number; lagMs: number }>('tail.delivered'),
  tailGapRepaired: telemetryEvent<{ partition: string; events: number }>('tail.gap_repaired'),
  /** A step of the projection of a partition; `lagMs`: from the Redis time of its oldest event to its visibility in lists. */
  projected: telemetryEvent<{ partition: string; events: number; tookMs: number; lagMs: number }>('projection.step'),
  /** The database refused the row of a call, so the call is not in lists. */
  projectionSkipped: telemetryEvent<{ partition: string; callId: string }>('projection.skipped'),
  /** Number of unreadable events of a step, which are in no row; mostly 0. */
  eventsSkipped: telemetryEvent<{ partition: string; events: number }>('projection.events_skipped'),
  /** A segment of a partition was archived; `lagMs`: from the Redis time of its oldest event. */
  segmentSealed: telemetryEvent<{ partition: string; events: number; bytes: number; lagMs: number }>('segment.sealed'),
  /** A segment of a partition left Redis, with the calls that ended in it. */
  segmentTrimmed: telemetryEvent<{ partition: string; calls: number }>('segment.trimmed'),
  /** A segment of the archive was deleted by retention. */
  segmentDropped: telemetryEvent<{ partition: string; events: number }>('segment.dropped'),
  /** A round of the archive's retention ended; `oldestMs`: Unix time of the oldest remaining event, if any. */
  archiveRetained: telemetryEvent<{ ok: boolean; oldestMs?: number | undefined }>('archive.retained'),
  /** A round of the archiver failed; it is repeated. */
  sealingFailed: telemetryEvent<object>('sealing.failed'),
  /** A round of the retention of the history: deleted calls, and weeks that were dropped as a whole. */
  historyRetained: telemetryEvent<{ ok: boolean; calls: number; weeks: number }>('history.retained'),
  socketOpened: telemetryEvent<{ kind: 'ws' | 'sse' }>('socket.opened'),
  socketClosed: telemetryEvent<{ kind: 'ws' | 'sse'; why: string }>('socket.closed'),
  /** Read of the tool list of a source, or its failure. `source`: as in `SourceSample`. */
  sourceRead: telemetryEvent<{ source: string; result: 'ok' | 'failed' }>('source.read'),
  /** Call of a source. `unavailable`: not reachable; `stopped`: cancelled or timed out. */
  sourceCalled: telemetryEvent<{ source: string; result: 'ok' | 'failed' | 'unavailable' | 'stopped' }>('source.called'),
  /** A due time of a schedule was handled; `lateMs`: delay since then. */
  scheduleRun: telemetryEvent<{ result: (typeof SCHEDULE_RESULTS)[number]; lateMs: number }>('schedule.run'),
  /** Authenticated HTTP request to the MCP endpoint. */
  mcpRequest: telemetryEvent<{ protocol: '2026-07-28' | '2025-11-25' | 'none'; method: string; outcome: 'ok' | 'refused' }>('mcp.request'),
  /** Updates or progress merged for a slow socket or a fast tool. */
  updatesCoalesced: telemetryEvent<{ where: 'worker' | 'socket'; n: number }>('updates.merged'),
  /** Reload of the config file; `ok: false` if it was rejected. */
  configRead: telemetryEvent<{ ok: boolean }>('config.read'),
  /** Export of a batch of spans to the collector, or its failure. */
  spansExported: telemetryEvent<{ spans: number; ok: boolean }>('spans.exported'),
  rateLimited: telemetryEvent<{ limit: string }>('rate.limited'),
  /** Run of a hook. `cached`: an earlier answer to the same input was used; `failed`: no answer, so `onError` applies. */
  hookRun: telemetryEvent<{ event: HookEvent; verdict: 'allow' | 'deny' | 'failed' | 'cancelled'; cached: boolean; tookMs: number }>(
    'hook.run',
  ),
  /** Attempt to send an event to a webhook. `dead`: the last attempt failed. */
  webhookSent: telemetryEvent<{ result: 'delivered' | 'failed' | 'dead'; tookMs: number }>('webhook.sent'),
  /** The output of a command reports unusual system calls. */
  securityAlert: telemetryEvent<{ kind: 'unknown_syscall' | 'denied_syscall' | 'denied_rate_exceeded' | 'event_rate_exceeded' }>(
    'security.alert',
  ),
  /** A request of a sub-agent to its model, answered or failed. */
  agentTurn: telemetryEvent<{ agent: string; ok: boolean; tookMs: number; inputTokens: number; outputTokens: number }>('agent.turn'),
  outputTruncated: telemetryEvent<{ tool: string }>('output.truncated'),
} as const;
