export { telemetry } from './telemetry.js';
export { createMetrics, type Metrics } from './metrics/metrics.js';
export type { ApprovalsSample, ForeignWorkersSample, MetricsProbes, SourceSample, SlotSample } from './metrics/probes.port.js';
export { mayScrape } from './metrics/may-scrape.js';
export { openTracing } from './tracing/open-tracing.js';
export { TRACING_ENV, tracingConfig, type TracingConfig } from './tracing/tracing.config.js';
export { runStages, type Stage, type StageTrace } from './tracing/stages.js';
export type { Attributes, Span, Tracing } from './tracing/tracing.port.js';
