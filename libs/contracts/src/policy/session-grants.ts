import { z } from 'zod';

const Texts = z.array(z.string().min(1)).max(500).default([]);
const Paths = z
  .strictObject({
    read: Texts.describe('Paths that tools may read or may not read.'),
    write: Texts.describe('Paths that tools may write or may not write.'),
  })
  .default({ read: [], write: [] });

/**
 * Decisions of people for the rest of a session. End with it; read for every call, so a decision applies everywhere at once.
 * Tools of sources are named `@source/name`, others by their canonical names. `allowedPaths` and `deniedPaths` are globs (`*`,
 * `?`, `[a-c]`, `[^a]`, `{a,b}`, and `**` for any number of folders), which also cover everything below their matches.
 * `literalPaths` are names of files and folders, where `*` is a character; approvals write these. Commands are anchored
 * expressions (RE2) of sub-commands.
 */
export const SessionGrants = z
  .strictObject({
    trustedTools: Texts.describe(
      'Tools that run without asking: a built-in one by its canonical name, one of a source as `@source/name`. At most 500 entries, as in each of these lists.',
    ),
    deniedTools: Texts.describe('Tools that are denied, in the same form.'),
    allowedPaths: Paths.describe('Globs of paths that may be opened; each also means everything below what it matches.'),
    deniedPaths: Paths.describe('Globs of paths that may not be opened; each also means everything below what it matches.'),
    literalPaths: z
      .strictObject({
        allowed: Paths.describe('Files and folders that may be opened.'),
        denied: Paths.describe('Files and folders that may not be opened.'),
      })
      .optional()
      .describe('The same by name: a `*` in one is a character. Approvals write these.'),
    allowedCommands: Texts.describe('Anchored expressions (RE2) of sub-commands that run without asking.'),
  })
  .meta({ id: 'SessionGrants', description: 'What people decided for the rest of a session. It ends with the session.' });
export type SessionGrants = z.output<typeof SessionGrants>;

/** Grants of a new session: nothing granted, nothing denied. */
export const NO_GRANTS: SessionGrants = SessionGrants.parse({});

export const GrantChange = z
  .strictObject({
    trustedTools: z.array(z.string()).optional().describe('Tools that run without asking from then on.'),
    deniedTools: z.array(z.string()).optional().describe('Tools that are denied from then on.'),
    allowedPaths: z
      .strictObject({
        read: z.array(z.string()).optional().describe('To read.'),
        write: z.array(z.string()).optional().describe('To write.'),
      })
      .optional()
      .describe('Files and folders, by name, that may be opened from then on.'),
    deniedPaths: z
      .strictObject({
        read: z.array(z.string()).optional().describe('To read.'),
        write: z.array(z.string()).optional().describe('To write.'),
      })
      .optional()
      .describe('Files and folders, by name, that may not be opened from then on.'),
    allowedCommands: z
      .array(z.string())
      .optional()
      .describe('Anchored expressions (RE2) of sub-commands that run without asking from then on.'),
  })
  .meta({ id: 'GrantChange', description: 'What a trust option adds to the grants of a session. Paths are names here, never globs.' });
export type GrantChange = z.output<typeof GrantChange>;

export const TrustOption = z
  .object({
    id: z.string().describe('What a decision names as `trustOption`.'),
    label: z.string().describe('What kind of trust it is, such as `Base command`.'),
    display: z.string().describe('What is trusted, such as `git *`.'),
    grants: GrantChange.describe('What it adds to the grants of the session.'),
  })
  .meta({ id: 'TrustOption', description: 'One thing that a person may trust beyond this call, such as the base command `git *`.' });
export type TrustOption = z.output<typeof TrustOption>;
