import { ConfigError } from '../gateway.config.js';
import { StartFailure } from './start-failure.js';

/** One sentence for what a person can cure; anything else keeps its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration of the gateway is wrong:\n${error.message}`;
  if (error instanceof StartFailure) return error.message;
  if (!(error instanceof Error)) return String(error);
  switch ('code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return 'The gateway cannot listen: the port is in use. Stop the program that listens there, or set GATEWAY_PORT to another port.';
    case 'EACCES':
      return 'The gateway cannot listen: the port is not allowed. Set GATEWAY_PORT to a port above 1023.';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'The gateway cannot listen: this machine has no such address. Set GATEWAY_HOST to 127.0.0.1, or to an address of this machine.';
    default:
      return error.stack ?? error.message;
  }
}

/**
 * Runs a process around something that closes: the first SIGTERM or SIGINT closes it and exits 0, the second exits at
 * once. A start that fails says why on standard error and exits 1.
 */
export async function runUntilSignal(start: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  let stopping = false;
  const starting = start();
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
