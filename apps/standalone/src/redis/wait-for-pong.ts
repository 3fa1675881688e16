import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisEndpoint } from './redis-endpoint.js';

/** Resolves when Redis answers PONG, after the load of its data. Rejects with the abort reason. */
export async function waitForPong(endpoint: RedisEndpoint, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if ((await ping(endpoint)).startsWith('+PONG')) return;
    await delay(25, undefined, { signal }).catch(() => {});
  }
}

/** The reply of Redis, or the error. Never rejects. */
function ping(endpoint: RedisEndpoint): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ ...endpoint.connect }, () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', (data: Buffer) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once('error', (error) => resolve(error.message));
    socket.once('close', () => resolve('closed'));
  });
}
