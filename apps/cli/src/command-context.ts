import type { ToolyardClient } from '#client';
import type { CliConfig } from './cli.config.js';
import type { SigintHandler } from './sigint-handler.js';
import type { Terminal } from './terminal/terminal.js';

/** What every command works with. */
export interface CommandContext {
  readonly client: ToolyardClient;
  readonly config: CliConfig;
  readonly terminal: Terminal;
  /** One JSON text a line instead of words for people. */
  readonly json: boolean;
  readonly interrupts: SigintHandler;
  readonly version: string;
}
