import type { SessionGrants } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { coversPath } from '../patterns/path-pattern.js';
import { matchingPattern } from '../patterns/tool-pattern.js';
import type { PathSubject } from './call-subjects.js';
import { isWithin, lexicalPath, settled } from './lexical-path.js';

export interface PathVerdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reason: string;
  /** A grant or a trusted glob that names the path; being inside the workspace alone is no such trust. */
  readonly trustedBy?: string;
}

type Facts = Pick<CallFacts, 'tool' | 'policy' | 'grants' | 'workspaceRoot'>;

/**
 * Judges one path by its text. In this order: tricks, forbidden folders, the session's and the policy's denials, denied or
 * read-only roots (all of them deny), then trust by the session or a glob, the workspace and the roots, and what lies outside.
 */
export function judgePath({ path, access }: PathSubject, facts: Facts): PathVerdict {
  const { policy, workspaceRoot } = facts;
  const read = lexicalPath(path, workspaceRoot);
  if (!read.ok) return { effect: 'deny', reason: read.reason };
  const at = read.absolute;
  const denied = forbidden(at, facts) ?? deniedByPattern(at, access, facts) ?? deniedByRoot(at, access, facts);
  if (denied !== undefined) return { effect: 'deny', reason: denied.replace('{path}', () => path) };
  if (policy.paths.workspaceOnly && (!read.relative || read.parents)) {
    return {
      effect: 'deny',
      reason: `Path blocked by security policy: ${path}. Only paths below the workspace are taken, relative and without ".."`,
    };
  }
  const trustedBy = trustOf(at, access, facts);
  if (trustedBy !== undefined) return { effect: 'allow', reason: `${path} is trusted by ${trustedBy}`, trustedBy };
  if (isWithin(at, settled(workspaceRoot))) {
    if (policy.paths.trustWorkspace) return { effect: 'allow', reason: `${path} is in the workspace` };
    return { effect: 'ask', reason: `${path} is in the workspace, and nobody has trusted it for ${facts.tool.name} yet` };
  }
  const root = policy.paths.roots.find((it) => isWithin(at, settled(it.path)));
  if (root !== undefined) return { effect: 'allow', reason: `${path} is in the allowed root ${root.path}` };
  if (policy.paths.outside === 'ask') return { effect: 'ask', reason: `${path} is outside of the workspace and of every allowed root` };
  return {
    effect: 'deny',
    reason: `Path blocked by security policy: ${path}. blocked by security policy (PathOutsideAllowedRoots): it is outside of the workspace and of every allowed root`,
  };
}

/** A forbidden folder that the workspace itself lies in, as /home often is, does not forbid the workspace. */
function forbidden(at: string, { policy, workspaceRoot }: Facts): string | undefined {
  const workspace = settled(workspaceRoot);
  const own = isWithin(at, workspace);
  const found = policy.paths.forbidden.map(settled).some((folder) => isWithin(at, folder) && !(own && isWithin(workspace, folder)));
  return found ? 'Forbidden path: {path}' : undefined;
}

function deniedByPattern(at: string, access: PathSubject['access'], { tool, policy, grants, workspaceRoot }: Facts): string | undefined {
  const granted =
    grants.deniedPaths[access].find((pattern) => coversPath(pattern, at, workspaceRoot, true)) ??
    grants.literalPaths?.denied[access].find((path) => isWithin(at, settled(path)));
  if (granted !== undefined) return `{path} was denied for this session by ${granted}`;
  for (const { tools, denied } of policy.paths.trusted) {
    const pattern = denied.find((it) => coversPath(it, at, workspaceRoot, true));
    if (pattern !== undefined && matchingPattern(tools, tool) !== undefined)
      return `{path} is denied for ${tool.name} by the pattern ${pattern}`;
  }
  return undefined;
}

function deniedByRoot(at: string, access: PathSubject['access'], { policy }: Facts): string | undefined {
  const around = policy.paths.roots.filter((it) => isWithin(at, settled(it.path)));
  const denied = around.find((it) => it.access === 'denied');
  if (denied !== undefined) return `blocked by security policy (PathOutsideAllowedRoots): {path} is in the denied root ${denied.path}`;
  const closest = around.reduce<(typeof around)[number] | undefined>(
    (best, it) => (best === undefined || it.path.length > best.path.length ? it : best),
    undefined,
  );
  if (access === 'write' && closest?.access === 'read')
    return `blocked by security policy (PathOutsideAllowedRoots): {path} is in ${closest.path}, which is read-only`;
  return undefined;
}

/** Trust to write is trust to read. */
function trustOf(at: string, access: PathSubject['access'], { tool, policy, grants, workspaceRoot }: Facts): string | undefined {
  const of = ({ read, write }: SessionGrants['allowedPaths']) => (access === 'write' ? write : [...read, ...write]);
  const granted =
    (grants.literalPaths === undefined ? undefined : of(grants.literalPaths.allowed).find((path) => isWithin(at, settled(path)))) ??
    of(grants.allowedPaths).find((pattern) => coversPath(pattern, at, workspaceRoot, false));
  if (granted !== undefined) return `this session: ${granted}`;
  for (const { tools, allowed } of policy.paths.trusted) {
    const pattern = allowed.find((it) => coversPath(it, at, workspaceRoot, false));
    if (pattern !== undefined && matchingPattern(tools, tool) !== undefined) return `the pattern ${pattern}`;
  }
  return undefined;
}
