import { z } from 'zod';
import { PathRoot } from './path-policy.js';
import { SessionGrants } from './session-grants.js';

/** An absolute path on the worker's machine and what a call may do there. */
export const OpenedPath = z.object({
  path: z.string().describe(`An absolute path on the worker's machine.`),
  access: z.enum(['read', 'write']).describe('What the call may do there.'),
});
export type OpenedPath = z.output<typeof OpenedPath>;

/** Paths that a call may not open, whatever it names and whatever links lead there. */
export const PathDenials = z.object({
  /** Folders that are neither read nor written, with all below; `~` is the home folder. */
  forbidden: z.array(z.string()),
  /** Globs that are neither read nor written. */
  denied: z.array(z.string()),
  /** What people denied for the session: globs, and paths by their names. */
  session: SessionGrants.shape.deniedPaths,
  literal: SessionGrants.shape.deniedPaths.optional(),
  /** All roots of the policy where one of them is denied or only read; otherwise none. */
  roots: z.array(PathRoot),
  /**
   * Present where the workspace is not trusted: nothing in it is written but what these globs cover and these paths, with all
   * below. They are absolute.
   */
  writable: z.object({ globs: z.array(z.string()), paths: z.array(z.string()) }).optional(),
  /** A person is asked about each path of the workspace: what the call answers about one suggests no other. */
  eachPathAsked: z.literal(true).optional(),
});
export type PathDenials = z.output<typeof PathDenials>;

/**
 * The part of a call's capability profile that speaks of files: what its worker opens besides the workspace, and what it does
 * not open at all. A list that is not there is empty: a worker opens nothing that the decision does not name.
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
