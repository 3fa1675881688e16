import 'reflect-metadata';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { EventHub } from '#event-log';
import {
  ConfigError,
  createLogger,
  nestLogger,
  ProcessRegistration,
  runService,
  startSteps,
  StartupError,
  VERSION,
  waitForRedis,
} from '#platform';
import { type MetricsProbes, type Tracing, openTracing } from '#observability';
import { waitUntilConnected, RedisMemory, type RedisConnection } from '#redis';
import { ForeignWorkers } from './foreign-workers/bridge/foreign-workers.service.js';
import { setupDocs } from './operations/docs/setup-docs.js';
import { DurableWrites } from './platform/durable-writes.service.js';
import { GatewayEnv } from './platform/gateway-env.config.js';
import { readGatewayConfig, type GatewayConfig } from './platform/gateway.config.js';
import { GatewayModule } from './gateway.module.js';
import { setupDashboard } from './operations/dashboard.js';
import { createHttpAdapter, configureHttpServer } from './http-server.js';
import { FairTurns } from './platform/fair-turns.service.js';
import { closeGateway } from './platform/shutdown.js';
import { StreamConnections } from './streaming/ws/stream-connections.service.js';
import { StreamAdapter } from './streaming/ws/stream.adapter.js';
import { DURABLE_REDIS, FAIL_FAST_REDIS, LOGGER } from './platform/tokens.js';
import { AdmissionTracer } from './calls/admission/admission-tracer.service.js';
import { CallTracer } from './calls/call-tracer.service.js';
import { traceRequests, type ActiveHttpTraces } from './operations/tracing/trace-requests.js';

export interface Gateway {
  /** URL of the listening server; with GATEWAY_PORT=0 its port was chosen by the system. */
  readonly url: string;
  readonly app: NestFastifyApplication;
  /** Drains and closes; idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a gateway in this process. `moreProbes` read the metrics of other components in it; `tools` are classes besides the
 * built-in ones. Rejects if Redis is unreachable, a tool is faulty or the port is in use; everything is closed again then.
 */
export async function startGateway(config: GatewayConfig, moreProbes: MetricsProbes = {}, tools: readonly Type[] = []): Promise<Gateway> {
  await waitForRedis({ ...config, what: 'gateway', id: config.name });
  const tracing = await openTracing(config.tracing, { version: VERSION, instance: config.name }, loggerOf(config));
  const app = await createGateway(config, await GatewayModule.forRoot(config, moreProbes, tools), tracing);
  const step = startSteps('gateway', config.startTimeoutMs);
  let closing: Promise<void> | undefined;
  const close = (drainMs = config.drainMs) => (closing ??= closeGateway(app, drainMs, () => app.get(ForeignWorkers).close(), tracing));
  try {
    const failFast = [FAIL_FAST_REDIS, DURABLE_REDIS].map((token) => app.get<RedisConnection>(token));
    await step('connect', () => Promise.all(failFast.map(waitUntilConnected)));
    await step('measure the memory of Redis', () => app.get(RedisMemory).start());
    await step('subscribe', () => app.init());
    await step('read the end of the log', () => app.get(EventHub).start());
    await step('register', () => app.get(ProcessRegistration).start());
    const durable = app.get(DurableWrites);
    await durable.checkReplicas();
    if (durable.warning !== undefined) loggerOf(config).warn(durable.warning);
    await app.listen({ host: config.host, port: config.port });
    return { url: await app.getUrl(), app, close: () => close() };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** Creates the application, without initialising it. */
async function createGateway(config: GatewayConfig, module: DynamicModule, tracing?: Tracing): Promise<NestFastifyApplication> {
  const logger = loggerOf(config);
  const app = await NestFactory.create<NestFastifyApplication>(module, createHttpAdapter(config), {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  configureHttpServer(app, config);
  if (tracing !== undefined) traceGateway(app, tracing);
  const connections = app.get(StreamConnections);
  app.useWebSocketAdapter(new StreamAdapter(app, (client) => connections.sessionOf(client), app.get(FairTurns)));
  setupDocs(app, VERSION);
  await setupDashboard(app);
  return app;
}

function loggerOf({ log, name, secrets }: GatewayConfig): Logger {
  return createLogger({ ...log, base: { app: 'gateway', name }, secrets });
}

function readOrFail(): GatewayConfig {
  try {
    return readGatewayConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new StartupError(`The configuration of the gateway is wrong:\n${error.message}`, { cause: error });
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const variables = Object.keys(GatewayEnv.shape);
  await runService({ what: 'gateway', port: 'GATEWAY_PORT', host: 'GATEWAY_HOST', variables }, async () => {
    const config = readOrFail();
    const gateway = await startGateway(config);
    gateway.app.get<Logger>(LOGGER).info({ url: gateway.url, redis: config.redisUrl.replace(/\/\/[^@/]*@/, '//…@') }, 'gateway is up');
    return gateway;
  });
}

/** Traces a gateway that is created but not yet initialised: hooks of the HTTP server must precede its routes. */
function traceGateway(app: NestFastifyApplication, tracing: Tracing): void {
  const open: ActiveHttpTraces = new Set();
  traceRequests(app.getHttpAdapter().getInstance(), tracing, open);
  app.get(AdmissionTracer).enable(tracing, (traceparent) => open.has(traceparent));
  app.get(CallTracer).enable(tracing);
}
