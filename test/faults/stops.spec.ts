import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const STARTED_UPGRADE = [
  'GET /v1/stream HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
].join('\r\n');

describe('SIGTERM', () => {
  let toolyard: TestCluster;
  const start = async (drainMs: number) => {
    toolyard = await startTestCluster({ env: { DRAIN_MS: String(drainMs), WORKER_POOLS: 'read', LEASE_MS: '8000' } });
  };
  afterEach(async () => {
    toolyard.redis.signal('SIGCONT');
    await toolyard.close();
  });

  const hasEnded = (app: AppProcess) => app.child.exitCode !== null || app.child.signalCode !== null;
  const ends = async (app: AppProcess) => {
    await eventually(() => hasEnded(app), `the ${app.name} to end`);
    expect(app.child.exitCode).toBe(0);
  };

  it('ends a gateway at SIGTERM during a WebSocket upgrade, and answers it', async () => {
    // A machine that is slow does not cut the connection before the upgrade is completed.
    await start(60_000);
    const [gateway] = toolyard.gateways;
    const client = await openSocket(gateway?.url ?? '');
    client.socket.write(STARTED_UPGRADE);
    await answersReadyz(gateway?.url ?? '');
    gateway?.signal('SIGTERM');
    // Refused from the moment on when the stop has begun; the upgrade is completed only now.
    await eventually(
      () =>
        fetch(`${gateway?.url}/livez`).then(
          () => false,
          () => true,
        ),
      'the gateway to listen no more',
    );
    client.socket.write('\r\n');
    await eventually(() => client.said() !== '', 'the answer to the upgrade');
    await ends(gateway as AppProcess);
    expect(client.said()).toMatch(/^HTTP\/1\.1 503 /);
    client.socket.destroy();
  });

  it('ends a gateway and a worker at SIGTERM while their Redis hangs', async () => {
    await start(2_000);
    toolyard.redis.signal('SIGSTOP');
    const apps = [...toolyard.gateways, ...toolyard.workers];
    for (const app of apps) app.signal('SIGTERM');
    await Promise.all(apps.map(ends));
  });
});

/** Opens a socket whose client half stays open when the server ends its own. */
async function openSocket(url: string): Promise<{ socket: Socket; said: () => string }> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  let said = '';
  socket.on('data', (piece) => (said += piece.toString()));
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return { socket, said: () => said };
}

/** Requests readiness; earlier data have been read when it is answered. */
async function answersReadyz(url: string): Promise<void> {
  await eventually(async () => (await fetch(`${url}/readyz`)).ok, 'the gateway to be ready');
}
