export { createMetrics, type Metrics, type MetricsOptions } from './metrics.js';
export type { ApprovalsReading, MetricsProbes, QueueReading, SlotReading } from './probes.port.js';
