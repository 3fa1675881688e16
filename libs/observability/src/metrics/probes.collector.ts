import type { Meters } from './meters.js';
import { OTHER } from './bounded-label.js';
import type { MetricsProbes } from './probes.port.js';
import { initializeSourceCounters } from './zero-series.js';

/** Longest wait of a scrape for a probe: Prometheus gives up after 10 s, and /metrics must answer even if Redis does not. */
const PROBE_TIMEOUT_MS = 2_000;

/** Runs all probes concurrently and writes their readings. Never rejects. */
export async function collectProbes(meters: Meters, probes: MetricsProbes, timeoutMs = PROBE_TIMEOUT_MS): Promise<void> {
  await Promise.all([
    runProbe(meters, 'queues', timeoutMs, probes.queues?.bind(probes), (queues) => {
      for (const gauge of [meters.queueWaiting, meters.queueActive, meters.queueOldest]) gauge.reset();
      for (const { pool, waiting, active, oldestWaitingMs } of queues ?? []) {
        meters.queueWaiting.set({ pool }, waiting);
        meters.queueActive.set({ pool }, active);
        meters.queueOldest.set({ pool }, oldestWaitingMs / 1000);
      }
    }),
    runProbe(meters, 'slots', timeoutMs, probes.slots?.bind(probes), (pools) => {
      for (const gauge of [meters.workerSlots, meters.workerSlotsBusy]) gauge.reset();
      for (const { pool, slots, running } of pools ?? []) {
        meters.workerSlots.set({ pool }, slots);
        meters.workerSlotsBusy.set({ pool }, running);
      }
    }),
    runProbe(meters, 'sources', timeoutMs, probes.sources?.bind(probes), (sources) => {
      for (const gauge of [meters.sources, meters.sourceTools]) gauge.reset();
      if (sources === undefined) return;
      meters.sources.set({ source: OTHER, status: 'ok' }, 0);
      for (const state of ['usable', 'pending']) meters.sourceTools.set({ source: OTHER, state }, 0);
      for (const { source, status, tools, pending } of sources) {
        meters.sources.inc({ source, status });
        meters.sourceTools.inc({ source, state: 'usable' }, tools - pending);
        meters.sourceTools.inc({ source, state: 'pending' }, pending);
      }
      initializeSourceCounters(meters, new Set(sources.map(({ source }) => source)));
    }),
    runProbe(meters, 'foreign_workers', timeoutMs, probes.foreignWorkers?.bind(probes), (sources) => {
      for (const gauge of [meters.foreignWorkers, meters.foreignWorkerCalls]) gauge.reset();
      if (sources === undefined) return;
      for (const { source, workers, calls } of [{ source: OTHER, workers: 0, calls: 0 }, ...sources]) {
        meters.foreignWorkers.inc({ source }, workers);
        meters.foreignWorkerCalls.inc({ source }, calls);
      }
      initializeSourceCounters(meters, new Set(sources.map(({ source }) => source)));
    }),
    runProbe(meters, 'approvals', timeoutMs, probes.approvals?.bind(probes), (approvals) => {
      setOrRemove(meters.approvalsWaiting, approvals?.waiting);
      setOrRemove(meters.approvalsOldest, approvals && approvals.oldestMs / 1000);
    }),
    runProbe(meters, 'timers', timeoutMs, probes.overdueMs?.bind(probes), (overdueMs) => {
      setOrRemove(meters.timersOverdue, overdueMs === undefined ? undefined : overdueMs / 1000);
    }),
    runProbe(meters, 'redis_memory', timeoutMs, probes.redisMemory?.bind(probes), (memory) => {
      setOrRemove(meters.redisMemoryUsed, memory?.usedBytes);
      setOrRemove(meters.redisMemoryMax, memory?.maxBytes);
      setOrRemove(meters.redisMemoryFragmentation, memory?.fragmentation);
    }),
  ]);
}

/** Runs a probe. `write` gets undefined without a reading, so that a gauge never shows an old value as a new one. */
async function runProbe<T>(
  meters: Meters,
  probe: string,
  timeoutMs: number,
  look: (() => T | Promise<T>) | undefined,
  write: (value: T | undefined) => void,
): Promise<void> {
  if (!look) return write(undefined);
  meters.probeFailures.inc({ probe }, 0);
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    });
    write(await Promise.race([look(), late]));
  } catch {
    meters.probeFailures.inc({ probe });
    write(undefined);
  } finally {
    clearTimeout(timer);
  }
}

function setOrRemove(gauge: Meters['redisMemoryUsed'], value: number | undefined): void {
  if (value !== undefined && Number.isFinite(value)) gauge.set(value);
  else gauge.remove();
}
