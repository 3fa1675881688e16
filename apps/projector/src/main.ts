import 'reflect-metadata';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { HistoryUnavailable, migrateHistory, NewerHistory, type HistoryDatabase } from '#history';
import type { Metrics } from '#observability';
import {
  createLogger,
  nestLogger,
  ProcessRegistration,
  runService,
  shutdownSteps,
  StartupError,
  startSteps,
  waitForRedis,
} from '#platform';
import type { RedisConnection } from '#redis';
import { ProjectorEnv, readProjectorConfig, type ProjectorConfig } from './projector.config.js';
import { checkRetention } from './retention.config.js';
import { ProjectorModule } from './projector.module.js';
import { DATABASE, LOGGER, LOOPS, METRICS, REDIS } from './projector.tokens.js';
import type { RoundLoop } from './round-loop.js';

export interface RunningProjector {
  /** Address of health and metrics; undefined if they are off. */
  readonly url: string | undefined;
  /** Ends the step under way and closes; idempotent. */
  close(): Promise<void>;
}

/** Starts a projector in this process. Rejects, with everything closed again, if Redis or the database does not answer. */
export async function startProjector(config: ProjectorConfig): Promise<RunningProjector> {
  checkRetention(config);
  await waitForRedis({ ...config, what: 'projector' });
  const logger = createLogger({ ...config.log, base: { app: 'projector', name: config.id }, secrets: config.secrets });
  const options = { logger: nestLogger(logger), abortOnError: false };
  const module = ProjectorModule.forRoot(config, logger);
  const served =
    config.port === 'off'
      ? undefined
      : await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter({ forceCloseConnections: true }), options);
  const app = served ? await served.init() : await NestFactory.createApplicationContext(module, options);
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeProjector(app));
  try {
    const db = app.get<HistoryDatabase | undefined>(DATABASE);
    if (db !== undefined) await migrate(db);
    await startSteps('projector', config.startTimeoutMs)('register the process', () => app.get(ProcessRegistration).start());
    for (const loop of app.get<readonly RoundLoop[]>(LOOPS)) loop.start();
    if (served && config.port !== 'off') await served.listen({ host: config.host, port: config.port });
    return { url: await served?.getUrl(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function migrate(db: HistoryDatabase): Promise<void> {
  try {
    await migrateHistory(db);
  } catch (error) {
    if (error instanceof NewerHistory) throw new StartupError(`The projector cannot start. ${error.message}`, { cause: error });
    if (!(error instanceof HistoryUnavailable)) throw error;
    const advice = error.isForbidden
      ? 'The user of DATABASE_URL needs CREATE on the database'
      : 'Start the database, or correct DATABASE_URL';
    throw new StartupError(`The projector cannot start. ${error.message}. ${advice}.`, { cause: error });
  }
}

/** Finishes the step under way, then closes; a failed or hanging step of the shutdown does not stop the next. */
async function closeProjector(app: INestApplicationContext): Promise<void> {
  const log = app.get<Logger>(LOGGER);
  const step = shutdownSteps(0, (name, error) => log.error({ err: error, step: name }, 'a step of the shutdown failed'));
  for (const loop of app.get<readonly RoundLoop[]>(LOOPS)) await step(loop.name, () => loop.close());
  await step('process', () => app.get(ProcessRegistration).close());
  await step('database', () => app.get<HistoryDatabase | undefined>(DATABASE)?.destroy());
  await step('http server', () => app.close());
  await step('metrics', () => app.get<Metrics>(METRICS).close());
  await step('connection', () => app.get<RedisConnection>(REDIS).disconnect());
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  // Standalone starts the projector with a channel, which closes with standalone, even after SIGKILL.
  if (process.connected) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const variables = Object.keys(ProjectorEnv.shape);
  await runService({ what: 'projector', port: 'PROJECTOR_PORT', host: 'PROJECTOR_HOST', variables }, async () => {
    const projector = await startProjector(readProjectorConfig(process.env));
    process.send?.('ready');
    return projector;
  });
}
