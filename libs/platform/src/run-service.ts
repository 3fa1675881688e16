import { closeInheritedDescriptors } from './close-inherited-descriptors.js';
import { ignoreBrokenPipe } from './ignore-broken-pipe.js';
import { mistypedVariables } from './mistyped-variables.js';
import { StartupError } from './startup-error.js';

/** Names of the process and of the variables for its address, for messages. */
export interface ProcessNames {
  readonly what: string;
  readonly port: string;
  readonly host: string;
  /** Names of all variables that the process reads. */
  readonly variables: readonly string[];
}

/** Time after a stop signal at which an unfinished start, such as a wait for Redis, is aborted: nothing runs yet. */
const START_MS = 1_000;

/**
 * Runs a service as this process: the first SIGTERM or SIGINT closes it and exits 0, the second exits at once. A failed
 * start prints the reason to standard error and exits 1.
 */
export async function runService(names: ProcessNames, start: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  closeInheritedDescriptors(process.env);
  ignoreBrokenPipe();
  for (const sentence of mistypedVariables(process.env, names.variables)) process.stderr.write(`${sentence}\n`);
  let stopping = false;
  let started = false;
  const starting = Promise.resolve().then(start);
  const stop = async () => {
    if (stopping) process.exit(130);
    stopping = true;
    if (!started) setTimeout(() => started || process.exit(0), START_MS);
    await starting.then((running) => running.close()).catch(() => {});
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  try {
    await starting;
    started = true;
  } catch (error) {
    process.stderr.write(`${startupFailure(error, names)}\n`);
    process.exit(1);
  }
}

/** Text of a failed start: one sentence for errors that a person can fix, else the stack of a fault of the program. */
export function startupFailure(error: unknown, { what, port, host }: Omit<ProcessNames, 'variables'>): string {
  if (error instanceof StartupError) return error.message;
  if (!(error instanceof Error)) return `The ${what} cannot start because of an unexpected error: ${String(error)}.`;
  switch ('code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return `The ${what} cannot listen: the port is in use. Stop the program that listens there, or set ${port} to another port, or to 0 for any free one.`;
    case 'EACCES':
      return `The ${what} cannot listen: the port is not allowed. Set ${port} to a port above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `The ${what} cannot listen: this machine has no such address. Set ${host} to 127.0.0.1, or to an address of this machine.`;
    default:
      return `The ${what} cannot start because of an unexpected error: ${error.message}.\nReport it with these lines:\n${error.stack ?? ''}`;
  }
}
