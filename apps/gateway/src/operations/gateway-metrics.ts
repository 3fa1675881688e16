import type { Provider } from '@nestjs/common';
import { POOLS } from '#contracts';
import { CallStore } from '#event-log';
import { createMetrics, type MetricsProbes } from '#observability';
import { VERSION } from '#platform';
import { BullCallQueue } from '#queue';
import { partitionNames, RedisMemory } from '#redis';
import { ToolRegistry } from '#tool-sdk';
import { PendingApprovalsGauge } from '../approvals/pending-approvals.service.js';
import { ForeignWorkers } from '../foreign-workers/bridge/foreign-workers.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { SourceCatalog } from '../sources/source-catalog.service.js';
import { EXTRA_METRICS_PROBES, METRICS } from '../platform/tokens.js';

/** Metrics of this process, including those that a scrape reads from Redis. `shutdown.ts` closes them. */
export const gatewayMetrics: Provider = {
  provide: METRICS,
  inject: [
    BullCallQueue,
    ToolRegistry,
    RedisMemory,
    CallStore,
    PendingApprovalsGauge,
    GATEWAY_CONFIG,
    EXTRA_METRICS_PROBES,
    SourceCatalog,
    ForeignWorkers,
  ],
  useFactory: (
    queue: BullCallQueue,
    tools: ToolRegistry,
    memory: RedisMemory,
    store: CallStore,
    approvals: PendingApprovalsGauge,
    { partitions }: GatewayConfig,
    extraProbes: MetricsProbes,
    catalog: SourceCatalog,
    foreignWorkers: ForeignWorkers,
  ) =>
    createMetrics({
      role: 'gateway',
      version: VERSION,
      isKnownTool: (name) => tools.resolve(name)?.name === name,
      tools: () => tools.list(),
      probes: {
        queues: () => Promise.all(POOLS.map((pool) => queue.stats(pool))),
        redisMemory: () => memory.measure(),
        sources: () => catalog.samples(),
        foreignWorkers: () => foreignWorkers.samples(),
        approvals: () => approvals.sample(),
        overdueMs: () => longestOverdueMs(store, partitions),
        ...extraProbes,
      },
    }),
};

async function longestOverdueMs(store: CallStore, partitions: number): Promise<number> {
  const names = partitionNames(partitions);
  const now = await store.now();
  const { due } = await store.listDue(names, now, 1);
  return Math.max(0, ...due.map(({ score }) => now - score));
}
