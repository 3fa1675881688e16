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
  /** Decides which tool names may be label values; all others become `other`. Default: the first 200 names pass. */
  readonly isKnownTool?: (name: string) => boolean;
  /** Tools whose counters begin at 0, read at each scrape; the others begin with their first event. */
  readonly tools?: () => readonly ToolLabels[];
  /** Partitions of the log, for a process that counts by partition. */
  readonly partitions?: readonly string[];
  /** Wait of a scrape for a probe. */
  readonly probeTimeoutMs?: number;
}

export interface Metrics {
  readonly registry: Registry;
  /** `Content-Type` of the answer to a scrape. */
  readonly contentType: string;
  /** Returns the text exposition. Never rejects because of a probe; concurrent scrapes share one run of the probes. */
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
  let previousTools: readonly ToolLabels[] = [];
  meters.buildInfo.set({ role: options.role, version: options.version ?? 'unknown', node: process.version }, 1);

  let running: Promise<string> | undefined;
  const scrape = async () => {
    await collectProbes(meters, options.probes ?? {}, options.probeTimeoutMs);
    processCollector.collect();
    const tools = options.tools?.() ?? [];
    if (tools !== previousTools) initializeToolCounters(meters, tools, timed);
    previousTools = tools;
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
