import type { PathDenials, SessionGrants } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { coversPath } from '../patterns/path-pattern.js';
import { forbiddingPattern, matchingPattern } from '../patterns/tool-pattern.js';
import type { PathArgument } from './risk-arguments.js';
import { isWithin, lexicalPath, normalizePath } from '../patterns/lexical-path.js';

export interface PathDecision {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reason: string;
  /** A grant or a trusted glob that names the path; being inside the workspace alone is no such trust. */
  readonly trustedBy?: string;
}

type Facts = Pick<CallFacts, 'tool' | 'policy' | 'grants' | 'workspaceRoot'>;

/**
 * Evaluates one path by its text. In this order: tricks, forbidden folders, the session's and the policy's denials, denied or
 * read-only roots (all of them deny), then trust by the session or a glob, the workspace and the roots, and what lies outside.
 */
export function evaluatePath({ path, access }: PathArgument, facts: Facts): PathDecision {
  const { policy, workspaceRoot } = facts;
  const read = lexicalPath(path, workspaceRoot);
  if (!read.ok) return { effect: 'deny', reason: read.reason };
  const at = read.absolute;
  const denied = denialReason(at, access, { denials: denialsFor(facts), tool: facts.tool.name, workspaceRoot });
  if (denied !== undefined) return { effect: 'deny', reason: denied.replace('{path}', () => path) };
  if (policy.paths.workspaceOnly && (!read.relative || read.parents)) {
    return {
      effect: 'deny',
      reason: `${rejectionText(facts)}: ${path}. Only paths below the workspace are taken, relative and without ".."`,
    };
  }
  const trustedBy = trustSource(at, access, facts);
  if (trustedBy !== undefined) return { effect: 'allow', reason: `${path} is trusted by ${trustedBy}`, trustedBy };
  if (isWithin(at, normalizePath(workspaceRoot))) {
    if (policy.paths.trustWorkspace) return { effect: 'allow', reason: `${path} is in the workspace` };
    return { effect: 'ask', reason: `${path} is in the workspace, and it is not trusted for ${facts.tool.name} yet` };
  }
  const root = policy.paths.roots.find((it) => isWithin(at, normalizePath(it.path)));
  if (root !== undefined) return { effect: 'allow', reason: `${path} is in the allowed root ${root.path}` };
  if (policy.paths.outside === 'ask') return { effect: 'ask', reason: `${path} is outside of the workspace and of every allowed root` };
  return {
    effect: 'deny',
    reason: `Path blocked by security policy: ${path}. blocked by security policy (PathOutsideAllowedRoots): it is outside of the workspace and of every allowed root`,
  };
}

/** Tools that take paths and tools that run commands have each their known text. */
function rejectionText({ tool }: Facts): string {
  if (tool.subjects.some(({ kind }) => kind === 'command')) return 'Path blocked by security policy';
  return tool.subjects.some((it) => it.kind === 'path' && it.access === 'write')
    ? 'Path not allowed'
    : 'Path not allowed by security policy';
}

/** All denials of paths for a tool, independent of the call. */
export function denialsFor({ tool, policy, grants }: Pick<CallFacts, 'tool' | 'policy' | 'grants'>): PathDenials {
  const { forbidden, trusted, roots } = policy.paths;
  return {
    forbidden,
    denied: trusted.flatMap(({ tools, denied }) => (denied.length > 0 && forbiddingPattern(tools, tool) !== undefined ? denied : [])),
    session: grants.deniedPaths,
    ...(grants.literalPaths === undefined ? {} : { literal: grants.literalPaths.denied }),
    roots: roots.some(({ access }) => access !== 'write') ? roots : [],
  };
}

/** Facts for denials besides the path. */
export interface DenialFacts {
  readonly denials: PathDenials;
  /** The name that the reason shows. */
  readonly tool: string;
  readonly workspaceRoot: string;
}

/**
 * Reason why a settled absolute path is denied, with `{path}` as placeholder; undefined if allowed. The gateway checks the text
 * of arguments, the worker the opened file.
 */
export function denialReason(at: string, access: PathArgument['access'], facts: DenialFacts): string | undefined {
  return forbidden(at, facts) ?? deniedByPattern(at, access, facts) ?? deniedByRoot(at, access, facts);
}

/**
 * Reason why a settled absolute path of the workspace may not be written: the workspace is untrusted, and the path is not named
 * by the policy, the session, or an approval of the call's arguments. Undefined if allowed. Used by the worker for opened
 * files, since a tool may write more files than its arguments name.
 */
export function unaskedReason(at: string, { denials, tool, workspaceRoot }: DenialFacts): string | undefined {
  const { writable } = denials;
  if (writable === undefined || !isWithin(at, normalizePath(workspaceRoot))) return undefined;
  if (writable.paths.some((path) => isWithin(at, path)) || writable.globs.some((it) => coversPath(it, at, workspaceRoot, false)))
    return undefined;
  return `the workspace is not trusted for ${tool}, and no argument of the call names {path}`;
}

