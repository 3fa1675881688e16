import { z } from 'zod';

/** Variables of the log, the same for all processes. */
export const LOG_ENV = {
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ description: 'The least important messages that are logged.', shownDefault: '`info`; standalone: `warn`' }),
  LOG_FORMAT: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe(
      '`pretty`: one line an event for people, errors without their stack. `json`: for programs, with everything. `auto`: `pretty` where standard output is a terminal and `CI` is not set.',
    ),
};

/** Values of the variables. */
export interface LogSettings {
  readonly level: z.output<typeof LOG_ENV.LOG_LEVEL>;
  readonly format: z.output<typeof LOG_ENV.LOG_FORMAT>;
}
