import { z } from 'zod';

/** A folder on the worker's file system besides the workspace. The longest folder around a path speaks; `denied` wins over all. */
export const PathRoot = z
  .strictObject({ path: z.string().startsWith('/'), access: z.enum(['read', 'write', 'denied']) })
  .meta({ id: 'PathRoot' });
export type PathRoot = z.output<typeof PathRoot>;

/** Globs of paths for the tools that `tools` names; a pattern also covers everything below it, and denied beats allowed. */
export const TrustedPaths = z
  .strictObject({
    tools: z.array(z.string().min(1)),
    allowed: z.array(z.string().min(1)).default([]),
    denied: z.array(z.string().min(1)).default([]),
  })
  .meta({ id: 'TrustedPaths' });
export type TrustedPaths = z.output<typeof TrustedPaths>;

/** Rules for the paths among a call's arguments, and for the words of commands that look like paths. */
export const PathPolicy = z
  .strictObject({
    /** Only relative paths without `..` are taken. */
    workspaceOnly: z.boolean(),
    /** More folders than the workspace, which is always there for reading and writing. */
    roots: z.array(PathRoot),
    /** Folders that no call may name, wherever they are; `~` is the home folder. */
    forbidden: z.array(z.string().min(1)),
    trusted: z.array(TrustedPaths),
    /** False: also paths inside the workspace are asked for until they are trusted. */
    trustWorkspace: z.boolean(),
    /** What a path outside of everything gets. */
    outside: z.enum(['ask', 'deny']),
  })
  .meta({ id: 'PathPolicy' });
export type PathPolicy = z.output<typeof PathPolicy>;

/** Rules for the hosts that calls name. Addresses behind names are checked when the connection is made. */
export const EgressRules = z
  .strictObject({
    /** `default`: everything public but blocked domains. `strict`: only allowed domains, of which a file must name at least one and not `*`. No mode asks a proxy that the environment names. `none`: nothing. */
    mode: z.enum(['default', 'strict', 'none']),
    /** Domains with all their subdomains; `*` is every public host. */
    allowedDomains: z.array(z.string().min(1)),
    /** Beats allowed. */
    blockedDomains: z.array(z.string().min(1)),
    /**
     * `host` or `host:port` that may be private: which of the hosts of EGRESS_ALLOW_HOSTS these calls may reach. Not said, all of
     * them, unless `mode` or `allowedDomains` limit the hosts. A host that is not in EGRESS_ALLOW_HOSTS is never reached.
     */
    privateHosts: z.array(z.string().min(1)),
  })
  .meta({ id: 'EgressRules' });
export type EgressRules = z.output<typeof EgressRules>;
