import { telemetry } from '../telemetry.js';
import { boundedLabel } from './bounded-label.js';
import type { Meters } from './meters.js';

const seconds = (ms: number) => Math.max(0, ms) / 1000;

/**
 * Counts telemetry events. Events are per process: in a process with several roles every collector counts all of them. Returns
 * an idempotent function that stops listening.
 */
export function collectTelemetry(meters: Meters, isKnownTool?: (name: string) => boolean): () => void {
  const tool = boundedLabel({ ...(isKnownTool && { isKnown: isKnownTool }) });
  const word = boundedLabel({ limit: 50 });
  const agent = boundedLabel({ limit: 100 });
  const stops = [
    ...onCalls(meters, tool),
    ...onAttempts(meters, tool),
    ...onLog(meters, word),
    ...onAgents(meters, agent),
    ...onSubscribers(meters, word),
  ];
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}

function onCalls(meters: Meters, tool: (name: string) => string) {
  return [
    telemetry.callSubmitted.on((call) => meters.callsSubmitted.inc({ tool: tool(call.tool), pool: call.pool })),
    telemetry.callSubmitted.on(({ risk }) => risk !== undefined && meters.callsByRisk.inc({ risk })),
    telemetry.callEnded.on((call) => meters.callsEnded.inc({ tool: tool(call.tool), outcome: call.outcome, code: call.code ?? 'none' })),
    telemetry.retried.on((call) => meters.callsRetried.inc({ tool: tool(call.tool), reason: call.reason })),
    telemetry.cancelled.on((call) => meters.callCancel.observe({ how: call.how }, seconds(call.tookMs))),
    telemetry.memoryRefused.on(({ refused }) => meters.memoryRefusals.inc({ refused })),
    telemetry.quotaRefused.on((refusal) => meters.quotaRefusals.inc({ scope: refusal.scope, limit: refusal.limit })),
    telemetry.outputTruncated.on((call) => meters.outputsTruncated.inc({ tool: tool(call.tool) })),
  ];
}

function onAttempts(meters: Meters, tool: (name: string) => string) {
  return [
    telemetry.attemptStarted.on((attempt) => {
      meters.attemptsStarted.inc({ pool: attempt.pool, cause: attempt.cause });
      meters.callQueueWait.observe({ pool: attempt.pool }, seconds(attempt.queueWaitMs));
    }),
    telemetry.attemptFinished.on((attempt) => {
      meters.attemptsFinished.inc({ pool: attempt.pool, ended: attempt.ended });
      meters.callRun.observe({ tool: tool(attempt.tool) }, seconds(attempt.runMs));
      if (attempt.cpuMs !== undefined) meters.callCpu.inc({ tool: tool(attempt.tool) }, seconds(attempt.cpuMs));
    }),
    telemetry.leaseExpired.on((lease) => meters.leasesExpired.inc({ tool: tool(lease.tool) })),
    telemetry.leaseLost.on((lease) => meters.leasesLost.inc({ tool: tool(lease.tool) })),
  ];
}

