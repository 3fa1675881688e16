import type { Call, DecisionReason } from '#contracts';

/** More than these are behind "All rules". */
export const MOST_REASONS = 2;

/** Order of axes: effects of the arguments come before reasons that hold for every call of the tool. */
const AXES: readonly DecisionReason['axis'][] = ['risk', 'hooks', 'limits', 'facts', 'grants'];

/** Order of rules about arguments: effects of a command come before membership in a list. */
const FIRST_RULES = ['auto-run-file', 'command-class', 'command-path', 'path'];

function placeOf(rule: string): number {
  const place = FIRST_RULES.indexOf(rule);
  return place < 0 ? FIRST_RULES.length : place;
}

const MODES: Readonly<Record<string, string>> = {
  'read-only': 'may only read',
  'workspace-write': 'may only write its workspace',
  'danger-full-access': 'has full access',
  prompt: 'asks for everything that acts',
};

const PLAIN: readonly (readonly [pattern: RegExp, text: (match: RegExpExecArray) => string])[] = [
  [
    /^(?:'(.+)' is not in shell allowlist|Command not in allowlist: (.+))$/s,
    ([, a, b]) => `${a ?? b} is not among the commands that run unasked.`,
  ],
  [/^Command has blocked syntax: (.+)$/s, ([, syntax]) => `The command has syntax that hides what runs: ${syntax}.`],
  [
    /^no allowed pattern matches every part of the command$/,
    () => 'The command is new in this session: nothing that is trusted covers it.',
  ],
  [
    /^only a single allowlisted command is permitted, without (.+)$/s,
    ([, syntax]) => `Only single commands of the list run unasked, and this one has a ${syntax}.`,
  ],
  [
    /^(High-risk |Medium-risk )?[Cc]ommand requires approval(?:: (.+?))?(?:; (.+))?$/s,
    ([, risk, by, harm]) =>
      `The command ${risk === 'High-risk ' ? 'can do great harm' : 'changes things'}${madeBy(by)}${harm === undefined ? '' : `: ${harm}`}.`,
  ],
  [
    /^tool '(.+)' is privileged and requires approval in a supervised session$/s,
    ([, tool]) => `${tool} is privileged, and the session is supervised.`,
  ],
  [
    /^tool '(.+)' requires approval to escalate from (\S+) to (\S+)$/s,
    ([, tool, mode = '', need = '']) => `${tool} needs ${NEEDS[need] ?? need}, and the session ${MODES[mode] ?? `is in mode ${mode}`}.`,
  ],
];

const NEEDS: Readonly<Record<string, string>> = {
  'read-only': 'to read',
  'workspace-write': 'to write the workspace',
  'danger-full-access': 'full access',
};

function madeBy(programs: string | undefined): string {
  return programs === undefined ? '' : ` (${programs})`;
}

/**
 * The reason of a rule as a short sentence, without the risk, which is shown beside it; a rule that is not known here says it
 * in its own words.
 */
export function plainReason(reason: string): string {
  const text = reason.replace(/^(?:Security policy violation|blocked by security policy \(\w+\)): /, '').trim();
  for (const [pattern, plain] of PLAIN) {
    const match = pattern.exec(text);
    if (match) return plain(match);
  }
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Distinct reasons for an approval, the most specific one first. */
export function plainReasons({ decision, approval }: Pick<Call, 'decision' | 'approval'>): string[] {
  const byPolicy = decision.reasons
    .filter(({ effect, satisfiedBy }) => effect === 'ask' && satisfiedBy === undefined)
    .toSorted((a, b) => AXES.indexOf(a.axis) - AXES.indexOf(b.axis) || placeOf(a.rule) - placeOf(b.rule))
    .map(({ reason }) => reason);
  return [...new Set([...byPolicy, ...(approval?.reasons ?? [])].map(plainReason))];
}
