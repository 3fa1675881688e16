import { compileExpressions, PATTERN_LIMITS, type PatternFault } from '#patterns';
import { plainText, type ParsedCommand, type SubCommand } from '../shell/sub-command.js';

/** Author of a list of expressions; those of users have lower limits of cost. */
export type PatternAuthor = 'operator' | 'user';

/** Start of the reason for a command that is too long for the limits of its list. */
export const TOO_LONG = 'Command is too long for the patterns of';

export interface CommandPatterns {
  readonly faults: readonly PatternFault[];
  /** The list meets more text than it may: nothing is matched. */
  readonly overBudget: boolean;
  /** Patterns that match the whole text. */
  readonly matching: (text: string) => readonly string[];
}

/** The expressions of a list for all texts of one command line. Never throws. */
export function commandPatterns(patterns: readonly string[], author: PatternAuthor, reading: ParsedCommand): CommandPatterns {
  const { faults, size, matching } = compileExpressions(patterns);
  const work = author === 'user' ? PATTERN_LIMITS.userWork : PATTERN_LIMITS.operatorWork;
  const tooMuch = size > 0 && size * lengthOf(reading) > work;
  return { faults, overBudget: tooMuch, matching: tooMuch ? () => [] : matching };
}

/** Spellings of a sub-command: unchanged, without quotes, and with the program's base name. */
export function spellings(command: SubCommand): readonly string[] {
  const plain = plainText(command);
  const [first = ''] = plain.split(' ', 1);
  const base = first.slice(first.lastIndexOf('/') + 1);
  return [...new Set([command.text, plain, `${base}${plain.slice(first.length)}`])];
}

/** Characters of the line and of all spellings of its sub-commands, at most. */
function lengthOf({ source, commands }: ParsedCommand): number {
  let length = source.length;
  for (const { text, words } of commands) {
    length += text.length;
    for (const { value } of words) length += 2 * (value.length + 1);
  }
  return length;
}
