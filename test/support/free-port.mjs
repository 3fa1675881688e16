import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections and to servers that ask for any: one of those could be taken by another
 * process before the program under test listens, or while a killed server is away.
 */
const FIRST_PORT = 10_000;
const PORTS_OF_WORKER = 110;
const [WORKERS, RUNS] = [16, 12];

/** Each Jest worker has ports of its own, and runs that go on at the same time mostly have, too. */
const begin = FIRST_PORT + ((process.ppid % RUNS) * WORKERS + (Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS)) * PORTS_OF_WORKER;
let next = Math.floor(Math.random() * PORTS_OF_WORKER);

/** A loopback port on which nothing listens, and which no other test gets. */
export async function freePort() {
  for (let tried = 0; tried < PORTS_OF_WORKER; tried++) {
    const port = begin + (next++ % PORTS_OF_WORKER);
    if (await isFree(port)) return port;
  }
  throw new Error(`Every port from ${begin} to ${begin + PORTS_OF_WORKER - 1} is in use.`);
}

/** @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
