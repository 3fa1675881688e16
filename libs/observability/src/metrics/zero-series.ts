import { HookEvent, POOLS, RetryReason, Risk, Stopped, type Pool } from '#contracts';
import { SCHEDULE_RESULTS } from '../telemetry.js';
import { OTHER } from './bounded-label.js';
import type { Meters } from './meters.js';

/** Tool of this process with its labels. */
export interface ToolLabels {
  readonly name: string;
  readonly pool: Pool;
}

/** Most tools whose counters begin at 0; others begin with their first event. */
const TOOLS = 200;
const ENDS = [
  ['completed', 'none'],
  ['failed', 'tool_failed'],
  ['timed_out', 'run_timeout'],
  ['cancelled', 'cancelled'],
  ['denied', 'approval_expired'],
  ['unknown', 'outcome_unknown'],
] as const;
const TRANSITIONS = 'accept claim update progress hook turn renew defer retry suspend input wake end cancel held decide'.split(' ');
const REFUSALS = ['CONFLICT', 'FENCED', 'ENDED', 'NOT_FOUND', 'NOT_DUE', 'BAD_TRANSITION'];
const LIMITS = [
  'key_requests',
  'tenant_acts',
  'actions',
  'rate',
  'concurrency',
  'tree-calls',
  'tree-depth',
  'queue-depth',
  'argument-bytes',
];
/** Methods that every MCP client calls, by revision of the protocol. */
const MCP_METHODS = {
  '2026-07-28': ['server/discover', 'tools/list', 'tools/call'],
  '2025-11-25': ['initialize', 'tools/list', 'tools/call'],
} as const;
const ALERTS = ['unknown_syscall', 'denied_syscall', 'denied_rate_exceeded', 'event_rate_exceeded'];

/**
 * Lets counters with closed labels begin at 0. Prometheus computes increases between samples: a series that begins with its
 * first event hides that event from `rate` and `increase`, and dashboards show nothing instead of 0.
 */
export function initializeCounters(meters: Meters): void {
  for (const pool of POOLS) {
    for (const counter of [meters.dispatchFailures, meters.dispatchRepeats]) counter.inc({ pool }, 0);
    for (const code of REFUSALS) meters.dispatchDuplicates.inc({ pool, code }, 0);
    for (const cause of ['first', 'retry']) meters.attemptsStarted.inc({ pool, cause }, 0);
    for (const ended of ['end', 'retry', 'lost']) meters.attemptsFinished.inc({ pool, ended }, 0);
    meters.callQueueWait.zero({ pool });
  }
  for (const transition of TRANSITIONS) for (const code of REFUSALS) meters.transitionsRefused.inc({ transition, code }, 0);
  for (const how of Stopped.shape.how.options) meters.callCancel.zero({ how });
  for (const event of HookEvent.options) {
    for (const verdict of ['allow', 'deny', 'failed', 'cancelled']) meters.hookRuns.inc({ event, verdict, cached: 'false' }, 0);
    meters.hookRun.zero({ event });
  }
  for (const limit of LIMITS) meters.rateLimitHits.inc({ limit }, 0);
  for (const result of ['delivered', 'failed', 'dead']) meters.webhookDeliveries.inc({ result }, 0);
  for (const risk of Risk.options) meters.callsByRisk.inc({ risk }, 0);
  for (const kind of ALERTS) meters.securityAlerts.inc({ kind }, 0);
  for (const refused of ['low', 'all', 'acts']) meters.memoryRefusals.inc({ refused }, 0);
  for (const scope of ['workspace', 'tenant']) for (const limit of ['bytes', 'files']) meters.quotaRefusals.inc({ scope, limit }, 0);
  for (const kind of ['ws', 'sse']) meters.socketsOpened.inc({ kind }, 0);
  for (const where of ['worker', 'socket']) meters.updatesCoalesced.inc({ where }, 0);
  for (const what of ['calls', 'weeks']) meters.retentionDropped.inc({ what }, 0);
  for (const [protocol, methods] of Object.entries(MCP_METHODS))
    for (const method of methods) for (const outcome of ['ok', 'refused']) meters.mcpRequests.inc({ protocol, method, outcome }, 0);
  // Counters of sources added by tenants; those of the operator follow with their first probe.
  initializeSourceCounters(meters, [OTHER]);
  for (const result of SCHEDULE_RESULTS) meters.scheduleRuns.inc({ result }, 0);
  for (const result of ['ok', 'failed']) for (const counter of [meters.spansExported, meters.retentionRounds]) counter.inc({ result }, 0);
}

/** Lets counters by source begin at 0, for these label values. */
export function initializeSourceCounters(meters: Meters, sources: Iterable<string>): void {
  for (const source of sources) {
    for (const result of ['ok', 'failed']) meters.sourceRefreshes.inc({ source, result }, 0);
    for (const result of ['ok', 'failed', 'unavailable', 'stopped']) meters.sourceCalls.inc({ source, result }, 0);
  }
}

/** Lets a projector's counters by partition of the log begin at 0. */
export function initializePartitionCounters(meters: Meters, partitions: readonly string[]): void {
  for (const partition of partitions) meters.projectionEventsSkipped.inc({ partition }, 0);
}

/**
 * Lets counters by tool begin at 0; existing ones do not change. `timed`: tools whose time this process has measured, to which
 * this adds the others; undefined where tools do not run.
 */
export function initializeToolCounters(meters: Meters, tools: readonly ToolLabels[], timed?: Set<string>): void {
  for (const { name: tool, pool } of tools.slice(0, TOOLS)) {
    if (timed !== undefined && !timed.has(tool)) {
      // Skips measured tools: `zero` would reset an existing histogram.
      timed.add(tool);
      meters.callRun.zero({ tool });
      meters.callCpu.inc({ tool }, 0);
    }
    meters.callsSubmitted.inc({ tool, pool }, 0);
    for (const [outcome, code] of ENDS) meters.callsEnded.inc({ tool, outcome, code }, 0);
    for (const reason of RetryReason.options) meters.callsRetried.inc({ tool, reason }, 0);
    for (const counter of [meters.outputsTruncated, meters.leasesExpired, meters.leasesLost]) counter.inc({ tool }, 0);
  }
}
