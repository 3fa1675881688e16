import type { ToolyardClient } from '#client';
import type { CliConfig } from './cli.config.js';
import type { SigintHandler } from './sigint-handler.js';
import type { Terminal } from './terminal/terminal.js';

/** The dependencies of every command. */
export interface CommandContext {
  readonly client: ToolyardClient;
  readonly config: CliConfig;
  readonly terminal: Terminal;
  /** Prints one JSON text a line. */
  readonly json: boolean;
  readonly interrupts: SigintHandler;
  readonly version: string;
  /** Path of the program that `start` runs. */
  readonly standalone: string;
}
