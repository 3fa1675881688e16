import { PATTERN_LIMITS } from '#patterns';
import type { CallFacts } from '../call-facts.js';
import { sizeOfPathPatterns } from '../patterns/path-pattern.js';
import { isUnattended, type PathArgument } from '../risk-arguments/risk-arguments.js';
import { tierEffect } from './posture.rule.js';
import { evaluatePath, type PathDecision } from '../risk-arguments/evaluate-path.js';
import { pathsInCommand, type PathWord } from '../shell/paths-in-command.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: the paths among the arguments, and the words of commands that may be paths. One denied path denies the call;
 * undecided ones share one approval. A pattern that covers a command does not cover outside files in it. Unattended sessions
 * have no approvals; the worker still opens nothing outside of the workspace and its roots.
 */
export const pathRule: Rule = (facts, { paths, commands }) => [
  ...combined('path', 'arguments', overBudget(paths, facts) ?? paths.map((subject) => evaluatePath(subject, facts)), facts),
  ...combined(
    'command-path',
    'text',
    commands.flatMap((command) => decisionsOf(pathsInCommand(command), { facts, folder: folderOf(paths) })),
    facts,
  ),
];

const MAX_WORDS = 5_000;

/** Facts by which the words of a command are evaluated; `folder`: where it starts, if the call names it. */
interface Place {
  readonly facts: CallFacts;
  readonly folder: string | undefined;
}

function folderOf(paths: readonly PathArgument[]): string | undefined {
  return paths.length === 1 && paths[0]?.access === 'read' ? paths[0].path : undefined;
}

function decisionsOf(words: readonly PathWord[], place: Place): PathDecision[] {
  const { facts } = place;
  const harmless = !deniesPaths(facts);
  if (harmless && isUnattended(facts.posture)) return [];
  if (words.length > MAX_WORDS)
    return [{ effect: harmless ? 'ask' : 'deny', reason: `the command has more than ${MAX_WORDS} words that may be paths` }];
  return overBudget(words, facts) ?? words.flatMap((word) => decisionsOfWord(word, place));
}

/** Bound of the product of glob lengths and path lengths, in which the matching time is linear. */
function overBudget(paths: readonly { readonly path: string }[], facts: CallFacts): PathDecision[] | undefined {
  const { grants, policy, workspaceRoot } = facts;
  const { allowedPaths, deniedPaths } = grants;
  const lists = [allowedPaths.read, allowedPaths.write, deniedPaths.read, deniedPaths.write];
  const size = sizeOfPathPatterns([...lists, ...policy.paths.trusted.flatMap(({ allowed, denied }) => [allowed, denied])].flat());
  if (size === 0) return undefined;
  const length = paths.reduce((sum, { path }) => sum + path.length + workspaceRoot.length, 0);
  if (size * length <= PATTERN_LIMITS.globWork) return undefined;
  return [
    { effect: deniesPaths(facts) ? 'deny' : 'ask', reason: 'the call has too many paths for the globs of the policy and the session' },
  ];
}

/** True if any rule could deny an ordinary path; false for most policies. */
function deniesPaths({ policy: { paths }, grants: { deniedPaths, literalPaths } }: CallFacts): boolean {
  const literal = (literalPaths?.denied.read.length ?? 0) + (literalPaths?.denied.write.length ?? 0);
  const listed = paths.forbidden.length + deniedPaths.read.length + deniedPaths.write.length + literal > 0;
  const rooted = paths.roots.some(({ access }) => access !== 'write') || paths.trusted.some(({ denied }) => denied.length > 0);
  return listed || rooted || paths.workspaceOnly || paths.outside === 'deny';
}

const MAX_NAMED = 10;

function combined(rule: string, liftedBy: 'arguments' | 'text', verdicts: readonly PathDecision[], { posture }: CallFacts): RuleResult[] {
  if (verdicts.length === 0) return [];
  const named = (effect: PathDecision['effect']) =>
    [...new Set(verdicts.filter((it) => it.effect === effect).map(({ reason }) => reason))].slice(0, MAX_NAMED).join('; ');
  const said = { axis: 'risk', rule, liftedBy } as const;
  const denied = named('deny');
  if (denied !== '') return [{ ...said, effect: 'deny', reason: denied }];
  const asked = named('ask');
  if (asked === '') return [{ ...said, effect: 'allow', reason: named('allow') }];
  if (isUnattended(posture)) return [{ ...said, effect: 'allow', reason: `${asked}; this posture asks nothing` }];
  return [{ ...said, effect: 'ask', reason: asked }];
}

/** Denials apply to a word in any role; approvals only to words that can be nothing but a path. */
function decisionsOfWord({ path, access, sure, unknown }: PathWord, place: Place): PathDecision[] {
  if (unknown === true) return [{ effect: 'ask', reason: `only running it tells which file ${path} is` }];
  const { facts } = place;
  const verdict = evaluatePath({ path, access }, facts);
  if (verdict.effect === 'deny') return [verdict];
  if (!sure) return [];
  const fromFolder = verdict.effect === 'ask' ? verdictInFolder({ path, access }, place) : undefined;
  const settled = fromFolder ?? verdict;
  const isUntrustedWrite = settled.effect === 'allow' && access === 'write' && settled.trustedBy === undefined;
  return isUntrustedWrite && tierEffect(facts.posture, 'side_effecting') === 'ask'
    ? [{ effect: 'ask', reason: `the command writes ${path}` }]
    : [settled];
}

/** A relative path means the folder that the command starts in. */
function verdictInFolder({ path, access }: PathArgument, { facts, folder }: Place): PathDecision | undefined {
  if (folder === undefined || /^[/~]/.test(path)) return undefined;
  const verdict = evaluatePath({ path: `${folder}/${path}`, access }, facts);
  return verdict.effect === 'allow' ? verdict : undefined;
}
