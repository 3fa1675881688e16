import { z } from 'zod';
import { PathRoot } from './path-policy.js';
import { SessionGrants } from './session-grants.js';

/** Absolute path on the worker's machine, and the access of a call to it. */
export const OpenedPath = z.object({
  path: z.string().describe(`An absolute path on the worker's machine.`),
  access: z.enum(['read', 'write']).describe('What the call may do there.'),
});
export type OpenedPath = z.output<typeof OpenedPath>;

/** Paths that a call may not open, regardless of its arguments and of links. */
export const PathDenials = z.object({
  /** Folders without read and write access, including their content; `~` is the home folder. */
  forbidden: z.array(z.string()),
  /** Globs without read and write access. */
  denied: z.array(z.string()),
  /** Denials of people for the session: globs, and literal paths. */
  session: SessionGrants.shape.deniedPaths,
  literal: SessionGrants.shape.deniedPaths.optional(),
  /** All roots of the policy if one of them is denied or read-only; otherwise empty. */
  roots: z.array(PathRoot),
  /** Present if the workspace is not trusted: only these globs and paths in it, with their content, may be written. They are absolute. */
  writable: z.object({ globs: z.array(z.string()), paths: z.array(z.string()) }).optional(),
  /** Each path of the workspace needs approval: results about one must not suggest others. */
  eachPathAsked: z.literal(true).optional(),
});
export type PathDenials = z.output<typeof PathDenials>;

/**
 * File part of a call's capability profile: paths that its worker may open besides the workspace, and denied ones. An absent
 * list is empty: a worker opens nothing that the decision does not name.
 */
export const FileAccess = z.object({
  roots: z.array(OpenedPath).optional().describe('Roots of the policy that lie around paths of this call. Absent = none.'),
  opened: z
    .array(OpenedPath)
    .optional()
    .describe(
      'Paths outside of workspace and roots that a person allowed for this call, or that are trusted: these very paths. Absent = none.',
    ),
  denials: z
    .string()
    .optional()
    .describe('SHA-256 of the denied paths that hold, as they are stored beside the log. Absent when nothing is denied.'),
});
export type FileAccess = z.output<typeof FileAccess>;
