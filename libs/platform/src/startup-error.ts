import type { z } from 'zod';

/** Reason of a failed start, in a sentence (or a list of faults) for the person who can fix it. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
}

/** Wrong settings. `message` lists every fault, one a line, with the expected value. */
export class ConfigError extends StartupError {
  override readonly name = 'ConfigError';
}

/** Faults found by a schema of environment variables, one text each. */
export function environmentFaults({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message }) => `${String(path[0] ?? 'environment')}: ${message}`);
}

/** Error of a process (`worker`) whose environment has these faults. */
export function wrongEnvironment(process: string, faults: readonly string[]): ConfigError {
  return new ConfigError(`The ${process}'s environment is wrong:\n${indentLines(faults)}`);
}

/** Indents faults, one a line, below their heading. */
export function indentLines(faults: readonly string[]): string {
  return faults.map((fault) => `  ${fault}`).join('\n');
}
