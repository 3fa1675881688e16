import { Registry } from 'prom-client';
import { telemetry } from '../telemetry.js';
import { createMeters } from './meters.js';
import { collectProbes } from './probes.collector.js';
import type { MetricsProbes } from './probes.port.js';
import { collectProcess } from './process.collector.js';
import { collectTelemetry } from './telemetry.collector.js';
import { initializeCounters, initializePartitionCounters, initializeToolCounters, type ToolLabels } from './zero-series.js';

export interface MetricsOptions {
  readonly role: 'gateway' | 'worker' | 'projector';
  readonly version?: string;
  readonly probes?: MetricsProbes;
  /** Which tool names may be label values; all others become `other`. Without it the first 200 names pass. */
  readonly isKnownTool?: (name: string) => boolean;
  /** Tools whose counters begin at 0, asked at each scrape; the others begin with their first event. */
  readonly tools?: () => readonly ToolLabels[];
  /** Partitions of the log, of a process that counts by partition. */
  readonly partitions?: readonly string[];
  /** How long a scrape waits for a probe. */
  readonly probeTimeoutMs?: number;
}

export interface Metrics {
  readonly registry: Registry;
  /** For the `Content-Type` of the answer to a scrape. */
  readonly contentType: string;
  /** The text exposition. Never rejects because of a probe; scrapes at the same time share one look. */
  scrape(): Promise<string>;
  /** Stops listening and sampling. Idempotent. */
  close(): void;
}

/** Metrics of one process in a registry of their own: they subscribe to telemetry events and call the probes at each scrape. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const meters = createMeters(registry);
  const unsubscribe = collectTelemetry(meters, options.isKnownTool);
  const processCollector = collectProcess(meters);
  for (const kind of ['ws', 'sse']) meters.sockets.set({ kind }, 0);
  initializeCounters(meters);
  initializePartitionCounters(meters, options.partitions ?? []);
  const timed = options.role === 'worker' ? new Set<string>() : undefined;
  const stopTiming = telemetry.attemptFinished.on(({ tool }) => timed?.add(tool));
  let known: readonly ToolLabels[] = [];
  meters.buildInfo.set({ role: options.role, version: options.version ?? 'unknown', node: process.version }, 1);

  let running: Promise<string> | undefined;
  const scrape = async () => {
    await collectProbes(meters, options.probes ?? {}, options.probeTimeoutMs);
    processCollector.collect();
    const tools = options.tools?.() ?? [];
    if (tools !== known) initializeToolCounters(meters, tools, timed);
    known = tools;
    return registry.metrics();
  };
  return {
    registry,
    contentType: registry.contentType,
    scrape: () => {
      running ??= scrape().finally(() => (running = undefined));
      return running;
    },
    close: () => {
      unsubscribe();
      stopTiming();
      processCollector.close();
      registry.clear();
    },
  };
}
