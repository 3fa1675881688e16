import { z } from 'zod';

/**
 * Engines for evaluating commands. Several may be active; the strictest wins.
 * - `segments`: a chain runs if the executable of every part is on the allowlist; expansions, redirections and background are
 *   denied
 * - `single`: one command from the allowlist, no chain, no redirection
 * - `rules`: every sub-command against allowed and denied patterns; dangerous forms need approval
 * - `deny-patterns`: a command that contains one of the texts is denied
 */
export const CommandEngine = z.enum(['segments', 'single', 'rules', 'deny-patterns']).meta({ id: 'CommandEngine' });
export type CommandEngine = z.output<typeof CommandEngine>;

/** Regular expression in the syntax of RE2 (no look-around, no back-references), matched in linear time against a whole sub-command. */
const CommandPattern = z.string().min(1).max(1_000);

/** Rules for the command line of shell-like tools. */
export const CommandPolicy = z
  .strictObject({
    engines: z
      .array(CommandEngine)
      .describe(
        'How commands are evaluated. `segments`: each program of a chain must be in `allowlist`; `single`: one program alone must be; `rules`: by `allowedCommands` and `deniedCommands`; `deny-patterns`: by `denyPatterns`.',
      ),
    enforce: z
      .enum(['attended', 'always'])
      .describe(
        '`attended`: allowlist, classes and danger speak only where a person is asked at all; `always`: in every posture. What is denied by name bites always.',
      ),
    allowlist: z
      .array(z.string().min(1))
      .describe('Executables for `segments` and `single`: base names, `*` for all; an entry with a slash is that very path.'),
    unlisted: z.enum(['ask', 'deny']).describe('What `segments` and `single` answer to a command that is not as they want it.'),
    allowedCommands: z
      .array(CommandPattern)
      .describe(
        'Patterns of the words of sub-commands that run without asking. Substitutions, variables that change programs, and files outside of the workspace are asked for besides. A file with one that is invalid or too large is refused.',
      ),
    deniedCommands: z
      .array(CommandPattern)
      .describe(
        'Patterns of sub-commands that never run, in any spelling. With one, commands whose program only running them tells (`$k x`, `curl x | sh`) never run either. A file with one that is invalid or too large is refused.',
      ),
    denyByDefault: z.boolean().describe('`rules` denies what no pattern allows, instead of asking.'),
    autoAllowReadonly: z.boolean().describe('Commands known to only read run without asking.'),
    denyPatterns: z.array(z.string().min(1)).describe('Texts that `deny-patterns` refuses.'),
    classify: z.boolean().describe('Whether each sub-command gets a class low, medium or high.'),
    blockHighRisk: z
      .boolean()
      .describe('High-risk commands are refused, also when approved and in every posture; false: they are asked for.'),
    askMediumRisk: z.boolean().describe('Medium-risk commands are asked for in supervised sessions.'),
  })
  .meta({ id: 'CommandPolicy' });
export type CommandPolicy = z.output<typeof CommandPolicy>;
