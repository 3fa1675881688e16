import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Buckets in seconds, from a fraction of a millisecond (an idle path) to an hour (the longest call). */
const WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const SHORT_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/**
 * Every metric of Toolyard: name, help, unit, labels, buckets. Prefix `toolyard_`, base units (seconds, bytes), counters end in
 * `_total`. Labels hold no ids: pools, outcomes, codes and reasons are closed lists, tool names are bounded (see
 * `bounded-label.ts`). Cluster-wide values (queue depth) are reported equally by every gateway: take `max`.
 */
// oxlint-disable-next-line max-lines-per-function -- a table with one entry a metric
export function createMeters(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });

  return {
    // Calls
    callsSubmitted: counter('toolyard_calls_submitted_total', 'Calls accepted into the log, refused ones included.', ['tool', 'pool']),
    callsByRisk: counter('toolyard_calls_by_risk_total', 'The same, of calls that were judged: by what they may do at most.', ['risk']),
    callsEnded: counter('toolyard_calls_ended_total', 'Calls that got their End, by outcome and error code (none when completed).', [
      'tool',
      'outcome',
      'code',
    ]),
    callQueueWait: histogram('toolyard_call_queue_wait_seconds', 'Time from being queued to Start of the attempt.', ['pool'], WAIT_BUCKETS),
    callRun: histogram('toolyard_call_run_seconds', 'Time an attempt ran in its tool.', ['tool'], WAIT_BUCKETS),
    callCpu: counter('toolyard_call_cpu_seconds_total', 'CPU time of the programs that tools ran, where workers can measure it.', ['tool']),
    callCancel: histogram(
      'toolyard_call_cancel_seconds',
      'Time from the request to cancel to the End, by how the tool stopped.',
      ['how'],
      WAIT_BUCKETS,
    ),
    callsRetried: counter('toolyard_calls_retried_total', 'Attempts that went back to the queue, by reason.', ['tool', 'reason']),
    outputsTruncated: counter('toolyard_outputs_truncated_total', 'Results cut to the limit for models; the whole output is kept.', [
      'tool',
    ]),

    quotaRefusals: counter(
      'toolyard_quota_refusals_total',
      'Writes and commands that were refused or stopped because the files of a workspace or tenant take too much.',
      ['scope', 'limit'],
    ),

    memoryRefusals: counter(
      'toolyard_memory_refusals_total',
      'Submissions refused because Redis is nearly full: those of low priority, or all.',
      ['refused'],
    ),

    // Attempts and leases
    attemptsStarted: counter('toolyard_attempts_started_total', 'Attempts started, by cause: first or retry.', ['pool', 'cause']),
    attemptsFinished: counter('toolyard_attempts_finished_total', 'Attempts over, by how: end, retry or lost.', ['pool', 'ended']),
    leasesExpired: counter('toolyard_leases_expired_total', 'Running calls whose lease ran out and that the reconciler took over.', [
      'tool',
    ]),
    leasesLost: counter('toolyard_leases_lost_total', 'Attempts this worker stopped because it could not renew or was fenced off.', [
      'tool',
    ]),

    // Log and dispatch
    transitionsRefused: counter('toolyard_transitions_refused_total', 'Transitions the log refused, by code.', ['transition', 'code']),
    scriptRun: histogram('toolyard_script_run_seconds', 'Round trip of one run of the transition script.', [], SHORT_BUCKETS),
    scriptTransitions: histogram('toolyard_script_transitions', 'Transitions in one run of the transition script.', [], BATCH_BUCKETS),
    dispatchDuplicates: counter(
      'toolyard_dispatch_duplicates_total',
      'Jobs whose claim was refused because they are duplicates or late; harmless.',
      ['pool', 'code'],
    ),
    dispatchFailures: counter('toolyard_dispatch_failures_total', 'Jobs that could not be added at once; the reconciler adds them.', [
      'pool',
    ]),
    dispatchRepeats: counter('toolyard_dispatch_repeats_total', 'Calls dispatched again by the reconciler.', ['pool']),
    tailEvents: counter('toolyard_tail_events_total', 'Events the tail of the log delivered in this process.', []),
    tailLag: histogram(
      'toolyard_tail_lag_seconds',
      'Time from the Redis time of an event to its delivery by this process.',
      [],
      SHORT_BUCKETS,
    ),
    tailGapsRepaired: counter('toolyard_tail_gaps_repaired_total', 'Gaps in the sequence of a partition that the tail repaired.', []),
    tailEventsRepaired: counter('toolyard_tail_events_repaired_total', 'Events that were read again to repair gaps.', []),

    // Projection (source of lists and numbers)
    projectionLag: histogram(
      'toolyard_projection_lag_seconds',
      'Time from the Redis time of an event to when this process had put it into the projection.',
      [],
      WAIT_BUCKETS,
    ),
    projectionStep: histogram('toolyard_projection_step_seconds', 'Time one batch of a partition took.', [], SHORT_BUCKETS),
    projectionEvents: counter('toolyard_projection_events_total', 'Events that this process put into the projection.', []),
    projectionSkipped: counter('toolyard_projection_skipped_calls_total', 'Calls that the history database refused: not in lists.', []),
    projectionEventsSkipped: counter(
      'toolyard_projection_skipped_events_total',
      'Events of an unknown type or an odd shape, by partition of the log: in no row.',
      ['partition'],
    ),

    // Archive
    archiveLag: histogram(
      'toolyard_archive_lag_seconds',
      'Time from the Redis time of the oldest event of a segment to when this process had archived it.',
      [],
      WAIT_BUCKETS,
    ),
    archivedEvents: counter('toolyard_archive_events_total', 'Events that this process archived.', []),
    archivedBytes: counter('toolyard_archive_bytes_total', 'Bytes of the segments that this process archived.', []),
    trimmedCalls: counter('toolyard_archive_trimmed_calls_total', 'Ended calls that this process removed from Redis.', []),
    archiveFailures: counter('toolyard_archive_failures_total', 'Rounds of archiving and trimming that failed; each is repeated.', []),
    archiveRetentionFailures: counter(
      'toolyard_archive_retention_failures_total',
      'Hourly rounds that delete old segments of the archive, and keys of old calls, that failed; each is repeated.',
      [],
    ),
    archiveDroppedSegments: counter('toolyard_archive_dropped_segments_total', 'Segments of the archive that this process deleted.', []),
    archiveDroppedEvents: counter('toolyard_archive_dropped_events_total', 'Events of these segments.', []),
    archiveOldest: gauge(
      'toolyard_archive_oldest_timestamp_seconds',
      'Unix time of the oldest event that retention has left; 0 before its first round.',
      [],
    ),
    retentionRounds: counter('toolyard_history_retention_rounds_total', 'Hourly rounds that delete old calls from lists, by result.', [
      'result',
    ]),
    retentionDropped: counter('toolyard_history_retention_dropped_total', 'Calls deleted one by one, and whole weeks of calls.', ['what']),

    // Sources of tools
    sources: gauge('toolyard_sources', 'Sources of tools by status; those that tenants added are `other`.', ['source', 'status']),
    sourceTools: gauge('toolyard_source_tools', 'Tools of sources: usable, or pending because they changed.', ['source', 'state']),
    sourceRefreshes: counter('toolyard_source_refreshes_total', 'Tool lists that were read from their sources, by result: ok or failed.', [
      'source',
      'result',
    ]),
    sourceCalls: counter('toolyard_source_calls_total', 'Calls of tools by source, by result: ok, failed, unavailable or stopped.', [
      'source',
      'result',
    ]),
    foreignWorkers: gauge(
      'toolyard_foreign_workers',
      'Workers in other languages at this gateway, by source; sources that the config file does not name are `other`.',
      ['source'],
    ),
    foreignWorkerCalls: gauge('toolyard_foreign_worker_calls', 'Calls that they run now.', ['source']),

    // Schedules
    scheduleRuns: counter(
      'toolyard_schedule_runs_total',
      'Due times of schedules, by result: submitted, refused, overlap or missed (left out), paused (its key is gone).',
      ['result'],
    ),
    scheduleDelay: histogram(
      'toolyard_schedule_delay_seconds',
      'Time from a due time to its submission; with `overlap: queue` also the wait for the end of the run before.',
      [],
      WAIT_BUCKETS,
    ),

    // Sub-agents
    agentTurns: counter('toolyard_agent_turns_total', 'Requests of sub-agents to their models, by sub-agent and result: ok or failed.', [
      'agent',
      'result',
    ]),
    agentTokens: counter('toolyard_agent_tokens_total', 'Tokens of the models of sub-agents, by direction: input or output.', [
      'agent',
      'direction',
    ]),
    agentTurn: histogram('toolyard_agent_turn_seconds', 'Time from a request to a model to the end of its answer.', [], WAIT_BUCKETS),

    // Subscribers and limits
    mcpRequests: counter('toolyard_mcp_requests_total', 'HTTP requests to the MCP endpoint, by revision of the protocol.', [
      'protocol',
      'method',
      'outcome',
    ]),
    sockets: gauge('toolyard_sockets', 'Open event streams by kind.', ['kind']),
    socketsOpened: counter('toolyard_sockets_opened_total', 'Event streams opened.', ['kind']),
    socketsClosed: counter('toolyard_sockets_closed_total', 'Event streams closed, by why.', ['kind', 'why']),
    updatesCoalesced: counter('toolyard_updates_merged_total', 'Updates that were coalesced for a fast tool or a slow consumer.', [
      'where',
    ]),
    configRefused: gauge('toolyard_config_refused', '1 while the current config file is rejected and the previous one is active.', []),
    spansExported: counter('toolyard_spans_exported_total', 'Spans of traces handed to the collector, by result: ok or failed.', [
      'result',
    ]),
    securityAlerts: counter('toolyard_security_alerts_total', 'Alerts about system calls in the output of commands, by kind.', ['kind']),
    webhookDeliveries: counter(
      'toolyard_webhook_deliveries_total',
      'Tries to send an event to a webhook, by result: delivered, failed or dead.',
      ['result'],
    ),
    rateLimitHits: counter('toolyard_rate_limit_hits_total', 'Requests refused by a rate limit.', ['limit']),

    // Hooks
    hookRuns: counter(
      'toolyard_hook_runs_total',
      'Hook runs by event and verdict: allow, deny, failed or cancelled; cached verdicts were not run.',
      ['event', 'verdict', 'cached'],
    ),
    hookRun: histogram('toolyard_hook_run_seconds', 'Run time of a hook, without cached verdicts.', ['event'], WAIT_BUCKETS),

    // Queues and slots (read by probes at scrape)
    queueWaiting: gauge('toolyard_queue_waiting_calls', 'Calls waiting for a worker; the same from every gateway: take max.', ['pool']),
    queueActive: gauge('toolyard_queue_active_calls', 'Calls held by workers; the same from every gateway: take max.', ['pool']),
    queueOldest: gauge('toolyard_queue_oldest_seconds', 'Age of the oldest waiting call; the same from every gateway: take max.', ['pool']),
    approvalsWaiting: gauge('toolyard_approvals_waiting_calls', 'Calls waiting for a person; the same from every gateway: take max.', []),
    approvalsOldest: gauge('toolyard_approvals_oldest_seconds', 'Age of the oldest of them; the same from every gateway: take max.', []),
    timersOverdue: gauge('toolyard_timers_overdue_seconds', 'How long the longest due timer waits for a reconciler; take max.', []),
    workerSlots: gauge('toolyard_worker_slots', 'Calls this worker may run at a time; 0 while it drains.', ['pool']),
    workerSlotsBusy: gauge('toolyard_worker_slots_busy', 'Calls this worker runs now.', ['pool']),

    // Redis and this process
    redisMemoryUsed: gauge('toolyard_redis_memory_used_bytes', 'Memory in use, as compared with maxmemory; of the fullest master.', []),
    redisMemoryMax: gauge('toolyard_redis_memory_max_bytes', 'Its maxmemory; 0 means no limit.', []),
    redisMemoryFragmentation: gauge('toolyard_redis_memory_fragmentation_ratio', 'Its mem_fragmentation_ratio.', []),
    eventLoopDelayMedian: gauge('toolyard_event_loop_delay_median_seconds', 'Median delay of the event loop since the last scrape.', []),
    eventLoopDelayP99: gauge(
      'toolyard_event_loop_delay_p99_seconds',
      '99th percentile of the delay of the event loop since the last scrape.',
      [],
    ),
    eventLoopDelayMax: gauge('toolyard_event_loop_delay_max_seconds', 'Longest delay of the event loop since the last scrape.', []),
    processCpu: counter('toolyard_process_cpu_seconds_total', 'CPU time of this process, user and system.', ['mode']),
    processResidentMemory: gauge('toolyard_process_resident_memory_bytes', 'Resident memory of this process.', []),
    processHeapUsed: gauge('toolyard_process_heap_used_bytes', 'JavaScript heap in use.', []),
    processStart: gauge('toolyard_process_start_time_seconds', 'When this process started, Unix time.', []),
    probeFailures: counter(
      'toolyard_probe_failures_total',
      'Probes that failed or took too long at a scrape; their gauges are absent then.',
      ['probe'],
    ),
    buildInfo: gauge('toolyard_build_info', 'Always 1; role and versions are labels.', ['role', 'version', 'node']),
  };
}

export type Meters = ReturnType<typeof createMeters>;
