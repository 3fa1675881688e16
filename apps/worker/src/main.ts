import 'reflect-metadata';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { CancelListener, type DrainTimes, Reconciler, ToolCallProcessor } from '#attempts';
import {
  createLogger,
  nestLogger,
  ensureDirectory,
  ProcessRegistration,
  waitForRedis,
  runService,
  startSteps,
  StartupError,
  VERSION,
} from '#platform';
import { type SlotSample, openTracing } from '#observability';
import { RedisMemory, type RedisConnection } from '#redis';
import { SessionEnds } from '#tools';
import { SessionEndListener } from './background/session-end-listener.js';
import { closeWorker } from './shutdown.js';
import { WorkerHeartbeat } from './registry/worker-heartbeat.js';
import { WorkerEnv } from './platform/worker-env.config.js';
import { readWorkerConfig, type WorkerConfig } from './platform/worker.config.js';
import { BUFFERED_REDIS, WAIT_REDIS } from './platform/worker.tokens.js';
import { WorkerModule } from './worker.module.js';

export interface RunningWorker {
  readonly id: string;
  readonly app: INestApplicationContext;
  /** Address of health and metrics; undefined if they are off. */
  readonly url: string | undefined;
  /** Slots by pool, with the number in use. */
  slots(): readonly SlotSample[];
  /** Drains and closes; idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a worker in this process. `tools` are classes besides the built-in ones. Rejects, with everything closed again, if the
 * start fails.
 */
export async function startWorker(config: WorkerConfig, tools: readonly Type[] = []): Promise<RunningWorker> {
  ensureDirectory(config.workspaceRoot, 'workspace directory', 'WORKSPACE_ROOT');
  await waitForRedis({ ...config, what: 'worker' });
  const logger = createLogger({
    ...config.log,
    base: { app: 'worker', worker: config.id },
    secrets: config.secrets,
    buffered: true,
  });
  const options = { logger: nestLogger(logger), abortOnError: false };
  const tracing = await openTracing(config.tracing, { version: VERSION, instance: config.id }, logger);
  const module = await WorkerModule.forRoot(config, logger, tracing, tools);
  const served =
    config.port === 'off'
      ? undefined
      : await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter({ forceCloseConnections: true }), options);
  const app = served ? await served.init() : await NestFactory.createApplicationContext(module, options);
  const step = startSteps('worker', config.startTimeoutMs);
  let closing: Promise<void> | undefined;
  const close = (times: DrainTimes = config) => (closing ??= closeWorker(app, times));
  try {
    await step('measure the memory of Redis', () => app.get(RedisMemory).start());
    await step('subscribe', () => app.get(CancelListener).start());
    const sessionEnds = new SessionEndListener(app.get(CancelListener).subscriber, app.get(SessionEnds), logger);
    await step('learn of ended sessions', () => sessionEnds.start());
    await step('register the process', () => app.get(ProcessRegistration).start());
    app.get(ToolCallProcessor).start();
    app.get(Reconciler).start();
    await step('register', () => app.get(WorkerHeartbeat).start());
    if (served && config.port !== 'off') await served.listen({ host: config.host, port: config.port });
    return { id: config.id, app, url: await served?.getUrl(), slots: () => app.get(ToolCallProcessor).slots(), close: () => close() };
  } catch (error) {
    // Redis is unreachable: disconnects, so that no step of the shutdown waits for it.
    if (error instanceof StartupError) for (const token of [WAIT_REDIS, BUFFERED_REDIS]) app.get<RedisConnection>(token).disconnect();
    await close({ drainMs: 0, stopGraceMs: 0 });
    throw error;
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const variables = Object.keys(WorkerEnv.shape);
  await runService({ what: 'worker', port: 'WORKER_PORT', host: 'WORKER_HOST', variables }, () =>
    startWorker(readWorkerConfig(process.env)),
  );
}
