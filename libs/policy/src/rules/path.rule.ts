import { PATTERN_LIMITS } from '#patterns';
import type { CallFacts } from '../call-facts.js';
import { sizeOfPathPatterns } from '../patterns/path-pattern.js';
import { isUnattended } from '../risk-arguments/risk-arguments.js';
import { evaluatePath, type PathDecision } from '../risk-arguments/evaluate-path.js';
import { pathsInCommand, type PathWord } from '../shell/paths-in-command.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: the paths among the arguments, and the words of commands that are or may be paths. One denied path denies the
 * call; undecided ones are asked for together. In unattended sessions nothing is asked; the
 * worker still opens nothing outside of the workspace and its roots.
 */
export const pathRule: Rule = (facts, { paths, commands }) => [
  ...combined('path', overBudget(paths, facts) ?? paths.map((subject) => evaluatePath(subject, facts)), facts),
  ...combined(
    'command-path',
    commands.flatMap((command) => decisionsOf(pathsInCommand(command), facts)),
    facts,
  ),
];

const MAX_WORDS = 5_000;

function decisionsOf(words: readonly PathWord[], facts: CallFacts): PathDecision[] {
  const harmless = !deniesPaths(facts);
  if (harmless && isUnattended(facts.posture)) return [];
  if (words.length > MAX_WORDS)
    return [{ effect: harmless ? 'ask' : 'deny', reason: `the command has more than ${MAX_WORDS} words that may be paths` }];
  return overBudget(words, facts) ?? words.flatMap((word) => decisionsOfWord(word, facts));
}

/** Globs are matched in time linear in their length and in that of the paths. This bounds the product. */
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

/** Whether any rule could deny a path that is no trick: most policies have none. */
function deniesPaths({ policy: { paths }, grants: { deniedPaths, literalPaths } }: CallFacts): boolean {
  const literal = (literalPaths?.denied.read.length ?? 0) + (literalPaths?.denied.write.length ?? 0);
  const listed = paths.forbidden.length + deniedPaths.read.length + deniedPaths.write.length + literal > 0;
  const rooted = paths.roots.some(({ access }) => access !== 'write') || paths.trusted.some(({ denied }) => denied.length > 0);
  return listed || rooted || paths.workspaceOnly || paths.outside === 'deny';
}

const MAX_NAMED = 10;

function combined(rule: string, verdicts: readonly PathDecision[], { posture }: CallFacts): RuleResult[] {
  if (verdicts.length === 0) return [];
  const named = (effect: PathDecision['effect']) =>
    [...new Set(verdicts.filter((it) => it.effect === effect).map(({ reason }) => reason))].slice(0, MAX_NAMED).join('; ');
  const said = { axis: 'risk', rule, liftedBy: 'arguments' } as const;
  const denied = named('deny');
  if (denied !== '') return [{ ...said, effect: 'deny', reason: denied }];
  const asked = named('ask');
  if (asked === '') return [{ ...said, effect: 'allow', reason: named('allow') }];
  if (isUnattended(posture)) return [{ ...said, effect: 'allow', reason: `${asked}; this posture asks nothing` }];
  return [{ ...said, effect: 'ask', reason: asked }];
}

/** A word is denied whatever it was meant as, and asked about only when it can be nothing but a path. */
function decisionsOfWord({ path, access, sure }: PathWord, facts: CallFacts): PathDecision[] {
  const verdict = evaluatePath({ path, access }, facts);
  return verdict.effect === 'deny' || sure ? [verdict] : [];
}
