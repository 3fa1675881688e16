import { StartFailure } from './start-failure.js';

/**
 * Runs a process around something that closes: the first SIGTERM or SIGINT closes it and exits 0, the second exits at
 * once. A start that fails says why on standard error and exits 1.
 */
export async function runUntilSignal(start: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  let stopping = false;
  const starting = Promise.resolve().then(start);
  const stop = async () => {
    if (stopping) process.exit(130);
    stopping = true;
    await starting.then((running) => running.close()).catch(() => {});
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  try {
    await starting;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

/** One sentence for what a person can cure; anything else keeps its stack. */
function explain(error: unknown): string {
  if (error instanceof StartFailure) return error.message;
  if (!(error instanceof Error)) return String(error);
  switch ('code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return 'The worker cannot listen: the port is in use. Stop the program that listens there, or set WORKER_PORT to another port, to 0 for any free one, or to "off".';
    case 'EACCES':
      return 'The worker cannot listen: the port is not allowed. Set WORKER_PORT to a port above 1023.';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'The worker cannot listen: this machine has no such address. Set WORKER_HOST to 127.0.0.1, or to an address of this machine.';
    default:
      return error.stack ?? error.message;
  }
}
