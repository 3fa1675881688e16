import { createServer } from 'node:net';

/** Longest path of a Unix socket that every system takes (macOS 103 bytes, Linux 107). */
const MAX_SOCKET_PATH_BYTES = 103;

/** The endpoint of the private Redis, and its settings. */
export interface RedisEndpoint {
  readonly url: string;
  readonly connect: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly settings: readonly string[];
}

/** The Unix socket, which only this user can open; a free loopback port if its path is too long. */
export async function pickEndpoint(socketPath: string): Promise<RedisEndpoint> {
  if (Buffer.byteLength(socketPath) <= MAX_SOCKET_PATH_BYTES) {
    return {
      url: `unix://${encodeURI(socketPath).replaceAll('?', '%3F').replaceAll('#', '%23')}`,
      connect: { path: socketPath },
      settings: ['--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700'],
    };
  }
  const port = await freeLoopbackPort();
  return {
    url: `redis://127.0.0.1:${port}`,
    connect: { host: '127.0.0.1', port },
    settings: ['--port', String(port), '--bind', '127.0.0.1'],
  };
}

function freeLoopbackPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port was given'))));
    });
  });
}
