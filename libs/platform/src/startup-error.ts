/** Why a process does not start, in a sentence (or a list of faults) for the person who can fix it. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
}

/** A setting is wrong. `message` lists every fault, one a line, and what would be right. */
export class ConfigError extends StartupError {
  override readonly name = 'ConfigError';
}
