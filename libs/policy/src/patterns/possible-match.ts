import { plainText, type ParsedCommand, type SubCommand } from '../shell/sub-command.js';

/** A denied pattern that a command may match, depending on what expansions become. */
export interface PossibleMatch {
  readonly pattern: string;
  /** The words that are known. */
  readonly known: string;
}

/**
 * The first pattern whose plain beginning (`kubectl delete` of `kubectl delete .*`) continues where the known words of a
 * sub-command end: at an expansion, or at what `xargs` adds. Patterns that begin with anything else are not compared, nor is
 * what stands behind their beginning.
 */
export function possibleMatch(patterns: readonly string[], { commands }: ParsedCommand): PossibleMatch | undefined {
  const beginnings = patterns.map((pattern) => ({ pattern, plain: plainBeginning(pattern) })).filter(({ plain }) => plain !== '');
  if (beginnings.length === 0) return undefined;
  for (const command of commands) {
    const known = knownWords(command);
    if (known === undefined) continue;
    const base = known.replace(/^[^ ]*\//, '');
    const found = beginnings.find(({ plain }) => [known, base].some((words) => plain.length > words.length && plain.startsWith(words)));
    if (found !== undefined) return { pattern: found.pattern, known };
  }
  return undefined;
}

/** The words before the first that only running the command tells; undefined where all are known, or none. */
function knownWords(command: SubCommand): string | undefined {
  const at = command.words.findIndex(({ dynamic }) => dynamic);
  if (at === 0 || command.words.length === 0) return undefined;
  if (at === -1) return command.more === true ? plainText(command) : undefined;
  return plainText({ ...command, words: command.words.slice(0, at) });
}

const SPECIAL = /[\\.*+?()[\]{}|^$]/;

/** The text with which all that a pattern matches begins, as far as it is written plainly. */
export function plainBeginning(pattern: string): string {
  if (pattern.includes('|')) return '';
  const text = pattern.replace(/^\^/, '');
  let plain = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    const next = text[at + 1] ?? '';
    const escaped = character === '\\' && /[^\w\s]/.test(next);
    if (SPECIAL.test(character) && !escaped) return /[*?{]/.test(character) ? plain.slice(0, -1) : plain;
    if (escaped) at++;
    plain += escaped ? next : character;
  }
  return plain;
}