function onLog(meters: Meters, word: (value: string) => string) {
  return [
    telemetry.transitionRefused.on((refusal) =>
      meters.transitionsRefused.inc({ transition: word(refusal.transition), code: word(refusal.code) }),
    ),
    telemetry.scriptRun.on((run) => {
      meters.scriptRun.observe(seconds(run.ms));
      meters.scriptTransitions.observe(run.transitions);
    }),
    telemetry.dispatchDuplicate.on((job) => meters.dispatchDuplicates.inc({ pool: job.pool, code: word(job.code) })),
    telemetry.dispatchFailed.on((job) => meters.dispatchFailures.inc({ pool: job.pool })),
    telemetry.dispatchRepeated.on((job) => meters.dispatchRepeats.inc({ pool: job.pool })),
    telemetry.tailDelivered.on((batch) => {
      meters.tailEvents.inc(batch.events);
      meters.tailLag.observe(seconds(batch.lagMs));
    }),
    telemetry.tailGapRepaired.on((gap) => {
      meters.tailGapsRepaired.inc();
      meters.tailEventsRepaired.inc(gap.events);
    }),
    telemetry.projected.on((step) => {
      meters.projectionLag.observe(seconds(step.lagMs));
      meters.projectionStep.observe(seconds(step.tookMs));
      meters.projectionEvents.inc(step.events);
    }),
    telemetry.projectionSkipped.on(() => meters.projectionSkipped.inc()),
    telemetry.historyRetained.on(({ ok, calls, weeks }) => {
      meters.retentionRounds.inc({ result: ok ? 'ok' : 'failed' });
      meters.retentionDropped.inc({ what: 'calls' }, calls);
      meters.retentionDropped.inc({ what: 'weeks' }, weeks);
    }),
    telemetry.eventsSkipped.on(({ partition, events }) => meters.projectionEventsSkipped.inc({ partition }, events)),
    telemetry.segmentSealed.on((segment) => {
      meters.archiveLag.observe(seconds(segment.lagMs));
      meters.archivedEvents.inc(segment.events);
      meters.archivedBytes.inc(segment.bytes);
    }),
    telemetry.segmentTrimmed.on((segment) => meters.trimmedCalls.inc(segment.calls)),
    telemetry.segmentDropped.on(({ events }) => {
      meters.archiveDroppedSegments.inc();
      meters.archiveDroppedEvents.inc(events);
    }),
    telemetry.archiveRetained.on(({ ok, oldestMs }) => {
      if (!ok) meters.archiveRetentionFailures.inc();
      if (oldestMs !== undefined) meters.archiveOldest.set(seconds(oldestMs));
    }),
    telemetry.sealingFailed.on(() => meters.archiveFailures.inc()),
  ];
}

function onAgents(meters: Meters, agent: (name: string) => string) {
  return [
    telemetry.agentTurn.on((turn) => {
      const named = { agent: agent(turn.agent) };
      meters.agentTurns.inc({ ...named, result: turn.ok ? 'ok' : 'failed' });
      meters.agentTokens.inc({ ...named, direction: 'input' }, turn.inputTokens);
      meters.agentTokens.inc({ ...named, direction: 'output' }, turn.outputTokens);
      meters.agentTurn.observe({}, seconds(turn.tookMs));
    }),
  ];
}

function onSubscribers(meters: Meters, word: (value: string) => string) {
  return [
    telemetry.socketOpened.on((socket) => {
      meters.sockets.inc({ kind: socket.kind });
      meters.socketsOpened.inc({ kind: socket.kind });
    }),
    telemetry.socketClosed.on((socket) => {
      meters.sockets.dec({ kind: socket.kind });
      meters.socketsClosed.inc({ kind: socket.kind, why: word(socket.why) });
    }),
    telemetry.updatesCoalesced.on((merged) => meters.updatesCoalesced.inc({ where: merged.where }, merged.n)),
    telemetry.webhookSent.on(({ result }) => meters.webhookDeliveries.inc({ result })),
    telemetry.securityAlert.on(({ kind }) => meters.securityAlerts.inc({ kind })),
    telemetry.configRead.on(({ ok }) => meters.configRefused.set(ok ? 0 : 1)),
    telemetry.spansExported.on(({ spans, ok }) => meters.spansExported.inc({ result: ok ? 'ok' : 'failed' }, spans)),
    telemetry.hookRun.on(({ event, verdict, cached, tookMs }) => {
      meters.hookRuns.inc({ event, verdict, cached: String(cached) });
      if (!cached) meters.hookRun.observe({ event }, seconds(tookMs));
    }),
    telemetry.sourceRead.on(({ source, result }) => meters.sourceRefreshes.inc({ source: word(source), result })),
    telemetry.sourceCalled.on(({ source, result }) => meters.sourceCalls.inc({ source: word(source), result })),
    telemetry.scheduleRun.on(({ result, lateMs }) => {
      meters.scheduleRuns.inc({ result });
      if (result === 'submitted') meters.scheduleDelay.observe({}, seconds(lateMs));
    }),
    telemetry.mcpRequest.on((request) => meters.mcpRequests.inc(request)),
    telemetry.rateLimited.on((hit) => meters.rateLimitHits.inc({ limit: word(hit.limit) })),
  ];
}
