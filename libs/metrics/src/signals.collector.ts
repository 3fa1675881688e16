import { signals } from '#signals';
import { boundedLabel } from './bounded-label.js';
import type { Meters } from './meters.js';

const seconds = (ms: number) => Math.max(0, ms) / 1000;

/**
 * Turns what libraries and apps signal into counts. Signals are per process: in a process with several roles every
 * collector counts all of them. Returns how to stop listening; stopping twice is harmless.
 */
export function collectSignals(meters: Meters, isKnownTool?: (name: string) => boolean): () => void {
  const tool = boundedLabel({ ...(isKnownTool && { isKnown: isKnownTool }) });
  const word = boundedLabel({ limit: 50 });
  const stops = [...onCalls(meters, tool), ...onAttempts(meters, tool), ...onLog(meters, word), ...onSubscribers(meters, word)];
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}

function onCalls(meters: Meters, tool: (name: string) => string) {
  return [
    signals.callSubmitted.on((call) => meters.callsSubmitted.inc({ tool: tool(call.tool), pool: call.pool })),
    signals.callEnded.on((call) => meters.callsEnded.inc({ tool: tool(call.tool), outcome: call.outcome, code: call.code ?? 'none' })),
    signals.retried.on((call) => meters.callsRetried.inc({ tool: tool(call.tool), reason: call.reason })),
    signals.cancelled.on((call) => meters.callCancel.observe({ how: call.how }, seconds(call.tookMs))),
    signals.quotaRefused.on((refusal) => meters.quotaRefusals.inc({ scope: refusal.scope, limit: refusal.limit })),
    signals.outputTruncated.on((call) => meters.outputsTruncated.inc({ tool: tool(call.tool) })),
  ];
}

function onAttempts(meters: Meters, tool: (name: string) => string) {
  return [
    signals.attemptStarted.on((attempt) => {
      meters.attemptsStarted.inc({ pool: attempt.pool, cause: attempt.cause });
      meters.callQueueWait.observe({ pool: attempt.pool }, seconds(attempt.queueWaitMs));
    }),
    signals.attemptFinished.on((attempt) => {
      meters.attemptsFinished.inc({ pool: attempt.pool, ended: attempt.ended });
      meters.callRun.observe({ tool: tool(attempt.tool) }, seconds(attempt.runMs));
    }),
    signals.leaseExpired.on((lease) => meters.leasesExpired.inc({ tool: tool(lease.tool) })),
    signals.leaseLost.on((lease) => meters.leasesLost.inc({ tool: tool(lease.tool) })),
  ];
}

function onLog(meters: Meters, word: (value: string) => string) {
  return [
    signals.transitionRefused.on((refusal) =>
      meters.transitionsRefused.inc({ transition: word(refusal.transition), code: word(refusal.code) }),
    ),
    signals.scriptRun.on((run) => {
      meters.scriptRun.observe(seconds(run.ms));
      meters.scriptTransitions.observe(run.transitions);
    }),
    signals.dispatchDuplicate.on((job) => meters.dispatchDuplicates.inc({ pool: job.pool, code: word(job.code) })),
    signals.dispatchFailed.on((job) => meters.dispatchFailures.inc({ pool: job.pool })),
    signals.dispatchRepeated.on((job) => meters.dispatchRepeats.inc({ pool: job.pool })),
    signals.tailDelivered.on((batch) => {
      meters.tailEvents.inc(batch.events);
      meters.tailLag.observe(seconds(batch.lagMs));
    }),
    signals.tailGapRepaired.on((gap) => {
      meters.tailGapsRepaired.inc();
      meters.tailEventsRepaired.inc(gap.events);
    }),
    signals.projected.on((step) => {
      meters.projectionLag.observe(seconds(step.lagMs));
      meters.projectionStep.observe(seconds(step.tookMs));
      meters.projectionEvents.inc(step.events);
    }),
  ];
}

function onSubscribers(meters: Meters, word: (value: string) => string) {
  return [
    signals.socketOpened.on((socket) => {
      meters.sockets.inc({ kind: socket.kind });
      meters.socketsOpened.inc({ kind: socket.kind });
    }),
    signals.socketClosed.on((socket) => {
      meters.sockets.dec({ kind: socket.kind });
      meters.socketsClosed.inc({ kind: socket.kind, why: word(socket.why) });
    }),
    signals.updatesMerged.on((merged) => meters.updatesMerged.inc({ where: merged.where }, merged.n)),
    signals.securityAlert.on(({ kind }) => meters.securityAlerts.inc({ kind })),
    signals.configRead.on(({ ok }) => meters.configRefused.set(ok ? 0 : 1)),
    signals.spansExported.on(({ spans, ok }) => meters.spansExported.inc({ result: ok ? 'ok' : 'failed' }, spans)),
    signals.hookRun.on(({ event, verdict, cached, tookMs }) => {
      meters.hookRuns.inc({ event, verdict, cached: String(cached) });
      if (!cached) meters.hookRun.observe({ event }, seconds(tookMs));
    }),
    signals.rateLimited.on((hit) => meters.rateLimitHits.inc({ limit: word(hit.limit) })),
  ];
}
