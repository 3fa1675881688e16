import { z } from 'zod';

const Texts = z.array(z.string().min(1)).max(500).default([]);
const Paths = z.strictObject({ read: Texts, write: Texts }).default({ read: [], write: [] });

/**
 * What people decided for the rest of a session. Ends with it; read for every call, so a decision holds everywhere at once.
 * Tools are canonical names. Of `allowedPaths` and `deniedPaths` each is a glob that also means everything below what it matches
 * (`*`, `?`, `[a-c]`, `[^a]`, `{a,b}`, and `**` for any number of folders). `literalPaths` are files and folders by their names: a
 * `*` in one is a character. Approvals write those. Commands are anchored expressions (RE2) of sub-commands.
 */
export const SessionGrants = z
  .strictObject({
    trustedTools: Texts,
    deniedTools: Texts,
    allowedPaths: Paths,
    deniedPaths: Paths,
    literalPaths: z.strictObject({ allowed: Paths, denied: Paths }).optional(),
    allowedCommands: Texts,
  })
  .meta({ id: 'SessionGrants' });
export type SessionGrants = z.output<typeof SessionGrants>;

/** Nothing granted, nothing denied: where every session starts. */
export const NO_GRANTS: SessionGrants = SessionGrants.parse({});

/** What a trust option adds to the grants of a session. Paths are names here, never globs. */
export const GrantChange = z
  .strictObject({
    trustedTools: z.array(z.string()).optional(),
    deniedTools: z.array(z.string()).optional(),
    allowedPaths: z.strictObject({ read: z.array(z.string()).optional(), write: z.array(z.string()).optional() }).optional(),
    deniedPaths: z.strictObject({ read: z.array(z.string()).optional(), write: z.array(z.string()).optional() }).optional(),
    allowedCommands: z.array(z.string()).optional(),
  })
  .meta({ id: 'GrantChange' });
export type GrantChange = z.output<typeof GrantChange>;

/** One thing a person may trust beyond this call, such as "Base command" `git *`. `id` is what a decision names. */
export const TrustOption = z
  .object({ id: z.string(), label: z.string(), display: z.string(), grants: GrantChange })
  .meta({ id: 'TrustOption' });
export type TrustOption = z.output<typeof TrustOption>;
