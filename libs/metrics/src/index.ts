export { createMetrics, type Metrics } from './metrics.js';
export type { ApprovalsReading, MetricsProbes, SlotReading } from './probes.port.js';
export { mayScrape } from './may-scrape.js';
