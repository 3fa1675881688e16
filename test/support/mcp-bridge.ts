import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceSettings, type SourcePage } from '#contracts';
import { startWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import type { GatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { eventually } from './eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from './gateway.js';
import { startRedisServer } from './redis-server.mjs';

export interface Bridge {
  readonly gateway: TestGateway;
  /** `/mcp` for clients that send no key: it adds the key and changes nothing else. */
  readonly openUrl: string;
  close(): Promise<void>;
}

/** A gateway, a worker and a private Redis, with these sources connected. */
export async function startBridge(
  sources: readonly object[],
  change: Partial<GatewayConfig> = {},
  workerEnv: Readonly<Record<string, string>> = {},
): Promise<Bridge> {
  const redis = await startRedisServer();
  const workspaceRoot = mkdtempSync(join(tmpdir(), 'toolyard-bridge-'));
  const settings = sources.map((source) => SourceSettings.parse(source));
  const gateway = await startTestGateway('default', { redisUrl: redis.url, sources: settings, ...change });
  const worker = await startWorker(
    readWorkerConfig({
      PATH: process.env['PATH'],
      REDIS_URL: redis.url,
      WORKER_PORT: 'off',
      WORKSPACE_ROOT: workspaceRoot,
      LOG_LEVEL: 'silent',
      ...workerEnv,
    }),
  );
  const proxy = await withKey(gateway.url);
  const isConnected = async () => {
    const { body } = await gateway.agent.get<SourcePage>('/v1/sources');
    return body.sources.length === sources.length && body.sources.every(({ status }) => status === 'ok');
  };
  await eventually(isConnected, 'the sources to be read');
  return {
    gateway,
    openUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    close: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await worker.close();
      await gateway.close();
      await redis.stop();
      rmSync(workspaceRoot, { recursive: true, force: true });
    },
  };
}

async function withKey(url: string): Promise<Server> {
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = httpRequest(
      { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${BOOTSTRAP_KEY}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
