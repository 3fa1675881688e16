import type { z } from 'zod';

/** Why a process does not start, in a sentence (or a list of faults) for the person who can fix it. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
}

/** A setting is wrong. `message` lists every fault, one a line, and what would be right. */
export class ConfigError extends StartupError {
  override readonly name = 'ConfigError';
}

/** What a schema of environment variables found wrong, one text a fault. */
export function environmentFaults({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message }) => `${String(path[0] ?? 'environment')}: ${message}`);
}

/** The error of a process (`worker`) whose environment has these faults. */
export function wrongEnvironment(process: string, faults: readonly string[]): ConfigError {
  return new ConfigError(`The ${process}'s environment is wrong:\n${indented(faults)}`);
}

/** One line a fault, below the line that says where they are. */
export function indented(faults: readonly string[]): string {
  return faults.map((fault) => `  ${fault}`).join('\n');
}
