import type { INestApplicationContext } from '@nestjs/common';
import { CancelListener, drainAttempts, type DrainTimes, InFlightAttempts, LeaseRenewer, Reconciler, ToolCallProcessor } from '#attempts';
import { EventLog } from '#event-log';
import { HookRunner } from '#hooks';
import { Memory } from '#memory';
import { ProcessRegistration, shutdownSteps } from '#platform';
import type { Metrics } from '#observability';
import { RemoteHosts } from '#sandbox';
import { GatewayRequests, BullCallQueue } from '#queue';
import { RedisMemory, type RedisConnection } from '#redis';
import { WorkerHeartbeat } from './registry/worker-heartbeat.js';
import { LOGGER, type WorkerLog } from './platform/worker.logger.js';
import { BUFFERED_REDIS, WAIT_REDIS, METRICS, SPANS, type Spans } from './platform/worker.tokens.js';
import { WorkerState } from './platform/worker-state.js';

/** Time added to the drain times, in which undelivered jobs are dispatched again. */
const DRAIN_GRACE_MS = 5_000;

/**
 * Closes the worker within its drain time, the grace of running calls and 10 s. Order of the steps; a failed or hanging step
 * does not stop the next: 1. readiness goes off, and the list of workers shows it 2. no more jobs; running calls end, are
 * requeued or aborted; undelivered jobs are dispatched again 3. the reconciler: another worker takes over 4. the cancel
 * listener, then leases, which running calls needed until here 5. the registration of this worker 6. webhooks, requests of
 * sub-agents, the queue, then the log: everything is dispatched and written 7. the HTTP server with /livez, and the tool
 * sources; the database of tools' memory; the keys of hosts 8. metrics and spans, and last the connections that all of them use
 */
export async function closeWorker(app: INestApplicationContext, times: DrainTimes): Promise<void> {
  const log = app.get<WorkerLog>(LOGGER);
  const [state, processor, registration] = [app.get(WorkerState), app.get(ToolCallProcessor), app.get(WorkerHeartbeat)];
  const parts = {
    reconciler: app.get(Reconciler),
    cancels: app.get(CancelListener),
    leases: app.get(LeaseRenewer),
    queue: app.get(BullCallQueue),
    gatewayRequests: app.get(GatewayRequests),
    eventLog: app.get(EventLog),
    hooks: app.get(HookRunner),
  };
  const metrics = app.get<Metrics>(METRICS);
  const connections = [WAIT_REDIS, BUFFERED_REDIS].map((token) => app.get<RedisConnection>(token));
  const drainMs = times.drainMs + times.stopGraceMs;
  const step = shutdownSteps(drainMs, (name, error) => log.error({ err: error, step: name }, 'a step of the shutdown failed'));

  state.drain();
  await step('announce', () => registration.beat());
  await step('calls', () => drain(app.get(InFlightAttempts), processor, state, times), drainMs + DRAIN_GRACE_MS);
  await step('reconciler', () => parts.reconciler.close());
  await step('cancels', () => parts.cancels.close());
  await step('leases', () => parts.leases.close());
  await step('registration', () => registration.close());
  await step('webhooks', () => parts.hooks.close());
  await step('gateway-requests', () => parts.gatewayRequests.close());
  await step('queue', () => parts.queue.close());
  await step('log', () => parts.eventLog.close());
  await step('process', () => app.get(ProcessRegistration).close());
  await step('http server', () => app.close());
  await step('memory of tools', () => app.get<Memory | undefined>(Memory)?.close());
  await step('hosts', () => app.get(RemoteHosts).close());
  await step('metrics', () => metrics.close());
  await step('spans', () => app.get<Spans>(SPANS).tracing?.close());
  await step('memory', () => app.get(RedisMemory).close());
  await step('connections', () => connections.forEach((redis) => redis.disconnect()));
}

async function drain(running: InFlightAttempts, processor: ToolCallProcessor, state: WorkerState, times: DrainTimes): Promise<void> {
  const stopped = processor.close();
  if ((await drainAttempts(running, times)) === 'given_up') state.forceShutdown();
  await stopped;
}
