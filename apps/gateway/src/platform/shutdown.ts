import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { EventHub, EventLog } from '#event-log';
import { HookRunner } from '#hooks';
import { ProcessRegistration, shutdownSteps } from '#platform';
import type { Metrics, Tracing } from '#observability';
import { BullCallQueue } from '#queue';
import { RedisMemory, type RedisConnection } from '#redis';
import type { GatewayHistory } from './gateway-history.js';
import { ShutdownState } from './shutdown-state.service.js';
import { BUFFERED_REDIS, DURABLE_REDIS, FAIL_FAST_REDIS, HISTORY, WAIT_REDIS, LOGGER, METRICS } from './tokens.js';

/**
 * Closes the gateway within `drainMs` and 10 s. A step that fails or hangs does not stop the next. Order:
 * 1. drain: readiness is off, open waits respond with the current state, streams ask their clients to reconnect
 * 2. calls that foreign workers run for this gateway end or return to the queue: `stopHosted`, at most `drainMs`
 * 3. HTTP server: no new connections, requests in flight finish, at most `drainMs`
 * 4. tail: no client is left to read events
 * 5. webhooks, the queue, then the log: accepted calls are dispatched and written
 * 6. metrics and spans, and last the measurement of memory and the connections that all of them used
 */
export async function closeGateway(
  app: NestFastifyApplication,
  drainMs: number,
  stopHosted: () => Promise<void>,
  tracing?: Tracing,
): Promise<void> {
  const log = app.get<Logger>(LOGGER);
  const metrics = app.get<Metrics>(METRICS);
  const connections = [BUFFERED_REDIS, FAIL_FAST_REDIS, WAIT_REDIS, DURABLE_REDIS].map((token) => app.get<RedisConnection>(token));
  const parts = { hub: app.get(EventHub), queue: app.get(BullCallQueue), eventLog: app.get(EventLog), hooks: app.get(HookRunner) };
  const step = shutdownSteps(drainMs, (name, error) => log.error({ err: error, step: name }, 'a step of the shutdown failed'));

  await step('drain', () => app.get(ShutdownState).begin());
  await step('foreign workers', () => stopHosted(), drainMs + HTTP_CLOSE_GRACE_MS);
  await step('http server', () => closeHttpServer(app, drainMs), drainMs + HTTP_CLOSE_GRACE_MS);
  await step('tail', () => parts.hub.close());
  await step('webhooks', () => parts.hooks.close());
  await step('queue', () => parts.queue.close());
  await step('log', () => parts.eventLog.close());
  await step('history', () => app.get<GatewayHistory>(HISTORY).close());
  await step('registration', () => app.get(ProcessRegistration).close());
  await step('metrics', () => metrics.close());
  await step('spans', () => tracing?.close());
  await step('memory', () => app.get(RedisMemory).close());
  await step('connections', () => {
    for (const connection of connections) connection.disconnect();
  });
}

const SWEEP_MS = 25;
/** Time beyond the drain for destroyed connections and everything that closes with the server. */
const HTTP_CLOSE_GRACE_MS = 5_000;

/**
 * Closes each connection as soon as it is idle: a keep-alive one would delay the close until its timeout. A connection that has
 * sent nothing yet is idle too; browsers and HTTP clients open such in advance, and Node does not count them as idle. Destroys
 * the rest after `drainMs`, because a hanging client must not keep the process alive.
 */
async function closeHttpServer(app: NestFastifyApplication, drainMs: number): Promise<void> {
  const server = app.getHttpServer();
  const { openSockets }: FastifyInstance = app.getHttpAdapter().getInstance();
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    for (const socket of openSockets) if (socket.bytesRead === 0) socket.destroy();
  }, SWEEP_MS);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    // The server does not count upgraded connections, or those about to be upgraded.
    for (const socket of openSockets) socket.destroy();
  }, drainMs);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