/** False when nothing below a folder of the workspace, or of a root, is denied. May be true without need. */
export function mayDenyBelow(folder: string, { denials, workspaceRoot }: DenialFacts): boolean {
  const meets = (path: string): boolean => isWithin(path, folder) || isWithin(folder, path);
  const { forbidden: folders, denied, session, literal = NO_PATHS, roots } = denials;
  const patterns = [...denied, ...session.read, ...session.write];
  const own = isWithin(folder, normalizePath(workspaceRoot));
  return (
    folders.map(normalizePath).some((it) => (own ? isWithin(it, folder) : meets(it))) ||
    roots.some(({ path, access }) => access !== 'write' && meets(normalizePath(path))) ||
    [...literal.read, ...literal.write].some((it) => meets(normalizePath(it))) ||
    patterns.some((it) => meets(literalStart(absolutePattern(it, workspaceRoot))) || coversPath(it, folder, workspaceRoot, true))
  );
}

const NO_PATHS = { read: [], write: [] };

/** The folders of a pattern before the first that is no plain name. */
function literalStart(pattern: string): string {
  const plain = pattern.search(/[*?[\]{}()!+@|\\]/);
  return plain === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', plain)) || '/';
}

/** A forbidden folder that the workspace itself lies in, as /home often is, does not forbid the workspace. */
function forbidden(at: string, { denials, workspaceRoot }: DenialFacts): string | undefined {
  if (denials.forbidden.length === 0) return undefined;
  const workspace = normalizePath(workspaceRoot);
  const own = isWithin(at, workspace);
  const found = denials.forbidden.map(normalizePath).some((folder) => isWithin(at, folder) && !(own && isWithin(workspace, folder)));
  return found ? 'Forbidden path: {path}' : undefined;
}

function deniedByPattern(at: string, access: PathArgument['access'], { tool, denials, workspaceRoot }: DenialFacts): string | undefined {
  const session =
    denials.session[access].find((pattern) => coversPath(pattern, at, workspaceRoot, true)) ??
    denials.literal?.[access].find((path) => isWithin(at, normalizePath(path)));
  if (session !== undefined) return `{path} was denied for this session by ${session}`;
  const pattern = denials.denied.find((it) => coversPath(it, at, workspaceRoot, true));
  return pattern === undefined ? undefined : `{path} is denied for ${tool} by the pattern ${pattern}`;
}

/** Read-only access of the closest root; any denied root around the path denies it. */
function deniedByRoot(at: string, access: PathArgument['access'], { denials }: DenialFacts): string | undefined {
  const around = denials.roots.filter((it) => isWithin(at, normalizePath(it.path)));
  const denied = around.find((it) => it.access === 'denied');
  if (denied !== undefined) return `blocked by security policy (PathOutsideAllowedRoots): {path} is in the denied root ${denied.path}`;
  const closest = closestRoot(around);
  if (access === 'write' && closest?.access === 'read')
    return `blocked by security policy (PathOutsideAllowedRoots): {path} is in ${closest.path}, which is read-only`;
  return undefined;
}

/** The longest of the roots around a path. */
export function closestRoot<T extends { readonly path: string }>(around: readonly T[]): T | undefined {
  return around.reduce<T | undefined>((best, it) => (best === undefined || it.path.length > best.path.length ? it : best), undefined);
}

/** Source of trust in a path. Trust to write implies trust to read. `counts`: filter of trusted paths and globs. */
export function trustSource(
  at: string,
  access: PathArgument['access'],
  { tool, policy, grants, workspaceRoot }: Facts,
  counts: (trusted: string) => boolean = () => true,
): string | undefined {
  const of = ({ read, write }: SessionGrants['allowedPaths']) => (access === 'write' ? write : [...read, ...write]).filter(counts);
  const granted =
    (grants.literalPaths === undefined ? undefined : of(grants.literalPaths.allowed).find((path) => isWithin(at, normalizePath(path)))) ??
    of(grants.allowedPaths).find((pattern) => coversPath(pattern, at, workspaceRoot, false));
  if (granted !== undefined) return `this session: ${granted}`;
  for (const { tools, allowed } of policy.paths.trusted) {
    const pattern = allowed.filter(counts).find((it) => coversPath(it, at, workspaceRoot, false));
    if (pattern !== undefined && matchingPattern(tools, tool) !== undefined) return `the pattern ${pattern}`;
  }
  return undefined;
}

function absolutePattern(pattern: string, workspaceRoot: string): string {
  return normalizePath(pattern.startsWith('/') || pattern.startsWith('~') ? pattern : `${workspaceRoot}/${pattern}`);
}
