import 'reflect-metadata';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { EventHub } from '#event-log';
import { setupDocs } from './docs/setup-docs.js';
import { readGatewayConfig, type GatewayConfig } from './gateway.config.js';
import { createLogger, nestLogger } from './logger.js';
import { GatewayModule } from './gateway.module.js';
import { createDoor, furnishDoor } from './http/door.js';
import { reachRedis } from './lifecycle/reach-redis.js';
import { closeGateway } from './lifecycle/shutdown.js';
import { runUntilSignal } from './lifecycle/signals.js';
import { VERSION } from './version.js';
import { StreamAdapter } from './ws/stream.adapter.js';
import { LOGGER } from './tokens.js';

export interface Gateway {
  /** Where it listens; with GATEWAY_PORT=0 the port that was free. */
  readonly url: string;
  readonly app: NestFastifyApplication;
  /** Drains and closes; idempotent. */
  close(): Promise<void>;
}

/** Starts a gateway in this process. Rejects when Redis is out of reach, a tool is faulty, or, with everything closed again, the port is taken. */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  await reachRedis(config);
  const app = await createGateway(config);
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeGateway(app, config.drainMs));
  try {
    await app.get(EventHub).start();
    await app.listen({ host: config.host, port: config.port });
    return { url: await app.getUrl(), app, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The application, ready but not listening: tests inject requests into it. */
export async function createGateway(config: GatewayConfig): Promise<NestFastifyApplication> {
  const logger = createLogger(config.logLevel, config.name);
  const app = await NestFactory.create<NestFastifyApplication>(await GatewayModule.forRoot(config), createDoor(config), {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  furnishDoor(app, config);
  app.useWebSocketAdapter(new StreamAdapter(app));
  setupDocs(app, VERSION);
  await app.init();
  return app;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await runUntilSignal(async () => {
    const config = readGatewayConfig();
    const gateway = await startGateway(config);
    gateway.app.get<Logger>(LOGGER).info({ url: gateway.url, redis: config.redisUrl.replace(/\/\/[^@/]*@/, '//…@') }, 'gateway is up');
    return gateway;
  });
}
