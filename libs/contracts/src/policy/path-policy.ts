import { z } from 'zod';

/** Folder on the worker's file system besides the workspace. The longest folder around a path decides; `denied` overrides all. */
export const PathRoot = z
  .strictObject({
    path: z.string().startsWith('/').describe(`An absolute path of a folder on the worker's machine.`),
    access: z.enum(['read', 'write', 'denied']).describe('What calls may do there and below.'),
  })
  .meta({ id: 'PathRoot' });
export type PathRoot = z.output<typeof PathRoot>;

/** Globs of paths for the tools in `tools`; a pattern also covers everything below it, and denied overrides allowed. */
export const TrustedPaths = z
  .strictObject({
    tools: z.array(z.string().min(1)).describe('Patterns of the tools that this is about.'),
    allowed: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Globs of paths that run without asking. Files that later commands run, such as `.git/config`, are meant only by globs that name them, such as `.git/**`.',
      ),
    denied: z.array(z.string().min(1)).default([]).describe('Globs of paths that are refused.'),
  })
  .meta({ id: 'TrustedPaths' });
export type TrustedPaths = z.output<typeof TrustedPaths>;

/** Rules for the paths among a call's arguments, and for the words of commands that look like paths. */
export const PathPolicy = z
  .strictObject({
    workspaceOnly: z.boolean().describe('Only relative paths without `..` are taken.'),
    roots: z.array(PathRoot).describe('More folders than the workspace, which is always there for reading and writing.'),
    forbidden: z.array(z.string().min(1)).describe('Folders that no call may name, wherever they are; `~` is the home folder.'),
    trusted: z.array(TrustedPaths).describe('Paths that single tools may open without asking, or may not open.'),
    trustWorkspace: z
      .boolean()
      .describe(
        'False: also paths inside the workspace are asked for until they are trusted, and a tool writes no file that its arguments do not name.',
      ),
    outside: z.enum(['ask', 'deny']).describe('What is answered for a path that is in none of these.'),
  })
  .meta({ id: 'PathPolicy' });
export type PathPolicy = z.output<typeof PathPolicy>;

/** Rules for the hosts of calls. The addresses of names are checked on connection. */
export const EgressRules = z
  .strictObject({
    mode: z
      .enum(['default', 'strict', 'none'])
      .describe(
        '`default`: everything public but blocked domains. `strict`: only allowed domains, of which a file must name at least one and not `*`. No mode asks a proxy that the environment names. `none`: nothing.',
      ),
    allowedDomains: z.array(z.string().min(1)).describe('Domains with all their subdomains; `*` is every public host.'),
    blockedDomains: z
      .array(z.string().min(1))
      .describe('Domains that are not reached, with all their subdomains; they take precedence over `allowedDomains`.'),
    privateHosts: z
      .array(z.string().min(1))
      .describe(
        '`host` or `host:port` that may be private: which of the hosts of EGRESS_ALLOW_HOSTS these calls may reach. Not said, all of them, unless `mode` or `allowedDomains` limit the hosts. A host that is not in EGRESS_ALLOW_HOSTS is never reached.',
      ),
  })
  .meta({ id: 'EgressRules' });
export type EgressRules = z.output<typeof EgressRules>;
