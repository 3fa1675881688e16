import { RE2JS } from 're2js';
import { classCosts, classFault, maxProgramSize, reasonOf } from './expressions.js';
import { PATTERN_LIMITS, PatternError } from './pattern-limits.js';

/** Compiled expression with the usual methods of a RegExp. */
export interface Expression {
  /** True if any part of the text matches. */
  test(text: string): boolean;
  /** Source text of the expression. */
  toString(): string;
}

/**
 * Compiles an expression in JavaScript syntax, as in JSON Schemas. Expressions come from remote sources, and texts from models.
 * @throws PatternError if the expression is too large, or not supported by RE2 in linear time (look-around, back-references)
 */
export function compileExpression(pattern: string): Expression {
  checkSize(pattern, PATTERN_LIMITS.length);
  try {
    const translated = RE2JS.translateRegExp(withWholeCharacters(pattern));
    checkClasses(translated);
    const compiled = RE2JS.compile(translated);
    return { test: (text) => compiled.test(text), toString: () => pattern };
  } catch (error) {
    if (error instanceof PatternError) throw error;
    throw new PatternError(`invalid regular expression: ${reasonOf(error)}`);
  }
}

/** RE2 knows no halves of characters, in which JavaScript may write one. */
function withWholeCharacters(pattern: string): string {
  return pattern.replace(/\\u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/g, (_pair, high: string, low: string) =>
    String.fromCharCode(parseInt(high, 16), parseInt(low, 16)),
  );
}

/**
 * RE2's error for an expression that a similar engine will run, such as ripgrep's; undefined without an error. @throws
 * PatternError if counts of repetition or classes make the expression too large for any engine
 */
export function syntaxFault(pattern: string): string | undefined {
  checkSize(pattern, PATTERN_LIMITS.queryLength);
  checkClasses(pattern);
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function checkClasses(pattern: string): void {
  const fault = classFault(classCosts(pattern));
  if (fault !== undefined) throw new PatternError(fault);
}

function checkSize(pattern: string, length: number): void {
  if (pattern.length > length) throw new PatternError(`expected at most ${length} characters; received ${pattern.length}`);
  if (maxProgramSize(pattern) > length + 4 * PATTERN_LIMITS.programSize) throw new PatternError('expected smaller counts of repetition');
}
