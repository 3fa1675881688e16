import type { Decision, FileAccess, OpenedPath, PathDenials } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { toolTrust } from '../grants/argument-trust.js';
import { matchingPattern } from '../patterns/tool-pattern.js';
import { pathsInCommand } from '../shell/paths-in-command.js';
import { isUnattended, riskArgumentsOf, type PathArgument } from '../risk-arguments/risk-arguments.js';
import { closestRoot, denialsFor, evaluatePath } from '../risk-arguments/evaluate-path.js';
import { isWithin, lexicalPath, normalizePath } from '../patterns/lexical-path.js';

/** Paths outside of the workspace that a call may open, and denied paths, before the denials are stored. */
export interface FileAccessDecision extends Omit<FileAccess, 'denials'> {
  readonly denials?: PathDenials;
}

/**
 * The part of a call's capability profile that speaks of files, from the decision about it. Undefined for a call that touches
 * the workspace only and that nothing is denied to. Pure.
 *
 * - a root of the policy, when a path among the arguments lies in it
 * - a path outside of workspace and roots, when the session or a glob of the policy trusts it, or when a person is asked about
 *   it: then the call runs only after a yes to these very arguments. Trust in the tool as a whole opens nothing.
 */
export function fileAccessOf(facts: CallFacts, decision: Decision): FileAccessDecision | undefined {
  if (!facts.tool.subjects.some(({ kind }) => kind === 'path' || kind === 'command')) return undefined;
  const writable = writableOf(facts);
  const denials = {
    ...denialsFor(facts),
    ...(writable === undefined ? {} : { writable }),
    ...(isEachPathAsked(facts) ? { eachPathAsked: true as const } : {}),
  };
  const { roots, opened } = accessiblePaths(facts, decision);
  const files = {
    ...(roots.length === 0 ? {} : { roots }),
    ...(opened.length === 0 ? {} : { opened }),
    ...(isEmpty(denials) ? {} : { denials }),
  };
  return Object.keys(files).length === 0 ? undefined : files;
}

function accessiblePaths(facts: CallFacts, decision: Decision): { roots: OpenedPath[]; opened: OpenedPath[] } {
  const roots = new Map<string, OpenedPath>();
  const opened = new Map<string, OpenedPath>();
  for (const { subject, rule } of namedPaths(facts, decision)) {
    const read = lexicalPath(subject.path, facts.workspaceRoot);
    if (!read.ok || !read.absolute.startsWith('/') || isWithin(read.absolute, normalizePath(facts.workspaceRoot))) continue;
    const root = closestRoot(facts.policy.paths.roots.filter((it) => isWithin(read.absolute, normalizePath(it.path))));
    if (root === undefined) {
      if (isTrustedOrAsked(subject, rule, facts, decision)) add(opened, { path: read.absolute, access: subject.access });
    } else if (root.access !== 'denied') add(roots, { path: normalizePath(root.path), access: root.access });
  }
  return { roots: [...roots.values()], opened: [...opened.values()] };
}

/**
 * Writable paths of an untrusted workspace: those named by the policy, the session or the approved arguments. Undefined if all
 * are writable. Commands write within the limits of the sandbox.
 */
function writableOf(facts: CallFacts): PathDenials['writable'] {
  const { tool, policy, grants, workspaceRoot } = facts;
  if (!isEachPathAsked(facts)) return undefined;
  const writes = tool.subjects.some((it) => it.kind === 'path' && it.access === 'write');
  if (!writes || tool.subjects.some(({ kind }) => kind === 'command')) return undefined;
  const trusted = policy.paths.trusted.filter(({ tools }) => matchingPattern(tools, tool) !== undefined);
  const named = riskArgumentsOf(facts).paths.flatMap(({ path, access }) => {
    const read = lexicalPath(path, workspaceRoot);
    return access === 'write' && read.ok ? [read.absolute] : [];
  });
  return {
    globs: [...trusted.flatMap(({ allowed }) => allowed), ...grants.allowedPaths.write],
    paths: [...named, ...(grants.literalPaths?.allowed.write ?? []).map(normalizePath)],
  };
}

function isEachPathAsked(facts: CallFacts): boolean {
  return !facts.policy.paths.trustWorkspace && !isUnattended(facts.posture) && toolTrust(facts) === undefined;
}

interface NamedPath {
  readonly subject: PathArgument;
  /** The rule that asks about it. */
  readonly rule: 'path' | 'command-path';
}

/** Words of a command count where a person is asked: reading the command again is for those calls only. */
function namedPaths(facts: CallFacts, decision: Decision): NamedPath[] {
  const asks = decision.effect === 'ask' && !isUnattended(facts.posture);
  const subjects = facts.tool.subjects.filter(({ kind }) => kind === 'path' || (asks && kind === 'command'));
  const { paths, commands } = riskArgumentsOf({ tool: { ...facts.tool, subjects }, args: facts.args });
  const words = commands.flatMap((command) => pathsInCommand(command)).filter(({ sure }) => sure);
  return [
    ...paths.map((subject) => ({ subject, rule: 'path' as const })),
    ...words.map(({ path, access }) => ({ subject: { path, access }, rule: 'command-path' as const })),
  ];
}

/** True if the path is trusted, or approved before the run of the call. */
function isTrustedOrAsked(subject: PathArgument, rule: string, facts: CallFacts, decision: Decision): boolean {
  const { effect, trustedBy } = evaluatePath(subject, facts);
  if (effect !== 'ask') return trustedBy !== undefined;
  return decision.reasons.some((it) => it.rule === rule && it.effect === 'ask' && it.satisfiedBy === undefined);
}

/** Writing where one reads also is writing. */
function add(places: Map<string, OpenedPath>, place: OpenedPath): void {
  if (places.get(place.path)?.access !== 'write') places.set(place.path, place);
}

function isEmpty({ forbidden, denied, session, literal = session, roots, writable, eachPathAsked }: PathDenials): boolean {
  return (
    writable === undefined &&
    eachPathAsked === undefined &&
    [forbidden, denied, session.read, session.write, literal.read, literal.write, roots].every((list) => list.length === 0)
  );
}
